//! [`Exchange`]: one request and its answer.

use std::sync::Arc;

use http::{HeaderMap, StatusCode, header};
use once_cell::sync::OnceCell;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Url;

use crate::address::AddressFilter;
use crate::body::Body;
use crate::cache::header_bytes;
use crate::codings::ACCEPTED;
use crate::connections::Connections;
use crate::error::HttpError;
use crate::failure::failure;
use crate::hop::Hop;
use crate::limits::HttpLimits;
use crate::mask::Mask;
use crate::options::HttpOptions;
use crate::secret::BoundSecret;
use crate::slots::Slots;

/// Makes single requests: with secrets, behind the address filter, within the limits. The sessions of a client share it.
pub(crate) struct Exchange {
    pub(crate) connections: Connections,
    /// The further root certificates of the options, in PEM, which were checked with them.
    certificates: Vec<Vec<u8>>,
    /// TLS for protocols other than HTTP. The root certificates of the system are loaded when they are first needed.
    connector: OnceCell<TlsConnector>,
    pub(crate) filter: AddressFilter,
    pub(crate) limits: HttpLimits,
    mask: Arc<Mask>,
    secrets: Vec<BoundSecret>,
    pub(crate) slots: Arc<Slots>,
}

/// An answer whose body was not read yet. Headers are masked if the hop is.
pub(crate) struct Opened {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

impl Exchange {
    /// Checks the options.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] or [`HttpError::Secret`] for an option that cannot be used.
    pub(crate) fn new(options: HttpOptions, slots: Arc<Slots>) -> Result<Self, HttpError> {
        let filter = AddressFilter::new(&options.private_hosts)
            .map_err(|reason| HttpError::option("private_hosts", reason))?;
        options.limits.check()?;
        for (index, secret) in options.secrets.iter().enumerate() {
            let mut earlier = options.secrets[..index].iter();
            let reason = if secret.url.scheme() != "https" && !filter.names(&secret.url) {
                "its origin is not encrypted; write https, or add the host to the private hosts"
            } else if earlier
                .any(|other| other.origin() == secret.origin() && other.header == secret.header)
            {
                "another secret has the same origin and header; remove one of them"
            } else {
                continue;
            };
            return Err(HttpError::Secret {
                name: secret.name.clone(),
                reason: reason.to_owned(),
            });
        }
        Ok(Self {
            connections: Connections::new(&options)?,
            certificates: options.root_certificates,
            connector: OnceCell::new(),
            filter,
            mask: Arc::new(Mask::new(&options.secrets)),
            slots,
            limits: options.limits,
            secrets: options.secrets,
        })
    }

    /// Returns the secrets for requests to a URL.
    pub(crate) fn secrets(&self, url: &Url) -> impl Iterator<Item = &BoundSecret> {
        let origin = url.origin();
        self.secrets
            .iter()
            .filter(move |secret| secret.origin() == origin)
    }

    /// Sends a request with these headers, and reads the headers of its answer.
    ///
    /// # Errors
    /// Returns an [`HttpError`] if the request fails, its host has a private address, or the headers are too late or too large.
    pub(crate) async fn open(
        &self,
        hop: &Hop,
        mut headers: HeaderMap,
    ) -> Result<Opened, HttpError> {
        if let Some(mask) = self.mask(hop).filter(|mask| !mask.is_ready()).cloned() {
            // A thread that no other tasks wait for.
            let prepared = tokio::task::spawn_blocking(move || mask.prepare()).await;
            prepared.map_err(|error| {
                let reason = format!("the search for secrets ended early: {error}");
                HttpError::failed(&hop.url, reason)
            })?;
        }
        let slot = self.slots.acquire(&hop.url).await;
        let client = self.connections.client(&self.filter, &hop.url)?;
        let mut request = reqwest::Request::new(hop.method.clone(), hop.url.clone());
        headers.insert(header::ACCEPT_ENCODING, ACCEPTED);
        for secret in self.secrets(&hop.url).filter(|_| hop.is_own) {
            headers.insert(&secret.header, secret.value.clone());
        }
        *request.headers_mut() = headers;
        *request.body_mut() = hop.body.clone().map(Into::into);
        let limits = &self.limits;
        let response = timeout(limits.first_byte, client.execute(request))
            .await
            .map_err(|_| HttpError::time(&hop.url, limits.first_byte))?
            .map_err(|error| failure(&hop.url, &error, self.mask(hop)))?;
        if header_bytes(response.headers()) > limits.max_header_bytes
            || response.headers().len() > limits.max_headers
        {
            return Err(HttpError::headers(&hop.url, limits.max_header_bytes));
        }
        let mask = self.mask(hop);
        let mut headers = match mask {
            Some(mask) => mask.headers(response.headers()),
            None => response.headers().clone(),
        };
        let status = response.status();
        let url = hop.url.clone();
        let body = Body::new(url, response, &mut headers, mask, limits.idle, slot)?;
        Ok(Opened {
            status,
            headers,
            body,
        })
    }

    fn mask(&self, hop: &Hop) -> Option<&Arc<Mask>> {
        hop.is_masked.then_some(&self.mask)
    }

    /// Returns the TLS connector for protocols other than HTTP.
    ///
    /// # Errors
    /// Returns the reason for which there is none.
    pub(crate) fn connector(&self) -> Result<TlsConnector, String> {
        let connector = self.connector.get_or_try_init(|| self.load_connector());
        connector.cloned().map_err(|error| error.to_string())
    }

    fn load_connector(&self) -> Result<TlsConnector, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = Vec::new();
        for pem in &self.certificates {
            let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
            roots.extend(found.map_err(|error| rustls::Error::General(error.to_string()))?);
        }
        let verifier = if roots.is_empty() {
            Verifier::new(provider.clone())?
        } else {
            Verifier::new_with_extra_roots(roots, provider.clone())?
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            // Only by its name: the verifier is that of the platform, which requests have, too.
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
