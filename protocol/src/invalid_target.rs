//! [`InvalidTarget`]: the rules that a target breaks.

use crate::UnknownAccess;

/// Why something is not a [`Target`](crate::Target), or not a value that one can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTarget {
    /// A text without the two colons.
    #[error("{text:?} is not a target; write `scheme:access:value`, such as `fs:read:README.md`")]
    Syntax {
        /// The text, cut after 80 characters.
        text: String,
    },
    /// The part between the colons.
    #[error(transparent)]
    Access(#[from] UnknownAccess),
    /// A scheme of the wrong form.
    #[error("{scheme:?} is not a scheme; use 1 to 32 of a-z 0-9 + . - with a letter first, such as `fs` or `net`")]
    Scheme {
        /// The scheme, cut after 80 characters.
        scheme: String,
    },
    /// A value of no characters.
    #[error("the value is empty; name what is touched (the root of a file tree is `.`)")]
    Empty,
    /// A value of more than [`Target::MAX_LENGTH`](crate::Target::MAX_LENGTH) bytes.
    #[error("the value has {length} bytes, more than {}; shorten it", Self::MAX_LENGTH)]
    TooLong {
        /// The length, in bytes.
        length: usize,
    },
    /// A control character.
    #[error("{value:?} has the control character U+{:04X}; leave it out", *.character as u32)]
    Control {
        /// The value, cut after 80 characters.
        value: String,
        /// The first such character.
        character: char,
    },
    /// A segment `.` or `..`, plain or escaped, outside of the scheme `fs`.
    #[error("{value:?} has a segment `.` or `..`, or an escape that is read as one; write the path that it leads to")]
    DotSegment {
        /// The value, cut after 80 characters.
        value: String,
    },
    /// A path with a backslash.
    #[error("the path {value:?} has a backslash; separate its parts with `/`")]
    Backslash {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// A path that begins with `/` or a drive letter.
    #[error("the path {value:?} is absolute; write it relative to the root (the root itself is `.`)")]
    Absolute {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// A path that leads above the root.
    #[error("the path {value:?} steps out of the root; stay below it")]
    OutsideRoot {
        /// The path, cut after 80 characters.
        value: String,
    },
    /// A URL whose host is not beyond doubt.
    #[error("no host can be taken from the URL {value:?}: {reason}")]
    Host {
        /// The URL, cut after 80 characters.
        value: String,
        /// The fault, and what to write instead.
        reason: &'static str,
    },
}

impl InvalidTarget {
    /// The greatest length of the value of a target, in bytes.
    pub(crate) const MAX_LENGTH: usize = 8192;

    /// Returns the start of a value, as errors show it.
    pub(crate) fn cut(value: &str) -> String {
        value.chars().take(80).collect()
    }

    pub(crate) fn refuse_control(value: &str) -> Result<(), Self> {
        if value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Ok(());
        }
        match value.chars().find(|c| c.is_control()) {
            Some(character) => Err(Self::Control { value: Self::cut(value), character }),
            None => Ok(()),
        }
    }

    /// Refuses a scheme that is not 1 to 32 of `[a-z0-9+.-]` with a letter first.
    pub(crate) fn check_scheme(scheme: &str) -> Result<(), Self> {
        let letters = scheme.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'));
        if letters && scheme.starts_with(|c: char| c.is_ascii_lowercase()) && scheme.len() <= 32 {
            Ok(())
        } else {
            Err(Self::Scheme { scheme: Self::cut(scheme) })
        }
    }
}
