//! The walk over the syntax tree of a script.

use std::collections::HashSet;

use tools::protocol::{Word, Words};
use tree_sitter::{Node, Tree};

use super::word::{Opened, Redirection};
use super::{Reason, Script, Shell, builtins, reason, word};

/// The most reasons that a script has.
const MAX_REASONS: usize = 4;

/// Reads a syntax tree. Iterative, because a script decides how deep its tree is.
pub(super) fn read(tree: &Tree, text: &str, dialect: Shell, cwd: &str) -> Script {
    let mut reader = Reader::new(text, dialect, cwd);
    if let Some(at) = super::find_invisible(text) {
        reader.opaque(at, "an invisible character");
    }
    let mut cursor = tree.walk();
    let mut parents: Vec<&'static str> = Vec::new();
    'nodes: loop {
        let node = cursor.node();
        reader.enter(
            node,
            parents.last().copied().unwrap_or_default(),
            parents.len(),
        );
        if cursor.goto_first_child() {
            parents.push(node.kind());
            continue;
        }
        reader.leave(parents.len());
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'nodes;
            }
            parents.pop();
            reader.leave(parents.len());
        }
    }
    reader.finish()
}

/// The part of a script that was read last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    Word,
    Operator,
    /// `!`, or `time` of bash: a word of the shell before a command.
    Prefix,
    /// The descriptor or the operator of a redirection.
    Redirection,
    Comment,
}

/// A command that is being read, with those of its substitutions.
#[derive(Default)]
struct Frame {
    /// The depth of the node that the frame belongs to.
    depth: usize,
    words: Vec<Word>,
    /// The start of the first word.
    start: usize,
    redirection: Option<Redirection>,
    has_redirection: bool,
}

