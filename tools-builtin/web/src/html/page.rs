//! [`Builder`]: writes a page from its tokens.

mod blocks;
mod end;
mod start;
mod void;

use url::Url;

use super::attributes::{Attribute, Attributes};
use super::element::Element;
use super::frame::Effect;
use super::open_elements::OpenElements;
use super::refresh::{self, Base};
use super::script::{ScriptSigns, push_words};
use super::tokens::Sink;
use super::visibility::LeftOut;
use super::{Cut, Page};
use crate::html::Stop;
use crate::markdown::{
    Document, Inline, Notation, Table, destination, escape_text, in_code, without_break_marks,
};

/// The maximum length of a title in bytes.
const MAX_TITLE: usize = 300;

/// The least text that `<main>` must have to stand for the page, in bytes.
const MIN_MAIN: usize = 200;

/// A page with less text than this, in bytes, may only lead on to another one.
pub(crate) const LITTLE_TEXT: usize = 300;

/// The number of tokens after which the builder asks whether to stop.
const TOKENS_PER_CHECK: u32 = 256;

/// Writes a page while its tokens are read.
pub(super) struct Builder<'a> {
    open: OpenElements,
    document: Document,
    inline: Inline,
    /// The table whose cells are being read, and the position of its element.
    table: Option<(usize, Table)>,
    /// The positions of the open tables.
    tables: Vec<usize>,
    pre: Option<Pre>,
    heading: Option<u8>,
    /// The box of a task, for the next block.
    task: Option<&'static str>,
    language: Option<String>,
    /// The number of open elements with hidden content.
    hidden: usize,
    base: Base,
    title: Title,
    script: ScriptSigns,
    left_out: Vec<LeftOut>,
    /// The number of start tags, by which a part of the page is known when it is read again.
    starts: usize,
    /// The part beside the content that is open.
    beside: Option<usize>,
    /// The parts that are not left out, because they contain the content.
    kept: &'a [usize],
    /// The parts that were left out although they contain the content.
    with_content: Vec<usize>,
    /// The invisible part that is open.
    concealed: Option<usize>,
    /// The invisible parts that contain the content. They are kept if the page has no other text.
    invisible: Vec<usize>,
    /// The parts for browsers that run no scripts, which are hidden.
    fallbacks: Vec<usize>,
    /// The parts of the document that are in `<main>` or `<article>`.
    main: Vec<(usize, usize)>,
    has_main: bool,
    /// The address that the page leads on to.
    next: Option<String>,
    notation: Notation,
    whole: bool,
    limit: usize,
    stop: Stop<'a>,
    /// The number of tokens, of which every few hundredth asks whether to stop.
    tokens: u32,
    cut: Option<Cut>,
}

/// A code block that is being read.
#[derive(Debug, Default)]
struct Pre {
    text: String,
    language: Option<String>,
}

/// The title of the page, and the one for sharing it.
#[derive(Debug, Default)]
struct Title {
    text: String,
    shared: Option<String>,
    is_read: bool,
}

impl<'a> Builder<'a> {
    /// Begins a page. `kept` has the parts beside the content that are not left out.
    pub(super) fn new(
        url: &Url,
        notation: Notation,
        whole: bool,
        kept: &'a [usize],
        limit: usize,
        stop: Stop<'a>,
    ) -> Self {
        Self {
            open: OpenElements::new(),
            document: Document::new(notation, limit),
            inline: Inline::new(notation),
            table: None,
            tables: Vec::new(),
            pre: None,
            heading: None,
            task: None,
            language: None,
            hidden: 0,
            base: Base::new(url),
            title: Title::default(),
            script: ScriptSigns::default(),
            left_out: Vec::new(),
            starts: 0,
            beside: None,
            kept,
            with_content: Vec::new(),
            concealed: None,
            invisible: Vec::new(),
            fallbacks: Vec::new(),
            main: Vec::new(),
            has_main: false,
            next: None,
            notation,
            whole,
            limit,
            stop,
            tokens: 0,
            cut: None,
        }
    }

