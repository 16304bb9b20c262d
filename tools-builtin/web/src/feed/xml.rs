//! RSS and Atom.

use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::{Entry, Feed};
use crate::html::decoded_value;

/// A text of a feed or an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Link,
    Id,
    Date,
    Summary,
    /// The whole text of an entry, which stands for its summary if it has none.
    Content,
}

#[derive(Debug, Default)]
struct FeedReader {
    feed: Feed,
    depth: usize,
    /// The depth of the feed's own fields: those of Atom are not in a channel.
    field_depth: usize,
    /// The entry that is being read, and its depth.
    entry: Option<(Entry, usize)>,
    field: Option<(Field, usize)>,
    text: String,
}

/// Reads a feed. Returns `None` if the document's root is of another kind.
pub(crate) fn read(text: &str) -> Option<Feed> {
    let mut xml = Reader::from_str(text);
    let config = xml.config_mut();
    // Feeds are often written by hand.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut reader = FeedReader::default();
    loop {
        match xml.read_event() {
            Ok(Event::Start(start)) => {
                if reader.depth == 0 {
                    reader.field_depth = match local(start.name().as_ref()) {
                        "rss" | "RDF" => 3,
                        "feed" => 2,
                        _ => return None,
                    };
                }
                reader.start(&start);
            }
            Ok(Event::End(_)) => {
                if !reader.end() {
                    break;
                }
            }
            Ok(Event::Text(text)) => reader.push(&text),
            Ok(Event::CData(text)) => reader.push(&text),
            Ok(Event::GeneralRef(reference)) => reader.push(&resolve(&reference)),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                reader.feed.is_broken = true;
                break;
            }
        }
    }
    if reader.field_depth == 0 {
        return None;
    }
    if let Some((entry, _)) = reader.entry {
        reader.feed.push(entry);
    }
    Some(reader.feed)
}

impl FeedReader {
    fn start(&mut self, start: &BytesStart<'_>) {
        self.depth += 1;
        let qualified = start.name();
        let name = qualified.as_ref();
        if self.field.is_some() {
            // Elements of XHTML separate words.
            return self.text.push(' ');
        }
        if self.entry.is_none() && matches!(local(name), "item" | "entry") {
            self.entry = Some((Entry::default(), self.depth));
            return;
        }
        let entry = self.entry.as_ref();
        let depth = entry.map_or(self.field_depth, |(_, depth)| depth + 1);
        if self.depth != depth {
            return;
        }
        if local(name) == "link"
            && let Some(address) = alternate(start)
        {
            return self.set(Field::Link, address);
        }
        self.field = field(name).map(|field| (field, self.depth));
        self.text.clear();
    }

    fn push(&mut self, text: &str) {
        if self.field.is_some() {
            self.text.push_str(text);
        }
    }

    /// Ends an element. Returns false if there are too many entries.
    fn end(&mut self) -> bool {
        if let Some((field, _)) = self.field.take_if(|(_, depth)| *depth == self.depth) {
            let text = std::mem::take(&mut self.text);
            self.set(field, text);
        }
        let ended = self.entry.take_if(|(_, depth)| *depth == self.depth);
        self.depth = self.depth.saturating_sub(1);
        ended.is_none_or(|(entry, _)| self.feed.push(entry))
    }

    /// Sets a field of the entry or of the feed. The first of several texts counts, but a summary counts before the content.
    fn set(&mut self, field: Field, text: String) {
        let slot = match (&mut self.entry, field) {
            (Some((entry, _)), Field::Title) => &mut entry.title,
            (Some((entry, _)), Field::Link) => &mut entry.link,
            (Some((entry, _)), Field::Date) => &mut entry.date,
            (Some((entry, _)), Field::Summary) => {
                entry.summary = text;
                return;
            }
            (Some((entry, _)), Field::Content) => &mut entry.summary,
            // The identity of an entry of RSS is its address, unless it has another.
            (Some((entry, _)), Field::Id) if text.trim_start().starts_with("http") => {
                &mut entry.link
            }
            (None, Field::Title) => &mut self.feed.title,
            (None, Field::Link) => &mut self.feed.link,
            (None, Field::Summary) => &mut self.feed.summary,
            _ => return,
        };
        if slot.is_empty() {
            *slot = text;
        }
    }
}

fn field(name: &str) -> Option<Field> {
    // `media:title` and others describe attachments.
    Some(match name {
        "title" | "atom:title" | "rss:title" => Field::Title,
        "link" | "rss:link" => Field::Link,
        "guid" => Field::Id,
        "pubDate" | "dc:date" | "published" | "updated" | "issued" | "modified"
        | "atom:updated" => Field::Date,
        "description" | "summary" | "subtitle" | "tagline" | "atom:summary" | "rss:description" => {
            Field::Summary
        }
        "content:encoded" | "content" | "atom:content" => Field::Content,
        _ => return None,
    })
}

/// Returns the address of `<link href>`, unless it is of something beside the entry.
fn alternate(start: &BytesStart<'_>) -> Option<String> {
    let mut href = None;
    let mut is_alternate = true;
    // Comparing each attribute with all others would be quadratic.
    for attribute in start.attributes().with_checks(false).flatten() {
        match attribute.key.as_ref() {
            "href" => href = Some(decoded_value(&attribute.value).into_owned()),
            "rel" => is_alternate = attribute.value.as_ref() == "alternate",
            _ => {}
        }
    }
    href.filter(|_| is_alternate)
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Returns the text of a reference, which may be one of HTML.
fn resolve(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name: &str = reference;
    resolve_html5_entity(name).map_or_else(|| format!("&{name};"), str::to_owned)
}
