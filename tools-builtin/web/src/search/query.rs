//! [`SearchQuery`]: a query for a search service.

use serde_json::Value;
use tools::Source;
use tools_http::{Request, Response, ServiceKey, StatusCode, Url};

use super::{SearchError, SearchFault, SearchResult};

/// A query for a search service.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchQuery<'a> {
    /// The base URL of the service.
    pub base_url: &'a Url,
    /// The query, which is not blank.
    pub query: &'a str,
    /// The wanted number of results, from 1 to 20. Further results are left out.
    pub count: usize,
    /// The language, as the service spells it.
    pub language: Option<&'a str>,
}

impl<'a> SearchQuery<'a> {
    pub(super) fn new(base_url: &'a Url, query: &'a str, count: usize) -> Self {
        Self {
            base_url,
            query,
            count,
            language: None,
        }
    }

    /// Returns the URL of a path below the base URL, with these parameters.
    pub fn endpoint(&self, path: &str, parameters: &[(&str, &str)]) -> Url {
        let mut url = self.base_url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }
}

/// The link-time record of a search service. Every program that links its crate finds it by name. Register it with
/// [`inventory::submit!`](super::inventory::submit).
#[derive(Clone, Debug)]
pub struct SearchBackend {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A one-line description for people.
    pub description: &'static str,
    /// The place that declares it.
    pub source: Source,
    /// The usual base URL. `None` if the user has to name the service.
    pub base_url: Option<&'static str>,
    /// The header of the key. `None` if the service takes no key. The program binds the key to it; a backend never sees the key.
    pub key: Option<ServiceKey>,
    /// True if the backend was run against its real service at least once.
    pub is_proven: bool,
    /// True if the service knows an option for the language of results.
    pub has_language: bool,
    /// Creates the request of a query. All requests go to one host, with one method.
    pub request: fn(&SearchQuery<'_>) -> Result<Request, SearchError>,
    /// Reads the results of a response with a status of success. Fields may be of any length and have any characters.
    pub results: fn(&Response) -> Result<Vec<SearchResult>, SearchError>,
    /// Returns the fault that a status and the body's JSON (or null) mean, if it differs from the usual meaning of the status.
    pub fault: fn(StatusCode, &Value) -> Option<SearchFault>,
}

inventory::collect!(SearchBackend);

tools::named_submission!(SearchBackend, "search backend");
