//! JSON Feed.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{Entry, Feed, MAX_ENTRIES};

/// The fields of a JSON Feed that a model reads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JsonFeed {
    version: String,
    title: String,
    home_page_url: String,
    description: String,
    items: Items,
}

/// The first items of a feed. Further ones are not kept while they are read.
#[derive(Debug, Default)]
struct Items {
    items: Vec<Item>,
    has_more: bool,
}

#[derive(Debug, Deserialize)]
struct Item {
    title: Option<String>,
    url: Option<String>,
    date_published: Option<String>,
    summary: Option<String>,
    content_text: Option<String>,
    content_html: Option<String>,
}

/// Reads a feed. Returns `None` for other JSON.
pub(crate) fn read(text: &str) -> Option<Feed> {
    let feed: JsonFeed = serde_json::from_str(text).ok()?;
    if !feed.version.contains("://jsonfeed.org/version/") {
        return None;
    }
    let entries = feed.items.items.into_iter().map(|item| Entry {
        title: item.title.unwrap_or_default(),
        link: item.url.unwrap_or_default(),
        date: item.date_published.unwrap_or_default(),
        summary: item
            .summary
            .or(item.content_text)
            .or(item.content_html)
            .unwrap_or_default(),
    });
    Some(Feed {
        title: feed.title,
        link: feed.home_page_url,
        summary: feed.description,
        entries: entries.collect(),
        has_more: feed.items.has_more,
        is_broken: false,
    })
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;

        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items, A::Error> {
                let mut items = Items::default();
                while items.items.len() < MAX_ENTRIES {
                    let Some(item) = list.next_element()? else {
                        return Ok(items);
                    };
                    items.items.push(item);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    items.has_more = true;
                }
                Ok(items)
            }
        }

        deserializer.deserialize_seq(ItemsVisitor)
    }
}