struct Reader<'a> {
    text: &'a str,
    dialect: Shell,
    cwd: &'a str,
    script: Script,
    commands: HashSet<Words>,
    is_opaque: bool,
    frames: Vec<Frame>,
    quoted: String,
    last: Last,
    /// The start and the end of the last part.
    start: usize,
    end: usize,
    /// True if `cd` or the call have chosen another folder than the workspace root.
    is_below: bool,
    /// True if `cd` has changed the folder to one that is not known.
    has_moved: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, dialect: Shell, cwd: &'a str) -> Self {
        Self {
            text,
            dialect,
            cwd,
            script: Script::default(),
            commands: HashSet::new(),
            is_opaque: false,
            frames: vec![Frame::default()],
            quoted: String::new(),
            last: Last::Start,
            start: 0,
            end: 0,
            is_below: cwd != ".",
            has_moved: false,
        }
    }

    fn enter(&mut self, node: Node<'_>, parent: &str, depth: usize) {
        let source = &self.text[node.byte_range()];
        let at = node.start_byte();
        if node.is_error() || node.is_missing() {
            self.opaque(at, "a syntax error, or syntax that is not known");
        }
        match (parent, node.kind()) {
            (
                _,
                "program"
                | "list"
                | "pipeline"
                | "negated_command"
                | "redirected_statement"
                | "command_name"
                | "file_redirect",
            ) => {}
            ("negated_command", "!") => self.prefix(node, source),
            ("command_name", "word") if source == "time" && self.dialect == Shell::Bash => {
                self.prefix(node, source);
            }
            // In a transparent script, separators end commands.
            (_, "command") if self.is_opaque => self.end_command(),
            (_, "command") => {}
            (_, "comment") => self.part(node, Last::Comment),
            (_, "\n" | ";" | "&" | "&&" | "||" | "|" | "|&") => {
                if source == "|&" && self.dialect == Shell::Sh {
                    self.opaque(at, "an operator that only bash knows");
                }
                self.part(node, Last::Operator);
                self.end_command();
                self.quoted
                    .extend([" ", source, if source == "\n" { "" } else { " " }]);
            }
            ("file_redirect", "file_descriptor") => {
                self.part(node, Last::Redirection);
                if source.len() != 1 {
                    self.opaque(at, "a redirection that shells read in different ways");
                }
                self.frame().redirection = Some(Redirection {
                    descriptor: source.to_owned(),
                    operator: String::new(),
                });
            }
            (
                "file_redirect",
                "<" | ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<&" | ">&-" | "<&-",
            ) => {
                let touches = self.end == at;
                self.part(node, Last::Redirection);
                self.redirect(source, at, touches);
            }
            ("file_redirect" | "command" | "command_name", kind) if is_word(kind) => {
                self.part(node, Last::Word);
                self.word(node, source);
                self.frames.push(Frame {
                    depth,
                    ..Frame::default()
                });
            }
            (
                "string" | "concatenation",
                "string" | "string_content" | "raw_string" | "word" | "number" | "\"",
            ) => {}
            ("string" | "concatenation", "ansi_c_string") if self.dialect == Shell::Bash => {}
            (_, kind) => {
                self.is_opaque = true;
                if node.is_named() {
                    if let Some(what) = reason::construct(kind) {
                        self.opaque(at, what);
                    }
                    self.frames.push(Frame {
                        depth,
                        ..Frame::default()
                    });
                } else {
                    self.end_command();
                }
            }
        }
    }

    fn leave(&mut self, depth: usize) {
        while self.frames.len() > 1 && self.frame().depth == depth {
            self.end_command();
            self.frames.pop();
        }
    }

    fn finish(mut self) -> Script {
        self.gap(self.text.len(), Last::Start);
        self.end_command();
        if self.is_opaque && self.script.reasons.is_empty() {
            self.opaque(0, "syntax that is not known");
        }
        self.script.quoted = (!self.is_opaque).then_some(self.quoted);
        self.script
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the first frame stays")
    }

    fn opaque(&mut self, at: usize, what: &'static str) {
        self.is_opaque = true;
        let reasons = &mut self.script.reasons;
        if reasons.len() < MAX_REASONS && reasons.iter().all(|reason| reason.what != what) {
            reasons.push(Reason::new(self.text, at, what));
        }
    }

    /// Takes up the next part of a transparent script.
    fn part(&mut self, node: Node<'_>, kind: Last) {
        self.gap(node.start_byte(), kind);
        self.last = kind;
        (self.start, self.end) = (node.start_byte(), node.end_byte());
    }

    /// Takes up a word of the shell before a command, which is at the beginning of a pipeline.
    fn prefix(&mut self, node: Node<'_>, source: &str) {
        let is_piped =
            self.last == Last::Operator && ["|", "|&"].contains(&&self.text[self.start..self.end]);
        if is_piped {
            self.opaque(
                node.start_byte(),
                "a word of the shell inside of a pipeline",
            );
        }
        self.part(node, Last::Prefix);
        self.quoted.extend([" ", source]);
    }

    /// Checks the text before a part, of which the parser makes nothing: for the shell, only spaces and tabs are blanks, a line break
    /// ends a command, and a `\` before it joins what stands around it.
    fn gap(&mut self, start: usize, next: Last) {
        if self.is_opaque {
            return;
        }
        let at = self.end.min(start);
        let gap = self.text[at..start].replace("\\\n", "");
        let is_joined = gap.is_empty() && at != start;
        if self.end > start || is_joined || !gap.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) {
            self.opaque(
                at,
                "a blank or a line end that shells read in different ways",
            );
            return;
        }
        let is_line = gap.contains('\n');
        let is_command = match (self.last, next) {
            // `time -p` is an option, and a line end ends the command of `!`.
            (Last::Prefix, Last::Word) => !is_line && !self.text[start..].starts_with('-'),
            (Last::Prefix, Last::Prefix) => !is_line && self.text[start..].starts_with("time"),
            (Last::Prefix, _) => false,
            (Last::Word | Last::Redirection, Last::Prefix) => is_line,
            _ => true,
        };
        if !is_command {
            self.opaque(at, "a word of the shell without a command of its own");
        }
        let may_touch = match (self.last, next) {
            // `;&>a` is `;&` and `>a`, and `|&>a` is `|&` and `>a`.
            (Last::Operator, Last::Operator | Last::Redirection) => {
                !self.text[start..].starts_with(['&', '|', ';'])
            }
            (Last::Start | Last::Operator, _) | (_, Last::Operator | Last::Start) => true,
            (Last::Redirection, _) => next != Last::Comment,
            // In `>&1>a`, the second `1` belongs to both redirections.
            (Last::Word, Last::Redirection) => {
                !self.text[start..].starts_with(|c: char| c.is_ascii_digit())
                    && !self.text[self.start..self.end]
                        .bytes()
                        .all(|byte| byte.is_ascii_digit())
            }
            _ => false,
        };
        if gap.is_empty() && !may_touch {
            self.opaque(at, "words without a blank between them");
        }
        for _ in gap.matches('\n') {
            self.end_command();
            self.quoted.push('\n');
        }
    }

    /// Begins a redirection, of which the descriptor may have been read.
    fn redirect(&mut self, operator: &str, at: usize, touches: bool) {
        let mut redirection = self.frame().redirection.take().unwrap_or_default();
        if !redirection.descriptor.is_empty() && !touches {
            self.opaque(at, "a redirection that shells read in different ways");
        }
        redirection.operator = operator.to_owned();
        if redirection.is_of_bash() && self.dialect == Shell::Sh {
            self.opaque(at, "an operator that only bash knows");
        }
        self.quoted.extend([" ", &redirection.descriptor, operator]);
        self.frame().has_redirection = true;
        if redirection.is_complete() {
            // A word that touches it is part of it in some shells.
            self.last = Last::Word;
        } else {
            self.frame().redirection = Some(redirection);
        }
    }

    /// Takes up a word of a command, or of a redirection.
    fn word(&mut self, node: Node<'_>, source: &str) {
        let at = node.start_byte();
        let known = if is_literal(node.kind(), self.dialect) {
            word::read_known(source)
        } else {
            None
        };
        if known.is_none() {
            self.is_opaque = true;
            if let Some(what) = reason::construct(node.kind()) {
                self.opaque(at, what);
            } else if node.child_count() == 0 || !source.contains(['$', '`', '(']) {
                self.opaque(at, word::fault(source));
            }
        }
        if let Some(redirection) = self.frame().redirection.take() {
            if let Some(path) = known {
                self.open(&redirection, &path, source, at);
            }
        } else {
            if let Some(text) = &known {
                self.quoted.extend([" ", &*word::quote(text)]);
            }
            let word = known.map_or_else(
                || word::unknown(source, node.kind() == "string"),
                Word::Known,
            );
            let frame = self.frame();
            if frame.words.is_empty() {
                frame.start = at;
            }
            frame.words.push(word);
        }
    }

    fn open(&mut self, redirection: &Redirection, path: &str, source: &str, at: usize) {
        match redirection.open(path, source, self.cwd) {
            Ok(Opened::File(access, file)) => {
                if self.has_moved {
                    self.opaque(at, "a redirection to a path in an unknown folder");
                } else if !self.script.files.contains(&(access, file.clone())) {
                    self.script.files.push((access, file));
                }
                self.quoted.push_str(&word::quote(path));
            }
            Ok(Opened::Nothing) => self.quoted.push_str(&word::quote(path)),
            Ok(Opened::Descriptor) => self.quoted.push_str(path),
            Err(what) => self.opaque(at, what),
        }
    }

    /// Ends the command of the innermost frame.
    fn end_command(&mut self) {
        let end = self.end;
        let frame = self.frame();
        let start = frame.start;
        let words = std::mem::take(&mut frame.words);
        let has_redirection = std::mem::take(&mut frame.has_redirection);
        if frame.redirection.take().is_some() {
            self.opaque(end, "a redirection without a file");
        }
        if words.is_empty() {
            if has_redirection {
                self.opaque(end, "a redirection without a command");
            }
            return;
        }
        match Words::new(words) {
            Ok(words) => {
                self.check(&words, start);
                if self.commands.insert(words.clone()) {
                    self.script.commands.push(words);
                }
            }
            Err(_) => self.opaque(start, "a command without a name"),
        }
    }

    /// Makes the script opaque if a command changes how the rest is run.
    fn check(&mut self, words: &Words, at: usize) {
        let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        let Some([program, args @ ..]) = known.as_deref() else {
            return;
        };
        if let Some(what) = builtins::unsafe_reason(program, args) {
            self.opaque(at, what);
        }
        if program.contains('/') && !program.starts_with('/') && self.is_below {
            self.opaque(
                at,
                "a path of a program, and a folder other than the workspace root",
            );
        }
        if *program == "cd" {
            (self.is_below, self.has_moved) = (true, true);
        }
    }
}

/// Returns true if a child of a command is one of its words.
fn is_word(kind: &str) -> bool {
    !matches!(
        kind,
        "variable_assignment"
            | "file_redirect"
            | "herestring_redirect"
            | "heredoc_redirect"
            | "subshell"
            | "ERROR"
    )
}

/// Returns true if a word of this kind can be known.
fn is_literal(kind: &str, dialect: Shell) -> bool {
    match kind {
        "word" | "number" | "string" | "raw_string" | "concatenation" => true,
        "ansi_c_string" => dialect == Shell::Bash,
        _ => false,
    }
}
