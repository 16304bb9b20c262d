//! The limit of messages of servers, whatever the transport.

/// The maximum length of one message of a server, in bytes: a line, an event or a body. A longer one is dropped, or ends the connection.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
