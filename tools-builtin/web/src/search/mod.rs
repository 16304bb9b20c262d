//! `web.search`, its service [`WebSearch`], and the search backends that are linked into this process.
//!
//! A crate adds a backend with [`inventory::submit!`](inventory::submit), as providers are added:
//!
//! ```
//! use tools::source;
//! use tools_http::{Request, Response};
//! use tools_web::search::{self, SearchBackend, SearchError, SearchQuery, SearchResult};
//!
//! fn request(query: &SearchQuery<'_>) -> Result<Request, SearchError> {
//!     let url = query.endpoint("find", &[("words", query.query), ("limit", &query.count.to_string())]);
//!     Ok(Request::get(url.as_str())?)
//! }
//!
//! fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
//!     let answer = search::json_answer(response)?;
//!     let hits = search::items(&answer, "hits").ok_or_else(|| search::missing(response, "hits"))?;
//!     Ok(hits.iter().map(|hit| SearchResult::from_json(hit, "headline", "link", "extract")).collect())
//! }
//!
//! search::inventory::submit! {
//!     SearchBackend {
//!         name: "library",
//!         description: "the catalogue of the library",
//!         source: source!(),
//!         base_url: Some("https://library.example.org/api"),
//!         key: None,
//!         is_proven: true,
//!         options: &[],
//!         request,
//!         results,
//!         fault: |_, _| None,
//!     }
//! }
//!
//! assert_eq!(search::get("library")?.description, "the catalogue of the library");
//! # Ok::<(), tools::linked::LookupError>(())
//! ```

mod answer;
mod backend;
mod brave;
mod duckduckgo;
mod error;
mod fault;
mod option;
mod plain_text;
mod query;
mod result;
mod searxng;
mod service;
mod tavily;
mod tool;

use tools::linked::{self, LookupError};

pub use answer::{items, json_answer, missing};
pub use backend::SearchBackend;
pub use error::SearchError;
pub use fault::SearchFault;
/// Re-exported for `inventory::submit!` of a [`SearchBackend`].
pub use inventory;
pub use option::SearchOption;
pub use plain_text::text_of_html;
pub use query::{SafeSearch, SearchQuery, UnknownSafeSearch};
pub use result::SearchResult;
pub use service::WebSearch;
pub(crate) use tool::SEARCH_TOOL;

/// Returns the linked search backend of this name.
///
/// # Errors
/// Returns [`LookupError`] if no linked backend has this name, or several crates claim it.
pub fn get(name: &str) -> Result<&'static SearchBackend, LookupError> {
    linked::get(name)
}

/// Returns the usable linked search backends, sorted by name.
pub fn list() -> Vec<&'static SearchBackend> {
    linked::list()
}
