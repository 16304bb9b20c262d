//! [`InvalidTarget`]: the error for invalid targets.

use crate::access::UnknownAccess;

/// The error for a text that is not a [`Target`](crate::Target) or not a valid part of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTarget {
    /// The text has fewer than two colons.
    #[error("{text:?} is not a target; write `scheme:access:value`, such as `fs:read:README.md`")]
    Syntax {
        /// The text, cut after 80 characters.
        text: String,
    },
    /// The access is invalid.
    #[error(transparent)]
    Access(#[from] UnknownAccess),
    /// The scheme is invalid.
    #[error(
        "{scheme:?} is not a scheme; use 1 to 32 of a-z 0-9 + . - with a letter first, such as `fs` or `net`"
    )]
    Scheme {
        /// The scheme, cut after 80 characters.
        scheme: String,
    },
    /// The value is empty.
    #[error("the value is empty; write a value (the root of a file tree is `.`)")]
    Empty,
    /// The value has more than [`Target::MAX_LENGTH`](crate::Target::MAX_LENGTH) bytes.
    #[error(
        "the value has {length} bytes, more than {}; shorten it",
        Self::MAX_LENGTH
    )]
    TooLong {
        /// The length, in bytes.
        length: usize,
    },
    /// The value has a control character.
    #[error("{value:?} has the control character U+{:04X}; leave it out", *.character as u32)]
    Control {
        /// The value, cut after 80 characters.
        value: String,
        /// The first control character.
        character: char,
    },
    /// A value outside the scheme `fs` has a segment `.` or `..`, plain or escaped.
    #[error("{value:?} has a segment `.` or `..`, or an escape of one; write the resolved path")]
    DotSegment {
        /// The value, cut after 80 characters.
        value: String,
    },
    /// The path has a backslash.
    #[error("the path {value:?} has a backslash; separate its parts with `/`")]
    Backslash {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// The path begins with `/` or a drive letter.
    #[error(
        "the path {value:?} is absolute; write it relative to the root (the root itself is `.`)"
    )]
    Absolute {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// The path leads outside the root.
    #[error("the path {value:?} leads outside the root; write a path below it")]
    OutsideRoot {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// The host of the URL is missing, invalid or ambiguous.
    #[error("the URL {value:?} has no valid host: {reason}")]
    Host {
        /// The URL, cut after 80 characters.
        value: String,
        /// The fault and its repair.
        reason: &'static str,
    },
    /// The text is not a list of words.
    #[error("{value:?} is not a list of words: {reason}")]
    Words {
        /// The text, cut after 80 characters. A box keeps the errors small.
        value: Box<str>,
        /// The fault and its repair.
        reason: &'static str,
    },
}

impl InvalidTarget {
    /// The maximum length of the value of a target, in bytes.
    pub(crate) const MAX_LENGTH: usize = 8192;

    /// Creates the error for a text that is not a list of words.
    pub(crate) fn words(value: &str, reason: &'static str) -> Self {
        Self::Words {
            value: Self::excerpt(value).into(),
            reason,
        }
    }

    /// Returns the first 80 characters of a value, for errors.
    pub(crate) fn excerpt(value: &str) -> String {
        value.chars().take(80).collect()
    }

    /// Returns an error if the value has a control character.
    pub(crate) fn check_control(value: &str) -> Result<(), Self> {
        // Nearly all values are plain ASCII.
        if value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Ok(());
        }
        match value.chars().find(|c| c.is_control()) {
            Some(character) => Err(Self::Control {
                value: Self::excerpt(value),
                character,
            }),
            None => Ok(()),
        }
    }

    /// Returns an error if the scheme is not 1 to 32 of `[a-z0-9+.-]` with a letter first.
    pub(crate) fn check_scheme(scheme: &str) -> Result<(), Self> {
        let letters = scheme
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'));
        if letters && scheme.starts_with(|c: char| c.is_ascii_lowercase()) && scheme.len() <= 32 {
            Ok(())
        } else {
            Err(Self::Scheme {
                scheme: Self::excerpt(scheme),
            })
        }
    }
}
