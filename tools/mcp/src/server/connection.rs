//! [`Connection`]: the services of one client's session.

use std::fmt;
use std::sync::OnceLock;

use tools::Services;

/// The session of a client, or its pair of streams. It ends when the client ends it, goes away, or is idle while others need its place.
#[derive(Default)]
pub struct Connection(OnceLock<Services>);

impl Connection {
    /// Returns the services of this session alone, which its first call makes. They are dropped at its end.
    pub fn services(&self, make: impl FnOnce() -> Services) -> &Services {
        self.0.get_or_init(make)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.0.get()).finish()
    }
}
