//! [`InvalidQuestion`]: the errors of [`Question::new`](super::Question::new).

use super::Question;
use crate::ToolError;

/// The error for a question that cannot be put to a person. Options are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidQuestion {
    /// The text is empty.
    #[error("the question is empty; write its text")]
    Empty,
    /// The text is too long.
    #[error(
        "the question has {length} characters, and {} are allowed; shorten it",
        Question::MAX_CHARS
    )]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
    /// There are too few or too many options.
    #[error(
        "the question has {count} options; give 2 to {} of them, or ask for a text",
        Question::MAX_OPTIONS
    )]
    OptionCount {
        /// The number of options.
        count: usize,
    },
    /// An option is empty.
    #[error("option {number} is empty; write its text")]
    EmptyOption {
        /// The number of the option.
        number: usize,
    },
    /// An option is too long.
    #[error(
        "option {number} has {length} characters, and {} are allowed; shorten it",
        Question::MAX_OPTION_CHARS
    )]
    LongOption {
        /// The number of the option.
        number: usize,
        /// Its length in characters.
        length: usize,
    },
    /// Two options are equal.
    #[error("options {first} and {number} are equal; remove one of them")]
    RepeatedOption {
        /// The number of the first one.
        first: usize,
        /// The number of its repetition.
        number: usize,
    },
}

impl From<InvalidQuestion> for ToolError {
    fn from(error: InvalidQuestion) -> Self {
        Self::execution_failed(error.to_string())
    }
}