    /// Ends the page.
    pub(super) fn finish(mut self) -> Page {
        while self.open.len() > 0 {
            self.pop();
        }
        self.flush();
        let cut = self.cut.or(self.document.is_full().then_some(Cut::Length));
        let mut text = self.document.into_text();
        if !self.whole
            && self.has_main
            && let Some(main) = main_text(&text, &self.main)
        {
            self.left_out.push(LeftOut::OutsideMain);
            text = main;
        }
        if text.is_empty() {
            self.with_content.append(&mut self.invisible);
        }
        if self.script.has_fallback(&text) {
            self.with_content.append(&mut self.fallbacks);
        }
        self.left_out.sort_unstable();
        self.left_out.dedup();
        let title = self.title.into_text();
        let next = self
            .next
            .filter(|next| text.len() < LITTLE_TEXT && !self.base.is_page(next));
        let needs_scripts = next.is_none() && self.script.needs_scripts(&text);
        if let Some(next) = &next {
            text = match self.notation {
                Notation::Markdown => {
                    format!("{text}\n\n[{}]({})", escape_text(next), destination(next))
                }
                Notation::Plain => format!("{text}\n\n{next}"),
            };
            text = text.trim_start().to_owned();
        }
        let leads_on = next.is_some();
        Page {
            title,
            text,
            left_out: self.left_out,
            with_content: self.with_content,
            needs_scripts,
            leads_on,
            cut,
        }
    }

    /// Reads an element of the head.
    fn read_head(&mut self, element: Element, attributes: &Attributes) {
        match element {
            Element::Base => {
                if let Some(href) = attributes.value(Attribute::Href) {
                    self.base.set(href);
                }
            }
            Element::Meta if attributes.value(Attribute::Property) == Some("og:title") => {
                self.title.shared = attributes.value(Attribute::Content).map(clean);
            }
            Element::Meta if is_refresh(attributes) => {
                let content = attributes.value(Attribute::Content);
                self.lead_on(content.and_then(refresh::of_meta));
            }
            _ => {}
        }
        self.script.read(element, attributes);
    }

    /// Takes the first address that the page leads on to.
    fn lead_on(&mut self, address: Option<&str>) {
        if self.next.is_none() {
            self.next = address.and_then(|address| self.base.source(address));
        }
    }

    fn hidden_text(&mut self, text: &str) {
        if self.open.has(Element::Title) && !self.is_foreign() && !self.title.is_read {
            self.title.text = clean(text);
        }
        if self.open.has(Element::Noscript) {
            self.script.push_hint(text);
        }
    }
}

impl Sink for Builder<'_> {
    fn start(&mut self, element: Element, attributes: &Attributes) {
        self.start_element(element, attributes);
    }

    fn end(&mut self, element: Element) {
        self.end_element(element);
    }

    fn script(&mut self, script: &str) {
        self.lead_on(refresh::of_script(script));
    }

    fn text(&mut self, text: &str) {
        let text = &*without_break_marks(text);
        if self.hidden > 0 {
            return self.hidden_text(text);
        }
        let in_source = self.open.has(Element::Annotation);
        if self.open.has(Element::Math)
            && let Some(Effect::Formula(formula)) = self
                .open
                .innermost_mut(|effect| matches!(effect, Effect::Formula(_)))
        {
            if in_source {
                formula.source.push_str(text)
            } else {
                formula.symbols.push_str(text)
            }
            return;
        }
        match &mut self.pre {
            Some(pre) => pre.text.extend(text.chars().map(in_code)),
            None => self.inline.push_text(text),
        }
    }

    fn is_foreign(&self) -> bool {
        self.open.has(Element::Svg) || self.open.has(Element::Math)
    }

    fn is_over(&mut self) -> bool {
        let table = self.table.as_ref().map_or(0, |(_, table)| table.size());
        let pre = self.pre.as_ref().map_or(0, |pre| pre.text.len());
        if self.document.is_full()
            || self.document.len() + self.inline.len() + table + pre > self.limit
        {
            self.cut = Some(Cut::Length);
        }
        self.tokens = self.tokens.wrapping_add(1);
        if self.tokens.is_multiple_of(TOKENS_PER_CHECK) && (self.stop)() {
            self.cut = Some(Cut::Stopped);
        }
        self.cut.is_some()
    }
}

impl Title {
    fn into_text(self) -> Option<String> {
        [Some(self.text), self.shared]
            .into_iter()
            .flatten()
            .find(|title| !title.is_empty())
    }
}

fn is_refresh(attributes: &Attributes) -> bool {
    let name = attributes.value(Attribute::HttpEquiv);
    name.is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"))
}

/// Returns the first words of a text.
fn clean(text: &str) -> String {
    let mut title = String::new();
    push_words(&mut title, &without_break_marks(text), MAX_TITLE);
    title
}

/// Returns the text of the main content. Returns `None` if the page has none, or nothing beside it.
fn main_text(text: &str, main: &[(usize, usize)]) -> Option<String> {
    let parts: Vec<&str> = main
        .iter()
        .map(|&(start, end)| text[start..end].trim_matches('\n'))
        .collect();
    let joined = parts.join("\n\n");
    (joined.len() >= MIN_MAIN && joined.len() < text.len()).then_some(joined)
}
