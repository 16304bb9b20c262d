//! Feeds: RSS, Atom and JSON Feed.

mod json;
mod xml;

use url::Url;

use crate::html;
use crate::markdown::{Notation, destination, escape_lines, escape_text};

/// The maximum length of an entry's summary in characters.
const MAX_SUMMARY: usize = 500;

/// The maximum length of a title in characters.
const MAX_TITLE: usize = 300;

/// A feed, whose texts may contain HTML.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    title: String,
    link: String,
    summary: String,
    entries: Vec<Entry>,
    /// True if the feed is not well-formed, so that its end is missing.
    pub(crate) is_cut: bool,
}

#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    summary: String,
}

impl Feed {
    /// Reads an XML document. Returns `None` if it is no feed.
    pub(crate) fn from_xml(text: &str) -> Option<Self> {
        xml::read(text)
    }

    /// Reads a JSON document. Returns `None` if it is no feed.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        json::read(text)
    }

    /// Returns the title as text.
    pub(crate) fn title(&self, url: &Url) -> Option<String> {
        Some(plain(&self.title, url, MAX_TITLE)).filter(|title| !title.is_empty())
    }

    /// Returns title, date, address and summary of each entry. Addresses become absolute.
    pub(crate) fn write(&self, url: &Url, notation: Notation) -> String {
        let mut blocks = Vec::new();
        heading(&mut blocks, 1, self.title(url), address(&self.link, url), notation);
        push(&mut blocks, &plain(&self.summary, url, MAX_SUMMARY), notation);
        for entry in &self.entries {
            let title = plain(&entry.title, url, MAX_TITLE);
            let link = address(&entry.link, url);
            heading(&mut blocks, 2, Some(title).filter(|title| !title.is_empty()), link, notation);
            push(&mut blocks, &plain(&entry.date, url, MAX_TITLE), notation);
            push(&mut blocks, &plain(&entry.summary, url, MAX_SUMMARY), notation);
        }
        blocks.join("\n\n")
    }
}

/// Appends a heading with its address.
fn heading(blocks: &mut Vec<String>, level: usize, title: Option<String>, address: Option<String>, notation: Notation) {
    let title = title.unwrap_or_else(|| "untitled".to_owned());
    let marks = "#".repeat(level);
    blocks.push(match (notation, address) {
        (Notation::Markdown, Some(address)) => {
            format!("{marks} [{}]({})", escape_text(&title), destination(&address))
        }
        (Notation::Markdown, None) => format!("{marks} {}", escape_text(&title)),
        (Notation::Plain, Some(address)) => format!("{title}\n{address}"),
        (Notation::Plain, None) => title,
    });
}

fn push(blocks: &mut Vec<String>, text: &str, notation: Notation) {
    if !text.is_empty() {
        blocks.push(match notation {
            Notation::Markdown => escape_lines(&escape_text(text)),
            Notation::Plain => text.to_owned(),
        });
    }
}

/// Returns the text of HTML in one line, cut after a number of characters.
fn plain(html: &str, url: &Url, limit: usize) -> String {
    let text = html::convert(html, url, Notation::Plain, true).text;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

fn address(link: &str, url: &Url) -> Option<String> {
    let link = link.trim();
    let address =
        url.join(link).ok().filter(|address| !link.is_empty() && matches!(address.scheme(), "http" | "https"));
    address.map(String::from)
}
