//! JSON Feed.

use serde::Deserialize;

use super::{Entry, Feed};

/// The fields of a JSON Feed that a model reads.
#[derive(Debug, Deserialize)]
struct JsonFeed {
    version: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    home_page_url: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    date_published: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    content_text: Option<String>,
    #[serde(default)]
    content_html: Option<String>,
}

/// Reads a feed. Returns `None` for other JSON.
pub(super) fn read(text: &str) -> Option<Feed> {
    let feed: JsonFeed = serde_json::from_str(text).ok()?;
    if !feed.version.contains("://jsonfeed.org/version/") {
        return None;
    }
    let entries = feed.items.into_iter().map(|item| Entry {
        title: item.title.unwrap_or_default(),
        link: item.url.unwrap_or_default(),
        date: item.date_published.unwrap_or_default(),
        summary: item.summary.or(item.content_text).or(item.content_html).unwrap_or_default(),
    });
    Some(Feed {
        title: feed.title,
        link: feed.home_page_url,
        summary: feed.description,
        entries: entries.collect(),
        is_cut: false,
    })
}
