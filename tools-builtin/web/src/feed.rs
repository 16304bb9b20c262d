//! Feeds: RSS, Atom and JSON Feed.

pub(crate) mod json;
pub(crate) mod xml;

use std::borrow::Cow;

use tools::head;
use url::Url;

use crate::html;
use crate::html::{Base, Stop};
use crate::markdown::{Notation, destination, escape_lines, escape_text};

/// The maximum length of an entry's summary in characters.
const MAX_SUMMARY: usize = 500;

/// The maximum length of a title in characters.
const MAX_TITLE: usize = 300;

/// The maximum number of entries. Feeds that people read have fewer, and a small body can hold hundreds of thousands.
const MAX_ENTRIES: usize = 500;

/// The part of a text that is read, in bytes, of which its first characters are kept.
const MAX_SOURCE: usize = 16 * 1024;

/// A feed, whose texts may contain HTML.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    title: String,
    link: String,
    summary: String,
    entries: Vec<Entry>,
    /// True if there are more entries than are kept.
    has_more: bool,
    /// True if the feed is not well-formed, so that its end is missing.
    is_broken: bool,
}

#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    summary: String,
}

impl Feed {
    /// Returns the title as text.
    pub(crate) fn title(&self, url: &Url) -> Option<String> {
        Some(plain(&self.title, url, MAX_TITLE)).filter(|title| !title.is_empty())
    }

    /// Returns title, date, address and summary of each entry, in at most `limit` bytes, and notes about what is missing. Addresses
    /// become absolute.
    pub(crate) fn write(
        &self,
        url: &Url,
        notation: Notation,
        limit: usize,
        stop: Stop<'_>,
    ) -> (String, Vec<String>) {
        let mut blocks = Vec::new();
        let address = address(&self.link, url);
        heading(&mut blocks, 1, self.title(url), address, notation);
        let summary = plain(&self.summary, url, MAX_SUMMARY);
        push(&mut blocks, &summary, notation);
        let mut text = blocks.join("\n\n");
        let mut written = 0;
        for entry in &self.entries {
            let block = entry.write(url, notation);
            if text.len() + block.len() + 2 > limit || stop() {
                break;
            }
            text.push_str("\n\n");
            text.push_str(&block);
            written += 1;
        }
        let mut notes = Vec::new();
        if self.has_more || written < self.entries.len() {
            notes.push(format!("the feed has more than these {written} entries"));
        }
        if self.is_broken {
            notes.push("the feed is not well-formed, so later entries are missing".to_owned());
        }
        (text, notes)
    }

    /// Appends an entry. Returns false if there are too many.
    fn push(&mut self, entry: Entry) -> bool {
        self.has_more |= self.entries.len() == MAX_ENTRIES;
        if !self.has_more {
            self.entries.push(entry);
        }
        !self.has_more
    }
}

impl Entry {
    fn write(&self, url: &Url, notation: Notation) -> String {
        let mut blocks = Vec::new();
        let title = Some(plain(&self.title, url, MAX_TITLE)).filter(|title| !title.is_empty());
        heading(&mut blocks, 2, title, address(&self.link, url), notation);
        push(&mut blocks, &plain(&self.date, url, MAX_TITLE), notation);
        let summary = plain(&self.summary, url, MAX_SUMMARY);
        push(&mut blocks, &summary, notation);
        blocks.join("\n\n")
    }
}

/// Appends a heading with its address.
fn heading(
    blocks: &mut Vec<String>,
    level: usize,
    title: Option<String>,
    address: Option<String>,
    notation: Notation,
) {
    let title = title.unwrap_or_else(|| "untitled".to_owned());
    let marks = "#".repeat(level);
    blocks.push(match (notation, address) {
        (Notation::Markdown, Some(address)) => {
            let title = escape_text(&title);
            format!("{marks} [{title}]({})", destination(&address))
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
    let html = head(html, MAX_SOURCE);
    // Most texts have no markup.
    let text = if html.contains(['<', '&', '\u{AD}']) {
        Cow::Owned(html::convert(html, url, Notation::Plain, true, &|| false).text)
    } else {
        Cow::Borrowed(html)
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

fn address(link: &str, url: &Url) -> Option<String> {
    Base::new(url).source(link.trim())
}
