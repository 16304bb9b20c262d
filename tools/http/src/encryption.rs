//! [`Encryption`]: TLS for protocols other than HTTP, with the certificates that requests trust.

use std::sync::Arc;

use once_cell::sync::OnceCell;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;
use tokio_rustls::TlsConnector;

/// TLS for protocols other than HTTP. The root certificates of the system are loaded when they are first needed.
pub(crate) struct Encryption {
    /// The further root certificates of the options, in PEM, which were checked with them.
    pub(crate) certificates: Vec<Vec<u8>>,
    pub(crate) connector: OnceCell<TlsConnector>,
}

impl Encryption {
    /// Returns the connector.
    ///
    /// # Errors
    /// Returns the reason for which there is none.
    pub(crate) fn connector(&self) -> Result<TlsConnector, String> {
        let connector = self.connector.get_or_try_init(|| self.load());
        connector.cloned().map_err(|error| error.to_string())
    }

    fn load(&self) -> Result<TlsConnector, rustls::Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = Vec::new();
        for pem in &self.certificates {
            let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
            roots.extend(found.map_err(|error| rustls::Error::General(error.to_string()))?);
        }
        let verifier = match roots.is_empty() {
            true => Verifier::new(provider.clone())?,
            false => Verifier::new_with_extra_roots(roots, provider.clone())?,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
