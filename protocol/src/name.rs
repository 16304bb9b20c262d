//! [`ToolName`]: the validated name of a tool.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// The name of a tool: 1 to 512 characters of `[A-Za-z0-9_.:/%-]`.
///
/// The set includes common names (`fs.read`, `github/search`, `ns:tool`) and is safe in logs, paths and prompts. Providers
/// allow fewer characters; [`NameGrammar`](crate::wire::NameGrammar) translates.
///
/// ```
/// use protocol::ToolName;
///
/// let name: ToolName = "fs.read".parse()?;
/// assert_eq!(name.as_str(), "fs.read");
///
/// // A foreign name is imported without loss.
/// let imported = ToolName::from_foreign("weather in 東京")?;
/// assert_eq!(imported.as_str(), "weather%20in%20%E6%9D%B1%E4%BA%AC");
/// # Ok::<(), protocol::InvalidName>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ToolName(Arc<str>);

/// Why a text is not a [`ToolName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// The text has no characters.
    #[error("a tool name may not be empty; use 1 to 512 of A-Z a-z 0-9 _ . : / % -")]
    Empty,
    /// The text has only white space.
    #[error("the tool name {name:?} is blank; use 1 to 512 of A-Z a-z 0-9 _ . : / % -")]
    Blank {
        /// The text as given.
        name: String,
    },
    /// The text has a character outside the set.
    #[error(
        "the tool name {name:?} has {character:?} (U+{:04X}) at byte {position}; use only A-Z a-z 0-9 _ . : / % -, \
         or import it with ToolName::from_foreign", *.character as u32
    )]
    Character {
        /// The text as given, cut after 80 characters.
        name: String,
        /// The first offending character.
        character: char,
        /// The byte offset of the character.
        position: usize,
    },
    /// The text has more than 512 characters.
    #[error(
        "a tool name has at most {} characters, this one has {length}; shorten it",
        ToolName::MAX_LENGTH
    )]
    TooLong {
        /// The length of the text, in bytes. Allowed characters have one byte each.
        length: usize,
    },
}

/// The characters that [`ToolName::from_foreign`] escapes, including `%`, so that decoding is exact.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b':')
    .remove(b'/')
    .remove(b'-');

impl ToolName {
    /// The maximum length of a name, in characters.
    pub const MAX_LENGTH: usize = 512;

    /// Parses a name.
    ///
    /// # Errors
    /// Returns [`InvalidName`] with the violated rule and the first offending character.
    pub fn new(name: impl AsRef<str>) -> Result<Self, InvalidName> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(InvalidName::Empty);
        }
        if name.chars().all(char::is_whitespace) {
            return Err(InvalidName::Blank {
                name: name.chars().take(80).collect(),
            });
        }
        // The character comes before the length: allowed ones have one byte each, so that the length is one in characters too.
        if let Some((position, character)) = name.char_indices().find(|&(_, c)| !is_allowed(c)) {
            return Err(InvalidName::Character {
                name: name.chars().take(80).collect(),
                character,
                position,
            });
        }
        if name.len() > Self::MAX_LENGTH {
            return Err(InvalidName::TooLong { length: name.len() });
        }
        Ok(Self(name.into()))
    }

    /// Imports a foreign name by percent-escaping the characters that are not allowed. `%` is always escaped, so two foreign names
    /// stay different.
    ///
    /// # Errors
    /// Returns [`InvalidName::Empty`] for an empty name, and [`InvalidName::TooLong`] if the escaped form has more than 512
    /// characters.
    pub fn from_foreign(name: &str) -> Result<Self, InvalidName> {
        Self::new(utf8_percent_encode(name, ESCAPED).to_string())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for ToolName {
    type Err = InvalidName;

    fn from_str(name: &str) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl TryFrom<String> for ToolName {
    type Error = InvalidName;

    fn try_from(name: String) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl Deref for ToolName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for ToolName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for ToolName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | '%' | '-')
}
