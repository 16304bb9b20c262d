//! [`render`]: the lines of finished Markdown.

use std::mem;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::code;
use super::table::Table;
use super::wrap::{Spans, painted};
use host::fit;
use host::style::{FAINT, STRONG};

/// The extensions of GitHub that models use.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);
/// The columns of a rule.
const RULE: usize = 40;
/// The minimum columns of a text in lists and quotes.
const MIN_ROOM: usize = 10;
/// The lists and quotes around a text that are shown.
const MAX_DEPTH: usize = 10;

/// Returns the lines of Markdown. They take at most this number of columns, except long words and code.
pub(super) fn render(source: &str, width: usize) -> Vec<String> {
    let mut page = Page {
        width,
        ..Page::default()
    };
    let parser = Parser::new_ext(source, OPTIONS);
    let definitions = parser.reference_definitions().iter();
    let mut definitions: Vec<_> = definitions
        .map(|(_, definition)| definition.span.clone())
        .collect();
    definitions.sort_by_key(|span| span.start);
    parser.for_each(|event| page.event(event));
    page.end_text();
    // They are no text, and a person should see all that a model writes.
    for span in definitions {
        page.begin_block();
        page.spans.push(FAINT, source[span].trim());
        page.end_text();
        page.has_gap = false;
    }
    page.lines
}

/// A quote or an item of a list around text.
struct Container {
    /// The beginning of the first line, until it is written.
    marker: Option<String>,
    /// The beginning of the other lines.
    space: String,
    /// True if an empty line separates the blocks.
    is_loose: bool,
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
    width: usize,
    containers: Vec<Container>,
    /// The number of the next item of each list. `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    /// The text of the block in progress.
    spans: Spans,
    /// The targets of the links and images around the text, and the starts of their texts.
    targets: Vec<(usize, String)>,
    code: Option<String>,
    table: Option<Table>,
    /// True if an empty line separates the next block.
    has_gap: bool,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        let style = self.style();
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => {
                self.code.iter_mut().for_each(|code| *code += &text)
            }
            Event::Text(text) => self.spans.push(style, &text),
            Event::Code(text) => self
                .spans
                .push(code::CODE.effects(style.get_effects()), &text),
            Event::Html(text) | Event::InlineHtml(text) => self.spans.push(FAINT, &text),
            Event::SoftBreak => self.spans.push(style, " "),
            Event::HardBreak => self.spans.push(style, "\n"),
            Event::TaskListMarker(is_done) => self
                .spans
                .push(style, if is_done { "[x] " } else { "[ ] " }),
            Event::Rule => {
                self.begin_block();
                self.push(vec![painted(FAINT, &"─".repeat(self.room().min(RULE)))]);
                self.has_gap = true;
            }
            // Their extensions are off.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let style = self.style();
        match tag {
            Tag::Emphasis => self.styles.push(style.italic()),
            Tag::Strong => self.styles.push(style.bold()),
            Tag::Strikethrough => self.styles.push(style.strikethrough()),
            Tag::TableHead | Tag::TableRow => {
                self.styles
                    .push(if tag == Tag::TableHead { STRONG } else { style });
                self.table
                    .iter_mut()
                    .for_each(|table| table.rows.push(Vec::new()));
            }
            Tag::TableCell => {}
            Tag::Link {
                dest_url, title, ..
            }
            | Tag::Image {
                dest_url, title, ..
            } => {
                let title = if title.is_empty() {
                    String::new()
                } else {
                    format!(" \"{title}\"")
                };
                self.targets
                    .push((self.spans.plain.len(), format!("{dest_url}{title}")));
                self.styles.push(style.underline());
            }
            block => {
                self.begin_block();
                self.start_block(block);
            }
        }
    }

    fn start_block(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self
                .containers
                .last_mut()
                .into_iter()
                .for_each(|container| container.is_loose = true),
            Tag::Heading { level, .. } => self.styles.push(match level {
                HeadingLevel::H1 | HeadingLevel::H2 => STRONG.underline(),
                _ => STRONG,
            }),
            Tag::BlockQuote(_) => self.enter(None, painted(FAINT, "│ ")),
            Tag::CodeBlock(kind) => {
                if let CodeBlockKind::Fenced(info) = kind {
                    self.push(code::title(&info).into_iter().collect());
                }
                self.code = Some(String::new());
            }
            Tag::List(start) => self.lists.push(start),
            Tag::Item => {
                let number = self.lists.last_mut().and_then(Option::as_mut);
                let marker = number.map_or("• ".to_owned(), |number| {
                    *number = number.saturating_add(1);
                    format!("{}. ", *number - 1)
                });
                let space = " ".repeat(fit::columns(&marker));
                self.enter(Some(marker), space);
            }
            Tag::Table(alignments) => {
                let rows = Vec::new();
                self.table = Some(Table { alignments, rows });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::TableHead
            | TagEnd::TableRow => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                let Some((start, target)) = self.targets.pop() else {
                    return;
                };
                // The text of a link may be another address than its target.
                if self.spans.plain.get(start..) != Some(&target) {
                    self.spans.push(FAINT, &format!(" ({target})"));
                }
            }
            TagEnd::TableCell => {
                let cell = mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_text();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                let room = self.room();
                let lines = code.lines().flat_map(|line| code::rows(line, room));
                self.push(lines.collect());
                self.has_gap = true;
            }
            TagEnd::Table => {
                let table = self.table.take();
                self.push(table.map_or(Vec::new(), |table| table.lines(self.room())));
                self.has_gap = true;
            }
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.end_text();
                let container = self.containers.last();
                self.has_gap = container.is_none_or(|container| container.is_loose);
                if container.is_some_and(|container| container.marker.is_some()) {
                    // An item without text.
                    self.push(vec![String::new()]);
                }
                self.containers.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.has_gap = true;
            }
            _ => self.end_text(),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn enter(&mut self, marker: Option<String>, space: String) {
        let is_shown = self.containers.len() < MAX_DEPTH;
        self.containers.push(Container {
            is_loose: marker.is_none(),
            marker: marker.filter(|_| is_shown),
            space: if is_shown { space } else { String::new() },
        });
    }

    /// Separates a block from the one before it.
    fn begin_block(&mut self) {
        self.end_text();
        if mem::take(&mut self.has_gap) {
            self.lines.push(self.space().trim_end().to_owned());
        }
    }

    /// Ends a block of text, if there is one.
    fn end_text(&mut self) {
        if !self.spans.plain.is_empty() && self.table.is_none() {
            let lines = mem::take(&mut self.spans).wrap(self.room(), false);
            self.push(lines);
            // A tight item has its text without a paragraph.
            self.has_gap = self
                .containers
                .last()
                .is_none_or(|container| container.is_loose);
        }
    }

    fn push(&mut self, lines: Vec<String>) {
        for line in lines {
            let starts = self.containers.iter_mut();
            let starts = starts.map(|container| {
                container
                    .marker
                    .take()
                    .unwrap_or_else(|| container.space.clone())
            });
            let line = starts.collect::<String>() + &line;
            self.lines.push(line.trim_end().to_owned());
        }
    }

    /// Returns the beginning of a further line.
    fn space(&self) -> String {
        self.containers
            .iter()
            .map(|container| &*container.space)
            .collect()
    }

    /// Returns the columns for text inside of the lists and quotes.
    fn room(&self) -> usize {
        let used = fit::columns(&self.space());
        self.width.saturating_sub(used).max(MIN_ROOM)
    }
}
