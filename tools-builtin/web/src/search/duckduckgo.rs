//! DuckDuckGo: its instant answers, which are no web search.

use serde_json::Value;
use tools::source;
use tools_http::{Request, Response, Url};

use super::{
    SearchBackend, SearchError, SearchQuery, SearchResult, items, json_answer, missing,
    text_of_html,
};

inventory::submit! {
    SearchBackend {
        name: "duckduckgo",
        description: "instant answers of DuckDuckGo: abstracts and related topics, no web search",
        source: source!(),
        base_url: Some("https://api.duckduckgo.com"),
        key: None,
        is_proven: false,
        has_language: false,
        request,
        results,
        fault: |_, _| None,
    }
}

/// Without `no_redirect`, a `!bang` in the query redirects to another service.
fn request(query: &SearchQuery<'_>) -> Result<Request, SearchError> {
    let parameters = [
        ("q", query.query),
        ("format", "json"),
        ("no_html", "1"),
        ("no_redirect", "1"),
        ("t", "toolcrib"),
    ];
    Ok(Request::get(query.endpoint("", &parameters).as_str())?)
}

/// Reads the answer, the abstract, the definition, the official sites and the related topics, in this order.
fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
    let answer = json_answer(response)?;
    let related =
        items(&answer, "RelatedTopics").ok_or_else(|| missing(response, "RelatedTopics"))?;
    let heading = answer["Heading"].as_str().unwrap_or_default();
    let summary = |title: &str, text: &str, url: &str| {
        let text = answer[text].as_str().filter(|text| !text.is_empty())?;
        let title = if heading.is_empty() { title } else { heading };
        Some(SearchResult::new(title, url, text))
    };
    let address = |field: &str| answer[field].as_str().unwrap_or_default();
    let summaries = [
        // Some answers are made of HTML for the page, whatever the request says.
        summary("Answer", "Answer", &page(&response.url)).map(|answer| SearchResult {
            snippet: text_of_html(&answer.snippet),
            ..answer
        }),
        summary("Abstract", "AbstractText", address("AbstractURL")),
        summary("Definition", "Definition", address("DefinitionURL")),
    ];
    let groups = related
        .iter()
        .flat_map(|topic| items(topic, "Topics").unwrap_or(std::slice::from_ref(topic)));
    let own = items(&answer, "Results").unwrap_or_default();
    let topics = own.iter().chain(groups).map(topic);
    Ok(summaries.into_iter().flatten().chain(topics).collect())
}

/// Returns a topic. Its text begins with its name, in older answers before a dash.
fn topic(item: &Value) -> SearchResult {
    let mut topic = SearchResult::from_json(item, "Text", "FirstURL", "Text");
    if let Some((name, _)) = topic.title.split_once(" - ") {
        topic.title = name.to_owned();
    }
    topic
}

/// Returns the page on which a browser shows the answer. The service gives none.
fn page(request: &Url) -> String {
    let query = request.query_pairs().find(|(name, _)| name == "q");
    let query = query.map(|(_, query)| query.into_owned());
    let page = Url::parse_with_params(
        "https://duckduckgo.com/",
        [("q", query.unwrap_or_default())],
    );
    page.map(String::from).unwrap_or_default()
}
