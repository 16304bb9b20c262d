//! [`Status`]: the state of an imported server.

/// The state of an imported server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The server is connected by the first call, because its tools are [known](super::Import::known).
    Idle,
    /// The first connection is being made.
    Connecting,
    /// The server is connected.
    Connected {
        /// The revision of the protocol, such as `2026-07-28`.
        protocol: String,
    },
    /// The server is not connected, and will be connected again. Its tools answer
    /// [`Unavailable`](tools::ToolErrorKind::Unavailable).
    Disconnected {
        /// The reason.
        reason: String,
    },
    /// The server was removed.
    Removed,
}
