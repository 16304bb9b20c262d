//! [`Row`]: the words by which one program runs others, loads code or writes files.

use super::special::{self, Reader};
use crate::word_list::has_word;

/// An effect that a word adds to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Runs a program or code that the word, or a word after it, names or contains.
    Runs,
    /// Loads a configuration or an extension that is code or names programs.
    Loads,
    /// Writes a file.
    Writes,
    /// Not known, because a digest stands for the words.
    Hidden,
}

/// The special words of a program, or of a subcommand of one.
///
/// | word of a list | applies to |
/// |---|---|
/// | `--name` | the option, abbreviated or not, with `=value` or without |
/// | `-x` | the option, alone, in a bundle as `-vx`, or with its value as `-xvalue` |
/// | `-name`, `name` | the word, with `=value` or without; `-name` with two dashes too |
/// | `=` | an assignment to any variable but a harmless one |
/// | a word with `*` | words of this form |
#[derive(Default)]
pub(super) struct Row {
    pub(super) names: Vec<&'static str>,
    /// True if the program runs others or code whatever its words are.
    pub(super) is_launcher: bool,
    /// True if the program has no special word: its options are not even judged by their names.
    pub(super) is_exact: bool,
    /// The number of operands before the command that the program runs, if it runs one. Options stand before it.
    pub(super) wraps: Option<usize>,
    pub(super) runs: Vec<&'static str>,
    pub(super) loads: Vec<&'static str>,
    pub(super) writes: Vec<&'static str>,
    /// The effect of the subcommand itself.
    pub(super) itself: Option<Effect>,
    /// The letters of options that take the rest of their bundle, or the next word, as their value.
    pub(super) valued: &'static str,
    /// Words that are special in no way, though they abbreviate an option that is.
    pub(super) plain: Vec<&'static str>,
    /// The number of operands after which one more is written.
    pub(super) operands: Option<usize>,
    pub(super) commands: Vec<Row>,
    /// True if the lists apply only to words before the subcommand, and an unknown subcommand is a program.
    pub(super) is_strict: bool,
    /// Finds special words that no list can describe.
    pub(super) reader: Option<Reader>,
}

impl Effect {
    fn from_word(word: &str) -> Self {
        match word {
            "runs" => Self::Runs,
            "loads" => Self::Loads,
            "writes" => Self::Writes,
            _ => unreachable!("{word:?} is no effect"),
        }
    }
}

impl Row {
    /// Creates a row without special words.
    pub(super) fn from_names(names: &'static str) -> Self {
        Self {
            names: names.split_ascii_whitespace().collect(),
            ..Self::default()
        }
    }

