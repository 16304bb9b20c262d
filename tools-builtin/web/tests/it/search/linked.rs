//! The backends that are linked, and one that another crate adds.

use serde_json::json;
use tools::linked::{self, LookupError};
use tools::source;
use tools_http::{Request, Response};
use tools_web::search::{self, SearchBackend, SearchError, SearchQuery, SearchResult};

use super::{BACKENDS, at, host, parameter, service};

fn request(query: &SearchQuery<'_>) -> Result<Request, SearchError> {
    Ok(Request::get(
        query.endpoint("find", &[("words", query.query)]).as_str(),
    )?)
}

fn results(response: &Response) -> Result<Vec<SearchResult>, SearchError> {
    let answer = search::json_answer(response)?;
    let hits = search::items(&answer, "hits").ok_or_else(|| search::missing(response, "hits"))?;
    Ok(hits
        .iter()
        .map(|hit| SearchResult::from_json(hit, "headline", "link", "extract"))
        .collect())
}

const LIBRARY: SearchBackend = SearchBackend {
    name: "library",
    description: "the catalogue of the library",
    source: source!(),
    base_url: Some("https://library.example.org"),
    key: None,
    is_proven: true,
    has_language: false,
    request,
    results,
    fault: |_, _| None,
};

search::inventory::submit! { LIBRARY }
search::inventory::submit! { SearchBackend { name: "twin", ..LIBRARY } }
search::inventory::submit! { SearchBackend { name: "twin", ..LIBRARY } }
search::inventory::submit! { SearchBackend { name: "not a name", ..LIBRARY } }

#[test]
fn the_backends_of_this_crate_are_linked_and_unproven() {
    let own: Vec<_> = search::list()
        .into_iter()
        .filter(|backend| backend.source.crate_name == "toolcrib-web" && backend.name != "library")
        .collect();
    assert_eq!(
        own.iter().map(|backend| backend.name).collect::<Vec<_>>(),
        BACKENDS
    );
    for backend in own {
        assert!(!backend.is_proven, "{}", backend.name);
        // The table of the README says so.
        let row = format!("| `{}` |", backend.name);
        let readme = include_str!("../../../README.md");
        let row = readme.lines().find(|line| line.starts_with(&row)).unwrap();
        assert!(row.ends_with("| never |"), "{row}");
    }
}

#[tokio::test]
async fn another_crate_adds_a_backend() {
    let server = service(
        json!({"hits": [{"headline": "A", "link": "https://example.org/", "extract": "b"}]})
            .to_string(),
    )
    .await;
    let value = host(at("library", &server))
        .value("web.search", json!({"query": "rust"}))
        .await;
    assert_eq!(
        value["results"],
        json!([{"title": "A", "url": "https://example.org/", "snippet": "b"}])
    );
    assert_eq!(
        parameter(&server.received()[0], "words").as_deref(),
        Some("rust")
    );
}

#[test]
fn a_name_that_is_unknown_taken_twice_or_invalid_is_an_error() {
    let unknown = search::get("altavista").unwrap_err();
    assert!(
        matches!(&unknown, LookupError::Unknown { known, .. } if known.contains(&"brave")),
        "{unknown}"
    );
    let twice = search::get("twin").unwrap_err();
    assert!(
        matches!(&twice, LookupError::Conflict(conflict) if conflict.sources.len() == 2),
        "{twice}"
    );
    assert_eq!(
        linked::conflicts::<SearchBackend>()
            .iter()
            .map(|conflict| conflict.name)
            .collect::<Vec<_>>(),
        ["twin"]
    );
    assert_eq!(
        linked::problems::<SearchBackend>()
            .iter()
            .map(|problem| problem.name)
            .collect::<Vec<_>>(),
        ["not a name"]
    );
}
