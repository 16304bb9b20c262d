//! Streamable HTTP over loopback.

mod answers;
mod challenge;
mod login;
mod reach;
mod real;
mod site;

use super::*;

#[test]
fn a_header_of_the_protocol_cannot_be_set_and_values_are_not_shown() {
    let server = HttpServer::new("https://mcp.example.org/mcp").unwrap();
    for name in [
        "Accept",
        "Mcp-Session-Id",
        "mcp-method",
        "Last-Event-ID",
        "content-type",
    ] {
        assert!(
            matches!(
                server.clone().with_header(name, "x"),
                Err(HttpError::Header { .. })
            ),
            "{name}"
        );
    }
    for (name, value) in [("a b", "x"), ("", "x"), ("x-a", "a\nb")] {
        assert!(
            matches!(
                server.clone().with_header(name, value),
                Err(HttpError::Option { .. })
            ),
            "{name}"
        );
    }
    let server = server
        .with_header("x-team", "hidden")
        .unwrap()
        .with_secret("x-key", "Bearer hidden")
        .unwrap();
    let shown = format!("{server:?}");
    assert!(
        shown.contains("x-team") && shown.contains("x-key") && !shown.contains("hidden"),
        "{shown}"
    );
}
