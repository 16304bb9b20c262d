//! Tests of the index through its public interface.

#![allow(clippy::unwrap_used, reason = "tests")]

mod hostile;
mod search;

use proptest::prelude::*;
use protocol::Tool;
use serde_json::json;
use tools_search::Index;

/// Returns a small catalog of different tools.
fn tools() -> Vec<Tool> {
    let path =
        json!({"properties": {"path": {"type": "string", "description": "The file to read."}}});
    let place = json!({"properties": {
        "place": {"type": "object", "properties": {"city": {"description": "The city, in English."}}},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    }});
    vec![
        Tool::new("fs.read", "Reads a file.", path).unwrap(),
        Tool::new("fs.remove", "Deletes files for good.", json!({}))
            .unwrap()
            .with_tags(["dangerous"]),
        Tool::new("getWeather", "Returns the forecast.", place).unwrap(),
        Tool::new("mail.send", "Sends a message.", json!({}))
            .unwrap()
            .with_title("E-Mail to anybody"),
    ]
}

/// Returns the names of the results.
fn names(index: &Index, query: &str) -> Vec<String> {
    index
        .search(query, 10, |_| true)
        .into_iter()
        .map(|found| found.name.to_string())
        .collect()
}

/// Generates catalogs of tools that share words.
fn catalogs() -> impl Strategy<Value = Vec<Tool>> {
    let word = || {
        prop::sample::select(vec![
            "read", "file", "Files", "weather", "cityName", "send", "mail", "搜索", "s3",
        ])
    };
    let text = move || prop::collection::vec(word(), 0..6).prop_map(|words| words.join(" "));
    let tool = (
        0..40_u8,
        text(),
        prop::collection::vec((word(), text()), 0..3),
    )
        .prop_map(|(number, description, parameters)| {
            let properties: serde_json::Map<_, _> = parameters
                .into_iter()
                .map(|(name, text)| (name.to_owned(), json!({"description": text})))
                .collect();
            Tool::new(
                format!("tool_{number}"),
                description,
                json!({"properties": properties}),
            )
            .unwrap()
        });
    prop::collection::vec(tool, 0..30).prop_map(|mut tools| {
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        tools
    })
}
