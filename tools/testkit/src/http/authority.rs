//! [`TestAuthority`]: a certificate authority for tests.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// A certificate authority for tests. Pass its certificate to
/// [`HttpOptions::root_certificates`](tools_http::HttpOptions::root_certificates).
pub struct TestAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl TestAuthority {
    /// Creates an authority.
    ///
    /// # Panics
    /// Panics if no key can be made.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        // Without a name of its own, the certificates that it signs look self-signed to OpenSSL.
        params
            .distinguished_name
            .push(DnType::CommonName, "Toolcrib test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        Self {
            issuer: CertifiedIssuer::self_signed(params, key)
                .expect("an authority can sign its own certificate"),
        }
    }

    /// Returns the certificate in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Returns the settings of a server whose certificate is for these names, and which offers these protocols, such as `h2`.
    ///
    /// # Panics
    /// Panics if a name is invalid.
    pub fn server_config(&self, names: &[&str], protocols: &[&str]) -> Arc<ServerConfig> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().expect("a key can be made");
        let params = CertificateParams::new(names).expect("the names are valid");
        let certificate = params
            .signed_by(&key, &self.issuer)
            .expect("an authority can sign certificates");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider supports the default versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).expect("the key is in PKCS 8"),
            );
        let mut config = config.expect("the key fits the certificate");
        config.alpn_protocols = protocols
            .iter()
            .map(|protocol| protocol.as_bytes().to_vec())
            .collect();
        Arc::new(config)
    }
}

impl Default for TestAuthority {
    fn default() -> Self {
        Self::new()
    }
}
