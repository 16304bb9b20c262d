//! [`InvalidJson`]: the error for text that is not valid JSON.

use super::MAX_DEPTH;

/// The error for a text that is not [`Json`](super::Json). Positions are JSON pointers (RFC 6901); `""` is the root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidJson {
    /// The text is not one JSON value.
    #[error("not JSON: {message}")]
    Syntax {
        /// The message of `serde_json`, with line and column.
        message: String,
    },
    /// An object has a repeated key.
    #[error("the key at `{pointer}` is repeated; write each key of an object once")]
    RepeatedKey {
        /// The pointer of the key.
        pointer: String,
    },
    /// Arrays and objects nest deeper than [`MAX_DEPTH`].
    #[error("the JSON at `{pointer}` nests deeper than {MAX_DEPTH} levels; send a flatter value")]
    TooDeep {
        /// The first array or object beyond the limit.
        pointer: String,
    },
    /// The text has more than 4 GiB.
    #[error("the JSON has more than 4 GiB; send less")]
    TooLarge,
}

/// The error under construction. Its pointer grows towards the root while the parser returns; its message is set last.
pub(super) type ParseError = Box<InvalidJson>;

pub(super) fn syntax() -> ParseError {
    Box::new(InvalidJson::Syntax {
        message: String::new(),
    })
}

/// Prepends a token to the pointer of the error.
pub(super) fn inside(mut error: ParseError, token: &str) -> ParseError {
    if let InvalidJson::RepeatedKey { pointer } | InvalidJson::TooDeep { pointer } = &mut *error {
        pointer.insert_str(
            0,
            &format!("/{}", token.replace('~', "~0").replace('/', "~1")),
        );
    }
    error
}
