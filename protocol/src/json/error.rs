//! [`InvalidJson`]: why a text is not read.

use super::MAX_DEPTH;

/// Why a text is not [`Json`](super::Json). Places are JSON pointers (RFC 6901); the whole text is `""`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidJson {
    /// A text that is not one whole JSON value.
    #[error("not JSON: {message}")]
    Syntax {
        /// The explanation of `serde_json`, with line and column.
        message: String,
    },
    /// An object with one key twice.
    #[error("the object has the key at `{pointer}` twice; write each key once")]
    RepeatedKey {
        /// The key.
        pointer: String,
    },
    /// Arrays and objects deeper than [`MAX_DEPTH`].
    #[error("the JSON at `{pointer}` nests deeper than {MAX_DEPTH} levels; make it flatter")]
    TooDeep {
        /// The first array or object beyond the limit.
        pointer: String,
    },
    /// A text of more than 4 GiB.
    #[error("the JSON has more than 4 GiB; send less")]
    TooLarge,
}
