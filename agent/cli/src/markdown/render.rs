//! [`render`]: the lines of finished Markdown.

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd};

use super::OPTIONS;
use super::code::{CODE, CodeBlock};
use super::table::Table;
use super::wrap::{Spans, painted};
use crate::fit;
use crate::notice::{FAINT, STRONG};

/// The columns of a rule.
const RULE: usize = 40;
/// The lists and quotes around a text that are shown.
const MAX_DEPTH: usize = 10;
/// The minimum columns of a text in lists and quotes.
const MIN_ROOM: usize = 10;

/// Returns the lines of Markdown. They take at most this number of columns, except long words and code.
pub(super) fn render(source: &str, width: usize) -> Vec<String> {
    let mut page = Page::new(width);
    let parser = Parser::new_ext(source, OPTIONS);
    // They are no text, and a person should see all that a model writes.
    let definitions = parser.reference_definitions().iter();
    let mut definitions: Vec<_> = definitions
        .map(|(_, definition)| definition.span.clone())
        .collect();
    definitions.sort_by_key(|span| span.start);
    parser.for_each(|event| page.event(event));
    page.end_text();
    for span in definitions {
        page.begin_block();
        page.spans.push(FAINT, source[span].trim());
        page.end_text();
        page.has_gap = false;
    }
    page.lines
}

/// A quote or an item of a list around text.
enum Container {
    Quote,
    Item {
        marker: String,
        is_begun: bool,
        is_loose: bool,
    },
}

struct Page {
    lines: Vec<String>,
    width: usize,
    containers: Vec<Container>,
    /// The number of the next item of each list. `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    /// The text of the block in progress.
    spans: Spans,
    /// The targets of the links and images around the text.
    targets: Vec<(usize, String)>,
    code: Option<(CodeBlock, String)>,
    table: Option<Table>,
    /// True if an empty line separates the next block.
    has_gap: bool,
}

