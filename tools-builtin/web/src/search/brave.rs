//! Brave: the web search of its API.

use serde_json::Value;
use tools::source;
use tools_http::{HeaderName, HeaderValue, Request, Response, ServiceKey, StatusCode};

use super::{
    SearchBackend, SearchError, SearchFault, SearchQuery, SearchResult, items, json_answer,
    missing, text_of_html,
};

/// The greatest number of words in a query.
const MAX_WORDS: usize = 50;

inventory::submit! {
    SearchBackend {
        name: "brave",
        description: "the web search of Brave",
        source: source!(),
        base_url: Some("https://api.search.brave.com/res/v1"),
        key: Some(ServiceKey {
            header: "x-subscription-token",
            prefix: "",
            variable: "BRAVE_API_KEY",
            is_required: true,
        }),
        is_proven: false,
        has_language: true,
        request,
        results,
        fault,
    }
}

fn request(query: &SearchQuery<'_>) -> Result<Request, SearchError> {
    if query.query.split_whitespace().count() > MAX_WORDS {
        return Err(SearchError::Query {
            reason: format!("it has more than {MAX_WORDS} words; use fewer"),
        });
    }
    let count = query.count.to_string();
    let mut parameters = vec![
        ("q", query.query),
        ("count", &count),
        ("result_filter", "web"),
        ("text_decorations", "false"),
    ];
    parameters.extend(query.language.map(|language| ("search_lang", language)));
    let request = Request::get(query.endpoint("web/search", &parameters).as_str())?;
    Ok(request.with_header(
        HeaderName::from_static("accept"),
        HeaderValue::from_static("application/json"),
    ))
}

/// Reads the results. Titles and descriptions are HTML. An answer without `web` has no results.
fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
    let answer = json_answer(response)?;
    if answer["web"].is_null() && answer["type"] == "search" {
        return Ok(Vec::new());
    }
    let results = items(&answer, "web/results").ok_or_else(|| missing(response, "web.results"))?;
    Ok(results.iter().map(result).collect())
}

fn result(item: &Value) -> SearchResult {
    let raw = SearchResult::from_json(item, "title", "url", "description");
    SearchResult::new(
        text_of_html(&raw.title),
        raw.url,
        text_of_html(&raw.snippet),
    )
    .with_date(item["page_age"].as_str().or(item["age"].as_str()))
}

/// An invalid key is a validation error, which only its code tells from others.
fn fault(_: StatusCode, body: &Value) -> Option<SearchFault> {
    let code = body
        .pointer("/error/code")
        .or(body.pointer("/errors/0/code"))?;
    match code.as_str()? {
        "SUBSCRIPTION_TOKEN_INVALID" | "SUBSCRIPTION_NOT_FOUND" => Some(SearchFault::Key),
        "QUOTA_LIMITED" => Some(SearchFault::Quota),
        _ => None,
    }
}