    /// Reads a line of the row. The [tables](super::table) are constants, and tests read all of them, so that a mistake is no error.
    pub(super) fn read(&mut self, line: &'static str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words = rest.split_ascii_whitespace();
        let number = || match rest.parse() {
            Ok(number) => Some(number),
            Err(_) => unreachable!("{line:?} has no number"),
        };
        match word {
            "&" => self.names.extend(words),
            "launches" => self.is_launcher = true,
            "wraps" => (self.is_launcher, self.wraps) = (true, number()),
            "exact" => self.is_exact = true,
            "strict" => self.is_strict = true,
            "runs" => self.runs.extend(words),
            "loads" => self.loads.extend(words),
            "writes" => self.writes.extend(words),
            "writes_after" => self.operands = number(),
            "plain" => self.plain.extend(words),
            "valued" => self.valued = rest,
            "itself" => self.itself = Some(Effect::from_word(rest)),
            "reader" => self.reader = Some(special::reader(rest)),
            "sub" => self.commands.push(Self::from_names(rest)),
            _ => unreachable!("{line:?} begins with no word of the tables"),
        }
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Returns true if options are judged by their names too. Those of a launcher without lists can belong to the program that it runs.
    pub(super) fn judges_names(&self) -> bool {
        !self.is_exact && self.wraps.is_none() && !(self.is_launcher && self.has_no_lists())
    }

    /// Returns true if no word of the program is special.
    pub(super) fn is_plain(&self) -> bool {
        self.has_no_lists() && !self.judges_names()
    }

    /// Returns true if no word of the program is special by a list.
    fn has_no_lists(&self) -> bool {
        self.runs.is_empty()
            && self.loads.is_empty()
            && self.writes.is_empty()
            && self.itself.is_none()
            && self.operands.is_none()
            && !self.is_strict
            && self.reader.is_none()
            && self.commands.iter().all(Self::has_no_lists)
    }

    /// Returns true if a word of the program can make it run others or load code.
    pub(super) fn may_run(&self) -> bool {
        !self.runs.is_empty()
            || !self.loads.is_empty()
            || self.is_strict
            || self.reader.is_some()
            || matches!(self.itself, Some(Effect::Runs | Effect::Loads))
            || self.commands.iter().any(Self::may_run)
    }

    /// Returns the effect of a word, and how many of its bytes have to be spelled for it.
    pub(super) fn effect(&self, word: &str) -> Option<(Effect, usize)> {
        let lists = [
            (Effect::Runs, &self.runs),
            (Effect::Loads, &self.loads),
            (Effect::Writes, &self.writes),
        ];
        if self.is_plain_word(word) {
            return None;
        }
        let forms = lists
            .into_iter()
            .flat_map(|(effect, list)| list.iter().map(move |form| (effect, form)));
        // A bundle can have several.
        let mut found = forms.filter_map(|(effect, form)| Some((effect, self.length(form, word)?)));
        let (effect, length) = found.next()?;
        let lengths = found.map(|(_, length)| length);
        Some((effect, lengths.fold(length, usize::max)))
    }

    /// Returns true if the row says that the word is not special.
    pub(super) fn is_plain_word(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        self.plain.iter().copied().any(|plain| {
            plain == word || plain == name || plain.contains('*') && is_of_form(plain, name)
        })
    }

    /// Returns the effect of a value that is not attached to its option, as in `-D exec.args=x`.
    pub(super) fn effect_of_value(&self, option: &str, value: &str) -> Option<(Effect, usize)> {
        let word = match () {
            () if self.takes_next(option) => format!("{option}{value}"),
            () if option.starts_with("--") => format!("{option}={value}"),
            () => return None,
        };
        let (effect, _) = self
            .effect(option)
            .is_none()
            .then(|| self.effect(&word))
            .flatten()?;
        Some((effect, value.len()))
    }

    /// Returns true if the word is the name of the subcommand, or an abbreviation of it.
    pub(super) fn may_have_name(&self, word: &str) -> bool {
        self.has_name(word) || word.len() > 2 && self.names.iter().any(|own| own.starts_with(word))
    }

    /// Returns true if the word is an option alone whose value is the next word.
    pub(super) fn takes_next(&self, word: &str) -> bool {
        word.strip_prefix('-')
            .is_some_and(|letter| letter.len() == 1 && self.valued.contains(letter))
    }

    /// Returns the number of bytes of a word that have to be spelled, if it is of this form.
    fn length(&self, form: &str, word: &str) -> Option<usize> {
        if form == "=" {
            return assignment(word);
        }
        if form.contains('*') {
            if self.takes_next(word) {
                return None;
            }
            // A wildcard at the end leaves the value free, and one elsewhere leaves nothing free.
            let is_start = form.find('*') == Some(form.len() - 1);
            return is_of_form(form, word).then_some(if is_start {
                form.len() - 1
            } else {
                word.len()
            });
        }
        let name = word.split('=').next().unwrap_or_default();
        let length = if name.len() < word.len() {
            name.len() + 1
        } else {
            name.len()
        };
        if let Some(letter) = form.strip_prefix('-').filter(|rest| rest.len() == 1) {
            let bundle = word
                .strip_prefix('-')
                .filter(|rest| !rest.starts_with('-'))?;
            let end = bundle
                // The rest of the bundle is the value of that letter.
                .find(|c| self.valued.contains(c))
                .unwrap_or(bundle.len());
            return bundle.find(letter).filter(|at| *at <= end).map(|at| at + 2);
        }
        let is_same = match form.strip_prefix("--") {
            // Some programs read their long options with one dash.
            Some(form) => match name.strip_prefix("--") {
                Some(name) => !name.is_empty() && begins(form, name),
                None => name
                    .strip_prefix('-')
                    // A shorter one is more likely a bundle of letters.
                    .is_some_and(|name| name.len() > 3 && begins(form, name)),
            },
            None => name == form || form.starts_with('-') && name.strip_prefix('-') == Some(form),
        };
        is_same.then_some(length)
    }
}

/// Returns true if the name of an option begins with this one. `--outFile`, `--out-file` and `--outfile` are one.
fn begins(option: &str, name: &str) -> bool {
    let mut letters = fold_name(option);
    fold_name(name).all(|letter| letters.next() == Some(letter))
}

/// Returns the letters of a name without their case and without what is between them.
fn fold_name(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| c.to_ascii_lowercase())
}

/// Returns true if a word has this form, in which `*` is any text.
fn is_of_form(form: &str, word: &str) -> bool {
    // After one dash, the case of a letter tells options apart.
    let (form, word) = match () {
        () if form.starts_with("--") && !form.starts_with("---") && word.starts_with('-') => (
            &*fold_name(form).collect::<String>(),
            &*fold_name(word).collect::<String>(),
        ),
        () if form.starts_with('*') => (&*form.to_ascii_lowercase(), &*word.to_ascii_lowercase()),
        () => (form, word),
    };
    let mut parts = form.split('*');
    let Some(mut rest) = word.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// Returns the length of the name and the sign of an assignment, unless the variable is harmless.
fn assignment(word: &str) -> Option<usize> {
    let (name, _) = word.split_once('=')?;
    // Make expands names and values: `$(shell id)=x`, `CI=$(shell id)`.
    let is_harmless = is_harmless(name) && !word.contains('$');
    (!name.starts_with('-') && !is_harmless).then_some(name.len() + 1)
}

/// Returns true if no program reads a name of a program, code or a file from the variable.
fn is_harmless(variable: &str) -> bool {
    const HARMLESS: &str = "CARGO_INCREMENTAL CI CLICOLOR CLICOLOR_FORCE COLOR COLUMNS \
        DEBIAN_FRONTEND FORCE_COLOR GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT LANG LANGUAGE LINES \
        NODE_ENV NO_COLOR PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING \
        PYTHONUNBUFFERED PYTHONUTF8 RUST_BACKTRACE RUST_LOG RUST_MIN_STACK SOURCE_DATE_EPOCH TERM \
        TZ VERBOSE";
    has_word(HARMLESS, variable)
        || variable.starts_with("LC_")
        || variable.starts_with("CARGO_TERM_")
}