impl Page {
    fn new(width: usize) -> Self {
        Self {
            lines: Vec::new(),
            width,
            containers: Vec::new(),
            lists: Vec::new(),
            styles: vec![Style::new()],
            spans: Spans::default(),
            targets: Vec::new(),
            code: None,
            table: None,
            has_gap: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => *code += &text,
                None => self.text(self.style(), &text),
            },
            Event::Code(code) => self.text(CODE.effects(self.style().get_effects()), &code),
            // Its line breaks stay.
            Event::Html(html) => self.text(FAINT, &html),
            Event::InlineHtml(html) => self.text(FAINT, &html),
            Event::SoftBreak => self.text(self.style(), " "),
            Event::HardBreak => self.text(self.style(), "\n"),
            Event::Rule => {
                self.begin_block();
                let rule = "─".repeat(self.room().min(RULE));
                self.push(vec![painted(FAINT, &rule)]);
                self.has_gap = true;
            }
            Event::TaskListMarker(is_done) => {
                self.text(self.style(), if is_done { "[x] " } else { "[ ] " });
            }
            // Their extensions are off.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(self.style(), &text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                if let Some(Container::Item { is_loose, .. }) = self.containers.last_mut() {
                    *is_loose = true;
                }
                self.begin_block();
            }
            Tag::Heading { level, .. } => {
                self.begin_block();
                let style = match level {
                    HeadingLevel::H1 | HeadingLevel::H2 => STRONG.underline(),
                    _ => STRONG,
                };
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                self.code = Some((CodeBlock::with_info(&info), String::new()));
            }
            Tag::List(start) => {
                self.end_text();
                self.begin_block();
                self.lists.push(start);
            }
            Tag::Item => {
                self.begin_block();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => "• ".to_owned(),
                };
                self.containers.push(Container::Item {
                    marker,
                    is_begun: false,
                    is_loose: false,
                });
            }
            Tag::Table(alignments) => {
                self.begin_block();
                let rows = Vec::new();
                self.table = Some(Table { alignments, rows });
            }
            Tag::TableHead | Tag::TableRow => {
                let is_head = matches!(tag, Tag::TableHead);
                self.styles
                    .push(if is_head { STRONG } else { Style::new() });
                self.table
                    .iter_mut()
                    .for_each(|table| table.rows.push(Vec::new()));
            }
            Tag::Emphasis => self.styles.push(self.style().italic()),
            Tag::Strong => self.styles.push(self.style().bold()),
            Tag::Strikethrough => self.styles.push(self.style().strikethrough()),
            Tag::Link {
                dest_url, title, ..
            } => self.start_link(&dest_url, &title),
            Tag::Image {
                dest_url, title, ..
            } => {
                self.text(FAINT, "[image] ");
                self.start_link(&dest_url, &title);
            }
            Tag::HtmlBlock => self.begin_block(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_text(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_text();
            }
            TagEnd::BlockQuote(_) => {
                self.containers.pop();
                self.has_gap = true;
            }
            TagEnd::CodeBlock => {
                let Some((block, code)) = self.code.take() else {
                    return;
                };
                self.push(block.title().into_iter().collect());
                for line in code.lines() {
                    self.push(block.rows(line, self.room()));
                }
                self.has_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.has_gap = true;
            }
            TagEnd::Item => {
                self.end_text();
                if let Some(Container::Item {
                    is_begun, is_loose, ..
                }) = self.containers.last()
                {
                    self.has_gap = *is_loose;
                    if !is_begun {
                        // An item without text.
                        self.push(vec![String::new()]);
                    }
                }
                self.containers.pop();
            }
            TagEnd::Table => {
                let table = self.table.take();
                let lines = table.map(|table| table.lines(self.room()));
                self.push(lines.unwrap_or_default());
                self.has_gap = true;
            }
            TagEnd::TableHead | TagEnd::TableRow => drop(self.styles.pop()),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                if let Some(row) = row {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, style: Style, text: &str) {
        self.spans.push(style, text);
    }

    fn start_link(&mut self, url: &str, title: &str) {
        let title = if title.is_empty() {
            String::new()
        } else {
            format!(" \"{title}\"")
        };
        self.targets
            .push((self.spans.text().len(), format!("{url}{title}")));
        self.styles.push(self.style().underline());
    }

    /// Shows the target of a link behind its text, unless the text is the target.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((start, target)) = self.targets.pop() else {
            return;
        };
        let text = self.spans.text();
        if text.get(start..) != Some(&target) {
            let style = self.style();
            self.text(style, " ");
            self.text(FAINT, &format!("({target})"));
        }
    }

    /// Separates a block from the one before it.
    fn begin_block(&mut self) {
        self.end_text();
        if std::mem::take(&mut self.has_gap) {
            let prefix = self.prefix();
            self.lines.push(prefix.trim_end().to_owned());
        }
    }

    /// Ends a block of text, if there is one.
    fn end_text(&mut self) {
        if self.spans.is_empty() || self.table.is_some() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        self.push(spans.wrap(self.room(), false));
        // A tight item has its text without a paragraph, and no empty line behind it.
        let is_tight = matches!(
            self.containers.last(),
            Some(Container::Item {
                is_loose: false,
                ..
            })
        );
        self.has_gap = !is_tight;
    }

    fn push(&mut self, lines: Vec<String>) {
        for line in lines {
            let start = self.start_of_line();
            self.lines.push((start + &line).trim_end().to_owned());
        }
    }

    /// Returns the beginning of the next line, with the markers of the items that it begins.
    fn start_of_line(&mut self) -> String {
        let mut start = String::new();
        for (depth, container) in self.containers.iter_mut().enumerate() {
            let space = container.space();
            let begun = container.begin();
            if depth < MAX_DEPTH {
                start += &begun.unwrap_or(space);
            }
        }
        start
    }

    /// Returns the beginning of a further line.
    fn prefix(&self) -> String {
        let containers = self.containers.iter().take(MAX_DEPTH);
        containers.map(Container::space).collect()
    }

    /// Returns the columns for text inside of the lists and quotes.
    fn room(&self) -> usize {
        let used = fit::columns(&self.prefix());
        self.width.saturating_sub(used).max(MIN_ROOM)
    }
}

impl Container {
    /// Returns the marker of an item that begins.
    fn begin(&mut self) -> Option<String> {
        let Self::Item {
            marker, is_begun, ..
        } = self
        else {
            return None;
        };
        (!std::mem::replace(is_begun, true)).then(|| marker.clone())
    }

    /// Returns the beginning of a line that does not begin an item.
    fn space(&self) -> String {
        match self {
            Self::Quote => painted(FAINT, "│ "),
            Self::Item { marker, .. } => " ".repeat(fit::columns(marker)),
        }
    }
}
