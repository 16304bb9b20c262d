//! Reads a word of a command as the shell does.

use tools::protocol::{Access, Normaliser, Word, Words};
use tools::visible_line;

/// The most characters of a word that are kept for display. Each of many nested substitutions is part of all words around it.
const SHOWN: usize = 80;

/// Returns the text of a word without expansions, or `None` if the shell may make something else of it.
pub(super) fn read_known(text: &str) -> Option<String> {
    match read(text) {
        Some(Word::Known(text)) => Some(text),
        _ => None,
    }
}

/// Returns a word of which not all is known. `is_quoted` says that all of it is in double quotes.
pub(super) fn unknown(text: &str, is_quoted: bool) -> Word {
    match read(text) {
        Some(Word::Unknown(text)) => Word::Unknown(visible_line(&text, SHOWN)),
        Some(Word::UnknownWords(text)) => Word::UnknownWords(visible_line(&text, SHOWN)),
        // `"$@"` is any number of words.
        _ if is_quoted && !text.contains('@') => Word::Unknown(visible_line(text, SHOWN)),
        _ => Word::UnknownWords(visible_line(text, SHOWN)),
    }
}

/// Describes the reason why a plain word is not known.
pub(super) fn fault(text: &str) -> &'static str {
    match text.chars().find(|c| "*?[{~$`\\".contains(*c)) {
        Some('*' | '?' | '[') => "a pattern of file names",
        Some('{') => "braces",
        Some('~') => "a home folder",
        Some('$' | '`') => "a variable",
        _ => "a word that shells read in different ways",
    }
}

/// Quotes a word so that it has no other meaning in any shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn read(text: &str) -> Option<Word> {
    // What `$'\u00e9'` is depends on the locale.
    if text.contains("$'") && (text.contains("\\u") || text.contains("\\U")) {
        return None;
    }
    // As the first word, an empty one is refused.
    let words: Words = format!("x {text}").parse().ok()?;
    let mut words = words.iter().skip(1);
    let word = words.next()?.clone();
    words.next().is_none().then_some(word)
}

/// The beginning of a redirection: `2>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Redirection {
    /// One digit, or empty.
    pub(super) descriptor: String,
    pub(super) operator: String,
}

/// The other end of a redirection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// A file with a path below the workspace root.
    File(Access, String),
    /// `/dev/null`.
    Nothing,
    /// Another descriptor: `2>&1`.
    Descriptor,
}

impl Redirection {
    /// Returns true if the redirection is complete without a word.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&*self.operator, "<&-" | ">&-")
    }

    /// Returns true if only bash reads the operator in this way.
    pub(super) fn is_of_bash(&self) -> bool {
        self.operator.starts_with('&')
    }

    /// Returns the file that a command in the folder `cwd` opens. `source` is the word as it is written.
    pub(super) fn open(&self, word: &str, source: &str, cwd: &str) -> Result<Opened, &'static str> {
        let access = match &*self.operator {
            "<" => Access::Read,
            ">" | ">>" | ">|" | "&>" | "&>>" => Access::Write,
            ">&" | "<&"
                if source.len() == 1 && source.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                return Ok(Opened::Descriptor);
            }
            _ => return Err("a redirection that shells read in different ways"),
        };
        if word == "/dev/null" {
            return Ok(Opened::Nothing);
        }
        // A `..` after a link leads elsewhere than the path says.
        if word.starts_with('/') || word.split('/').any(|segment| segment == "..") {
            return Err("a redirection to a path that is absolute or has `..`");
        }
        let path = Normaliser::Path.apply(&format!("{cwd}/{word}"));
        match path {
            Ok(path) if !word.is_empty() && path != "." => Ok(Opened::File(access, path)),
            _ => Err("a redirection to a path that is not valid"),
        }
    }
}
