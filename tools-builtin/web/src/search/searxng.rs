//! SearXNG: an instance that the user names, by its JSON API.

use serde_json::Value;
use tools::source;
use tools_http::{Request, Response, StatusCode};

use super::answer::{clean_text, host};
use super::{
    SearchBackend, SearchError, SearchFault, SearchQuery, SearchResult, items, json_answer, missing,
};

inventory::submit! {
    SearchBackend {
        name: "searxng",
        description: "an instance of SearXNG, which asks many search engines",
        source: source!(),
        base_url: None,
        key: None,
        is_proven: false,
        has_language: true,
        request,
        results,
        fault,
    }
}

/// An instance takes no number of results.
fn request(query: &SearchQuery<'_>) -> Result<Request, SearchError> {
    let mut parameters = vec![("q", query.query), ("format", "json")];
    parameters.extend(query.language.map(|language| ("language", language)));
    let url = query.endpoint("search", &parameters);
    Ok(Request::get(url.as_str())?)
}

/// Reads results, whose fields are plain text.
fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
    let answer = json_answer(response)?;
    let results = items(&answer, "results").ok_or_else(|| missing(response, "results"))?;
    let silent = items(&answer, "unresponsive_engines").unwrap_or_default();
    if results.is_empty() && !silent.is_empty() {
        let message = silent.iter().map(engine).collect::<Vec<_>>().join(", ");
        return Err(SearchError::Engines {
            host: host(response),
            message: clean_text(&message),
        });
    }
    let results = results.iter().map(|item| {
        SearchResult::from_json(item, "title", "url", "content")
            .with_date(item["publishedDate"].as_str())
    });
    Ok(results.collect())
}

/// Returns the name and the fault of an engine that did not answer.
fn engine(pair: &Value) -> String {
    let [name, fault] = [&pair[0], &pair[1]].map(|part| part.as_str().unwrap_or("unknown"));
    format!("{name} ({fault})")
}

/// An instance answers 403 if its settings do not list the format.
fn fault(status: StatusCode, _: &Value) -> Option<SearchFault> {
    (status == StatusCode::FORBIDDEN).then_some(SearchFault::Format)
}
