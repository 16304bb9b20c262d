//! [`WebSearch`]: the service of `web.search`.

use tools::{Access, Target, ToolContext, is_plain_url};
use tools_http::{BoundSecret, HttpClient, HttpError, Method, Request, Url, net_host};

use super::answer::check_status;
use super::{SearchBackend, SearchError, SearchQuery, SearchResult};

/// The greatest size of an answer. Twenty results of any service are far smaller.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// The number of results of a call that wants no other number.
const DEFAULT_COUNT: usize = 5;

/// The search that the user chose: a backend with its options. A host puts it into the services of a context.
///
/// ```
/// use tools::Host;
/// use tools_http::{HttpClient, HttpOptions};
/// use tools_web::search::{self, WebSearch};
///
/// # fn key() -> String { "a key of the user".to_owned() }
/// let web_search = WebSearch::new(search::get("brave")?, None)?.with_language("en")?;
/// let secret = web_search.bind_key(&key())?.unwrap();
/// // The key is for searches alone: `web.fetch` has the client of the context.
/// let web_search = web_search.with_client(HttpClient::from_options(HttpOptions { secrets: vec![secret], ..HttpOptions::default() })?);
/// let grant: Vec<String> = web_search.targets().iter().map(ToString::to_string).collect();
/// assert_eq!(grant, ["search:read:web", "net:read:api.search.brave.com"]);
/// let cx = Host::new().with_service(HttpClient::default()).with_service(web_search);
/// # let _ = cx;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WebSearch {
    backend: &'static SearchBackend,
    base_url: Url,
    /// The URL and the method of all requests.
    probe: (Url, Method),
    language: Option<String>,
    client: Option<HttpClient>,
}

/// The results of a search.
#[derive(Debug)]
pub(super) struct Found {
    /// The host that answered.
    pub(super) host: String,
    pub(super) results: Vec<SearchResult>,
    /// The number of results without a usable address.
    pub(super) left_out: usize,
}

impl WebSearch {
    /// The greatest number of results.
    pub const MAX_COUNT: usize = 20;

    /// Creates a search by a backend, at its usual address or another one. It returns 5 results unless a call wants another number.
    ///
    /// # Errors
    /// - Returns [`SearchError::NoBaseUrl`] if there is no usual address and none is given.
    /// - Returns [`SearchError::BaseUrl`] if the address is not an `http` or `https` URL without credentials, query and fragment.
    pub fn new(
        backend: &'static SearchBackend,
        base_url: Option<&str>,
    ) -> Result<Self, SearchError> {
        let name = backend.name;
        let text = base_url
            .or(backend.base_url)
            .ok_or(SearchError::NoBaseUrl { backend: name })?;
        let url = Url::parse(text).ok();
        let url = url
            .filter(|url| is_plain_url(url.as_str()))
            .ok_or_else(|| SearchError::BaseUrl {
                backend: name,
                url: without_secrets(text),
            })?;
        let probe = (backend.request)(&SearchQuery::new(&url, "probe", 1))?;
        let probe = (probe.url().clone(), probe.method().clone());
        Ok(Self {
            backend,
            base_url: url,
            probe,
            language: None,
            client: None,
        })
    }

    /// Sets the language of the results, as the service spells it.
    ///
    /// # Errors
    /// Returns [`SearchError::NoLanguage`] if the service has no option for it.
    pub fn with_language(mut self, language: impl Into<String>) -> Result<Self, SearchError> {
        if !self.backend.has_language {
            let backend = self.backend.name;
            return Err(SearchError::NoLanguage { backend });
        }
        self.language = Some(language.into());
        Ok(self)
    }

    /// Sets the client of searches, in place of the context's. Its private hosts and secrets are then for searches alone, and not for
    /// the URLs that a model chooses for other tools.
    #[must_use]
    pub fn with_client(mut self, client: HttpClient) -> Self {
        self.client = Some(client);
        self
    }

    /// Returns the backend.
    pub fn backend(&self) -> &'static SearchBackend {
        self.backend
    }

    /// Returns the base URL.
    pub fn base_url(&self) -> &Url {
        &self.base_url
    }

    /// Returns the targets of every search: `search:read:web`, and the host of the service. A service that takes `POST` only is
    /// written to: a policy that asks about writes then needs a rule that allows it, because a running call cannot ask.
    pub fn targets(&self) -> Vec<Target> {
        let (url, method) = &self.probe;
        let access = if [Method::GET, Method::HEAD].contains(method) {
            Access::Read
        } else {
            Access::Write
        };
        let targets = [
            Target::new(Access::Read, "search", "web"),
            Target::new(access, "net", net_host(url)),
        ];
        targets.into_iter().flatten().collect()
    }

    /// Binds a key of the user to the origin of the service and its header, for [`HttpOptions`](tools_http::HttpOptions). Returns
    /// `None` if the service takes no key.
    ///
    /// # Errors
    /// Returns the errors of [`BoundSecret::new`].
    pub fn bind_key(&self, key: &str) -> Result<Option<BoundSecret>, HttpError> {
        let name = format!("{}-key", self.backend.name);
        let place = self.backend.key;
        place
            .map(|place| place.bind(&name, &self.probe.0, key))
            .transpose()
    }

    /// Searches.
    pub(super) async fn search(
        &self,
        cx: &ToolContext,
        client: &HttpClient,
        query: &str,
        count: Option<usize>,
    ) -> Result<Found, SearchError> {
        let query = query.trim();
        if query.is_empty() {
            return Err(SearchError::Query {
                reason: "it is blank; write some words".to_owned(),
            });
        }
        let count = check_count(count.unwrap_or(DEFAULT_COUNT))?;
        let client = self.client.as_ref().unwrap_or(client);
        let response = client.send(cx, self.request(query, count)?).await?;
        check_status(self.backend, &response)?;
        let all = (self.backend.results)(&response)?;
        let mut results: Vec<_> = all.iter().filter_map(SearchResult::clean).collect();
        let left_out = all.len() - results.len();
        results.truncate(count);
        Ok(Found {
            host: super::answer::host(&response),
            results,
            left_out,
        })
    }

    fn request(&self, query: &str, count: usize) -> Result<Request, SearchError> {
        let query = SearchQuery {
            language: self.language.as_deref(),
            ..SearchQuery::new(&self.base_url, query, count)
        };
        Ok((self.backend.request)(&query)?.with_max_body_bytes(MAX_ANSWER_BYTES))
    }
}

fn check_count(count: usize) -> Result<usize, SearchError> {
    let most = WebSearch::MAX_COUNT;
    if (1..=most).contains(&count) {
        Ok(count)
    } else {
        Err(SearchError::Count { count, most })
    }
}

/// Returns a base URL for a message, without the part that may be a password.
fn without_secrets(url: &str) -> String {
    url.rsplit_once('@')
        .map_or_else(|| url.to_owned(), |(_, rest)| format!("…@{rest}"))
}
