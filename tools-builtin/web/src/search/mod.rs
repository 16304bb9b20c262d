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
//!         has_language: false,
//!         request,
//!         results,
//!         fault: |_, _| None,
//!     }
//! }
//!
//! assert_eq!(search::get("library")?.description, "the catalogue of the library");
//! # Ok::<(), tools::linked::LookupError>(())
//! ```
//!
//! A program says `tools::link!(library_search)` for the crate of a backend. A line in `Cargo.toml` alone is not enough: the compiler
//! leaves out a crate that no code names, and [`get`] does not find its backends.

mod answer;
mod brave;
mod duckduckgo;
mod error;
mod query;
mod result;
mod searxng;
mod service;
mod tavily;
mod tool;

use tools::linked::{self, LookupError};

pub use self::error::{SearchError, SearchFault};
pub use self::query::{SearchBackend, SearchQuery};
pub use self::result::{SearchResult, text_of_html};
pub use answer::{items, json_answer, missing};
/// Re-exported for `inventory::submit!` of a [`SearchBackend`].
pub use inventory;
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
