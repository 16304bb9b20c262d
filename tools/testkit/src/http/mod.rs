//! A loopback server, a certificate authority and a resolver for tests.

mod authority;
mod resolver;
mod server;

pub use authority::TestAuthority;
pub use resolver::TestResolver;
pub use server::{Received, TestServer, TestStream};

/// Installs the cryptography of TLS for clients of reqwest that a test makes itself. Without one, reqwest panics. Clients of
/// [`tools_http`] need no call.
pub fn install_cryptography() {
    // An error says that one is installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
