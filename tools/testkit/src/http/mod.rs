//! A loopback server, a certificate authority and a resolver for tests.

mod authority;
mod resolver;
mod server;

pub use authority::TestAuthority;
pub use resolver::TestResolver;
pub use server::{Received, TestServer, TestStream};
