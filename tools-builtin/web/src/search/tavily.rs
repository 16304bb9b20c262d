//! Tavily: a search service for models.

use serde_json::{Value, json};
use tools::source;
use tools_http::{Method, Request, Response, ServiceKey, StatusCode};

use super::{
    SearchBackend, SearchError, SearchFault, SearchQuery, SearchResult, items, json_answer, missing,
};

inventory::submit! {
    SearchBackend {
        name: "tavily",
        description: "the web search of Tavily",
        source: source!(),
        base_url: Some("https://api.tavily.com"),
        key: Some(ServiceKey {
            header: "authorization",
            prefix: "Bearer ",
            variable: "TAVILY_API_KEY",
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
    let mut body = json!({"query": query.query, "max_results": query.count});
    if let Some(language) = query.language {
        body["language"] = language.into();
    }
    Ok(Request::new(Method::POST, query.endpoint("search", &[]).as_str())?.with_json(&body)?)
}

/// Reads results, whose fields are plain text.
fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
    let answer = json_answer(response)?;
    let results = items(&answer, "results").ok_or_else(|| missing(response, "results"))?;
    let results = results.iter().map(|item| {
        SearchResult::from_json(item, "title", "url", "content")
            .with_date(item["published_date"].as_str())
    });
    Ok(results.collect())
}

/// The service answers 432 and 433 if the limit of the plan or of the budget is reached.
fn fault(status: StatusCode, _: &Value) -> Option<SearchFault> {
    matches!(status.as_u16(), 432 | 433).then_some(SearchFault::Quota)
}
