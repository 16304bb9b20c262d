//! [`Words`]: the value of a target of scheme `exec`.

mod coverage;
mod lasting;
mod launcher;
mod lexer;
mod option_name;
mod pattern;
mod plainer;
mod quote;
mod readers;
mod row;
mod sed;
mod special;
mod table;
#[cfg(test)]
mod tests;
mod unspelled;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use self::launcher::pattern_runs_programs;
pub(crate) use self::pattern::WordsPattern;
pub(crate) use self::quote::is_plain;
use self::quote::quote;
pub use self::unspelled::UnspelledWord;
pub(crate) use self::unspelled::examples;
use crate::digest::Digest;
use crate::invalid_target::InvalidTarget;
use crate::invisible::is_invisible;

/// A command as a list of words, the first of which is the program. The value of a target of scheme `exec`.
///
/// Each list has one text, its canonical text: the words, separated by one space.
///
/// | word | text |
/// |---|---|
/// | known, of `A-Z a-z 0-9 _ @ % + = : , . / -` only | as it is |
/// | known, with other characters, or empty | `'a b'`, with `'\''` for a quote |
/// | known, with [invisible](crate::is_invisible) characters | `$'a\nb'`, with `\n`, `\t`, `\r`, `\x1b` and `\u202e` |
/// | one word whose text is not known | `"out-$x"` |
/// | any number of words that are not known | `$x` |
/// | digest of a long list, last | `#sha256:…` |
///
/// Reading a text takes every quoting of a POSIX shell, and `$'…'`. It expands nothing: a `$` makes its word unknown, even if a shell
/// would keep it. Operators, command substitutions, and `*`, `?`, `[`, `{` and a leading `~` or `#` outside quotes are errors.
///
/// ```
/// use protocol::{Word, Words};
///
/// let words = Words::from_known(["git", "commit", "-m", "it's done"])?;
/// assert_eq!(words.to_string(), r"git commit -m 'it'\''s done'");
/// assert_eq!(r#"git  commit -"m" it\'s\ done"#.parse(), Ok(words));
///
/// let words = Words::new([Word::Known("cp".into()), Word::Unknown("$from".into()), Word::UnknownWords("$@".into())])?;
/// assert_eq!(words.to_string(), r#"cp "$from" $@"#);
/// assert!("git status; rm x".parse::<Words>().is_err());
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Words {
    /// At least one.
    words: Vec<Word>,
}

/// A word of [`Words`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Word {
    /// A word with this text.
    Known(String),
    /// Exactly one word whose text is not known, such as `"out-$x"` in a shell. The text is for display only.
    Unknown(String),
    /// Any number of words that are not known, such as `$x` without quotes in a shell. The text is for display only.
    UnknownWords(String),
    /// The known words after the last one that fits into a target. The digest is that of the whole list's text. Always the last.
    Digest(Digest),
}

impl Words {
    /// The maximum length of the text before a digest, in bytes.
    pub(crate) const MAX_KEPT: usize = InvalidTarget::MAX_LENGTH - Self::DIGEST.len() - 65;
    /// The beginning of a digest in the text. A shell reads it as a comment, so no word has this text.
    const DIGEST: &str = "#sha256:";

    /// Creates a list of words. Texts for display get a `$` if they have none, and U+FFFD for [invisible](crate::is_invisible)
    /// characters.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if there is no word, the program is empty, a word has a NUL, or a digest is not the last word.
    pub fn new(words: impl IntoIterator<Item = Word>) -> Result<Self, InvalidTarget> {
        let words: Vec<Word> = words.into_iter().map(Word::for_display).collect();
        let fault = match &words[..] {
            [] => return Err(InvalidTarget::Empty),
            [Word::Known(program), ..] if program.is_empty() => {
                Some("its first word, the program, is empty; write the name of a program")
            }
            [before @ .., _] if before.iter().any(|word| matches!(word, Word::Digest(_))) => {
                Some(lexer::DIGEST)
            }
            words => {
                let has_nul =
                    |word: &Word| matches!(word, Word::Known(text) if text.contains('\0'));
                words.iter().any(has_nul).then_some(lexer::NUL)
            }
        };
        let words = Self { words };
        match fault {
            Some(reason) => Err(InvalidTarget::words(&words.to_string(), reason)),
            None => Ok(words),
        }
    }

    /// Creates a list of known words.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if there is no word, the program is empty, or a word has a NUL.
    pub fn from_known(words: impl IntoIterator<Item: Into<String>>) -> Result<Self, InvalidTarget> {
        Self::new(words.into_iter().map(|word| Word::Known(word.into())))
    }

    /// Returns the words, at least one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Word> {
        self.words.iter()
    }

    /// Returns true if all words are known, or known by their digest.
    pub fn is_known(&self) -> bool {
        self.words.iter().all(Word::is_known)
    }

    /// Returns the value of a target: the text. In a text over [`Target::MAX_LENGTH`](crate::Target::MAX_LENGTH), a digest of the
    /// whole takes the place of the last words.
    pub(crate) fn to_value(&self) -> String {
        let mut text = self.to_string();
        if text.len() <= InvalidTarget::MAX_LENGTH {
            return text;
        }
        let digest = Digest::hash_bytes(text.as_bytes());
        let mut kept = 0;
        let mut end = 0;
        for word in &self.words {
            let next = end + usize::from(kept > 0) + word.to_string().len();
            if next > Self::MAX_KEPT {
                break;
            }
            (kept, end) = (kept + 1, next);
        }
        text.truncate(end);
        // Unknown words stay unknown: a clause for their digest would cover other commands with the same text.
        let rest = if self.words[kept..].iter().all(Word::is_known) {
            Word::Digest(digest)
        } else {
            Word::UnknownWords(format!("$sha256:{digest}"))
        };
        format!("{text}{}{rest}", if kept > 0 { " " } else { "" })
    }
}

impl Word {
    /// Returns the text of a [`Known`](Self::Known) word. Returns `None` if the word is of another kind.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true if the word is [`Known`](Self::Known) or [`Digest`](Self::Digest).
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known(_) | Self::Digest(_))
    }

    fn for_display(mut self) -> Self {
        if let Self::Unknown(text) | Self::UnknownWords(text) = &mut self {
            *text = text.replace(is_invisible, "\u{fffd}");
            // Without a `$` the text would be read back as a known word.
            if !text.contains('$') {
                text.insert(0, '$');
            }
        }
        self
    }
}

/// Writes the canonical text.
impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            write!(f, "{}{word}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// Writes the canonical text.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(text) => f.write_str(&quote(text)),
            Self::Unknown(text) => f.write_str(&quote::unknown_word(text)),
            Self::UnknownWords(text) => f.write_str(&quote::unknown_words(text)),
            Self::Digest(digest) => write!(f, "{}{digest}", Words::DIGEST),
        }
    }
}

crate::text_form::text_form!(Words, InvalidTarget);

impl FromStr for Words {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let lexed = lexer::lex(text, false).map_err(|reason| InvalidTarget::words(text, reason))?;
        Self::new(lexed.into_iter().map(|lexed| lexed.word))
    }
}
