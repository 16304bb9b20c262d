//! [`Connections`]: the pools of connections, made when they are first needed.

use std::sync::Arc;
use std::time::Duration;

use once_cell::sync::OnceCell;
use reqwest::{Certificate, Client, Proxy};
use url::Url;

use crate::address::AddressFilter;
use crate::error::HttpError;
use crate::options::HttpOptions;
use crate::resolver::{CheckedResolver, Names, Resolver, SystemResolver};

const USER_AGENT: &str = concat!(
    "toolcrib/",
    env!("CARGO_PKG_VERSION"),
    " (+",
    env!("CARGO_PKG_REPOSITORY"),
    ")"
);

/// The maximum number of idle connections to a host, and how long they are kept. There may be any number of hosts.
const IDLE_PER_HOST: usize = 2;
const IDLE_TIME: Duration = Duration::from_secs(15);

/// The pools of connections. There is one for each way of checking addresses, so that no connection is used for a host that it was not
/// made for.
///
/// Loading the root certificates of the system takes milliseconds, so each pool is made when it is first needed.
pub(crate) struct Connections {
    certificates: Vec<Certificate>,
    pub(crate) resolver: Arc<dyn Resolver>,
    max_headers: usize,
    max_header_bytes: usize,
    /// The only way to public hosts, if there is one.
    pub(crate) proxy: Option<(Url, Proxy)>,
    public: OnceCell<Client>,
    private: OnceCell<Client>,
}

impl Connections {
    /// Checks the options, and connects nothing.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] for an option that cannot be used.
    pub(crate) fn new(options: &HttpOptions) -> Result<Self, HttpError> {
        let mut certificates = Vec::new();
        for pem in &options.root_certificates {
            let found = Certificate::from_pem_bundle(pem).unwrap_or_default();
            if found.is_empty() {
                let reason = "one is not a certificate in PEM; convert it";
                return Err(HttpError::option("root_certificates", reason));
            }
            certificates.extend(found);
        }
        let proxy = options.proxy.as_deref().map(proxy).transpose();
        let proxy = proxy.map_err(|reason| HttpError::option("proxy", reason))?;
        Ok(Self {
            certificates,
            resolver: options
                .resolver
                .clone()
                .unwrap_or_else(|| Arc::new(SystemResolver)),
            max_headers: options.limits.max_headers,
            max_header_bytes: options.limits.max_header_bytes,
            proxy,
            public: OnceCell::new(),
            private: OnceCell::new(),
        })
    }

    /// Returns the pool for a URL.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] if a root certificate is damaged, or the system has none.
    pub(crate) fn client(&self, filter: &AddressFilter, url: &Url) -> Result<&Client, HttpError> {
        if filter.names(url) {
            return self
                .private
                .get_or_try_init(|| self.build(Names::Private, None));
        }
        self.public.get_or_try_init(|| match &self.proxy {
            None => self.build(Names::Public, None),
            Some((url, proxy)) => self.build(
                Names::Proxy(url.host_str().unwrap_or_default().to_owned()),
                Some(proxy.clone()),
            ),
        })
    }

    fn build(&self, names: Names, proxy: Option<Proxy>) -> Result<Client, HttpError> {
        // reqwest brings no cryptography of its own here. A provider that the program installed earlier stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            // Redirects are followed by hand, so that each hop passes the grant and the filter. Only the pipeline retries, as
            // effects allow it. The environment names no proxy.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .pool_idle_timeout(IDLE_TIME)
            // More are a parse error, which does not say so; the exact limit is checked later.
            .http1_max_headers(self.max_headers.saturating_mul(4))
            .http2_max_header_list_size(
                u32::try_from(self.max_header_bytes.saturating_mul(4)).unwrap_or(u32::MAX),
            )
            .dns_resolver(Arc::new(CheckedResolver {
                inner: self.resolver.clone(),
                names,
            }));
        if let Some(proxy) = proxy {
            builder = builder.proxy(proxy);
        }
        if !self.certificates.is_empty() {
            builder = builder.tls_certs_merge(self.certificates.clone());
        }
        builder.build().map_err(|error| {
            let reason =
                format!("{error}; check the root certificates of the options and the system");
            HttpError::option("root_certificates", reason)
        })
    }
}

fn proxy(text: &str) -> Result<(Url, Proxy), String> {
    let refused = || "it is not a URL such as http://proxy.example:3128; correct it".to_owned();
    let url = Url::parse(text).map_err(|_| refused())?;
    if !["http", "https"].contains(&url.scheme()) || !url.has_host() {
        return Err(refused());
    }
    let proxy = Proxy::all(url.clone()).map_err(|_| refused())?;
    Ok((url, proxy))
}
