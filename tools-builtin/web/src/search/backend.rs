//! [`SearchBackend`]: the link-time record of a search service.

use serde_json::Value;
use tools::Source;
use tools::linked::NamedSubmission;
use tools_http::{Request, Response, ServiceKey, StatusCode};

use super::{SearchError, SearchFault, SearchOption, SearchQuery, SearchResult};

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
    /// The options that the service knows.
    pub options: &'static [SearchOption],
    /// Creates the request of a query. All requests go to one host, with one method.
    pub request: fn(&SearchQuery<'_>) -> Result<Request, SearchError>,
    /// Reads the results of a response with a status of success. Fields may be of any length and have any characters.
    pub results: fn(&Response) -> Result<Vec<SearchResult>, SearchError>,
    /// Returns the fault that a status and the body's JSON (or null) mean, if it differs from the usual meaning of the status.
    pub fault: fn(StatusCode, &Value) -> Option<SearchFault>,
}

inventory::collect!(SearchBackend);

impl NamedSubmission for SearchBackend {
    const NOUN: &'static str = "search backend";

    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &Source {
        &self.source
    }
}
