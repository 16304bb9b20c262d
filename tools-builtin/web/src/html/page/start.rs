//! The start tags of a page.

use super::{Builder, Pre};
use crate::html::attributes::{Attribute, Attributes};
use crate::html::element::Element;
use crate::html::frame::{Effect, Formula};
use crate::html::language::language;
use crate::html::open_elements::is_scope;
use crate::html::visibility::{beside_content, is_hidden, is_invisible, is_line_number};
use crate::markdown::{Mark, Table, destination};

/// The maximum number of `<noscript>` that a page without other text shows.
const MAX_FALLBACKS: usize = 16;

/// Returns true for the elements that hold the content of a page.
fn effect_if(is_begun: bool, effect: Effect) -> Effect {
    if is_begun { effect } else { Effect::None }
}

fn is_content(element: Element, attributes: &Attributes) -> bool {
    matches!(element, Element::Main | Element::Article)
        || attributes.value(Attribute::Role) == Some("main")
}

impl Builder<'_> {
    /// Reads a start tag.
    pub(super) fn start_element(&mut self, element: Element, attributes: &Attributes) {
        self.starts += 1;
        self.read_head(element, attributes);
        if matches!(element, Element::Html | Element::Body | Element::Head) {
            return;
        }
        self.close_implied(element);
        if element.is_void() {
            if self.hidden == 0 && !is_hidden(element, attributes) {
                self.start_void(element, attributes);
            }
            return;
        }
        if element.is_block() && self.hidden == 0 {
            self.break_block();
        }
        if is_content(element, attributes) && !is_hidden(element, attributes) {
            // Once is enough.
            self.with_content.extend(self.beside.take());
            self.invisible.extend(self.concealed.take());
        }
        let effect = if self.open.is_full() || self.hidden > 0 {
            Effect::None
        } else if self.hides(element, attributes) {
            self.push_embedded(element, attributes);
            self.hide()
        } else if self.pre.is_some() {
            self.start_in_pre(element, attributes)
        } else {
            self.start_visible(element, attributes)
        };
        self.open.push(element, effect);
        self.set_breaks();
    }

    /// Closes the elements that end where this one begins.
    fn close_implied(&mut self, element: Element) {
        use Element::*;
        // The elements that end where this one begins, and those that keep it from ending them.
        type Test = fn(Element) -> bool;
        let (is_ended, is_border): (Test, Test) = match element {
            Li => (|open| open == Li, |open| open.is_list() || is_scope(open)),
            Dt | Dd => (
                |open| matches!(open, Dt | Dd),
                |open| open == Dl || is_scope(open),
            ),
            Td | Th => (
                |open| matches!(open, Td | Th),
                |open| matches!(open, Tr | Table),
            ),
            Tr => (|open| matches!(open, Tr | Caption), |open| open == Table),
            Thead | Tbody | Tfoot | Caption | Colgroup => (
                |open| matches!(open, Thead | Tbody | Tfoot | Caption | Colgroup),
                |open| open == Table,
            ),
            A => (|open| open == A, is_scope),
            Option | Optgroup => (|open| open == Option, |open| open == Select),
            H1 | H2 | H3 | H4 | H5 | H6 => {
                (|open| open.heading_level().is_some(), Element::is_block)
            }
            _ => (|_| false, |_| true),
        };
        match self.open.find(is_ended, is_border) {
            Some(index) if element == A => self.remove(index),
            Some(index) => self.pop_to(index),
            None => {}
        }
        if element.is_block()
            && let Some(index) = self.open.find(|open| open == P, Element::is_block)
        {
            self.pop_to(index);
        }
    }

    /// Returns true if the content of an element is not part of the text.
    fn hides(&mut self, element: Element, attributes: &Attributes) -> bool {
        let is_fallback = element == Element::Noscript;
        if is_fallback && self.kept.contains(&self.starts) {
            return false;
        }
        if is_fallback && self.fallbacks.len() < MAX_FALLBACKS {
            self.fallbacks.push(self.starts);
        }
        if is_invisible(attributes) && !element.is_dropped() && !self.kept.contains(&self.starts) {
            if is_content(element, attributes) {
                self.invisible.push(self.starts);
            } else {
                self.concealed = Some(self.starts);
            }
            return true;
        }
        if is_hidden(element, attributes) && !self.kept.contains(&self.starts)
            || (is_line_number(attributes) && self.holds_code(element))
        {
            return true;
        }
        if self.whole {
            return false;
        }
        let in_content = self.open.has(Element::Main) || self.open.has(Element::Article);
        let beside = beside_content(element, attributes, in_content)
            .filter(|_| !self.kept.contains(&self.starts));
        if let Some(part) = beside {
            self.beside = Some(self.starts);
            if !self.left_out.contains(&part) {
                self.left_out.push(part);
            }
        }
        beside.is_some()
    }

    fn hide(&mut self) -> Effect {
        self.hidden += 1;
        Effect::Hidden
    }

    /// Returns true inside of code, and for the elements in which code is laid out.
    fn holds_code(&self, element: Element) -> bool {
        self.pre.is_some()
            || matches!(
                element,
                Element::Td | Element::Pre | Element::Div | Element::Code
            )
    }

    fn start_visible(&mut self, element: Element, attributes: &Attributes) -> Effect {
        use Element::*;
        match element {
            B | Strong | Summary => self.mark(Mark::Strong),
            Em | I | Cite | Dfn => self.mark(Mark::Emphasis),
            Del | S | Strike => self.mark(Mark::Strike),
            Sup => self.mark(Mark::Superscript),
            Sub => self.mark(Mark::Subscript),
            A => self.start_link(attributes),
            Code | Kbd | Samp | Tt => {
                self.inline.open_code();
                Effect::Code
            }
            Q => {
                self.inline.push_text("“");
                Effect::Quotation
            }
            Math => self.start_formula(attributes),
            Annotation | AnnotationXml
                if attributes.value(Attribute::Encoding) != Some("application/x-tex") =>
            {
                self.hide()
            }
            Table => self.start_table(attributes),
            Tr if self.collects_cells() => self.start_row(),
            Td | Th if self.collects_cells() => self.start_cell(element == Th, attributes),
            Dl => self.start_list(
                None,
                Effect::Definitions {
                    has_item: false,
                    has_definition: false,
                },
            ),
            Dt => {
                self.begin_definition(true);
                self.mark(Mark::Strong)
            }
            Dd => {
                self.begin_definition(false);
                Effect::None
            }
            Ol => self.start_list(
                Some(attributes.number(Attribute::Start).unwrap_or(1)),
                Effect::List,
            ),
            Ul | Menu | Dir => self.start_list(None, Effect::List),
            Li => self.start_item(attributes),
            Blockquote => {
                self.unfold_table();
                let is_begun = self.table.is_none() && self.document.begin_quote();
                effect_if(is_begun, Effect::Container)
            }
            _ if is_content(element, attributes) => self.start_main(element != Article),
            _ if element.is_preformatted() => self.start_pre(attributes),
            _ => match (element.heading_level(), language(attributes)) {
                (Some(level), _) => self.start_heading(level),
                (None, Some(language)) if element.is_block() => {
                    Effect::Language(self.language.replace(language))
                }
                (None, _) => Effect::None,
            },
        }
    }

    fn start_in_pre(&mut self, element: Element, attributes: &Attributes) -> Effect {
        if element == Element::Code
            && let Some(language) = language(attributes)
            && let Some(pre) = &mut self.pre
        {
            pre.language = Some(language);
        }
        Effect::None
    }

    fn start_pre(&mut self, attributes: &Attributes) -> Effect {
        self.unfold_table();
        let language = language(attributes).or_else(|| self.language.clone());
        self.pre = Some(Pre {
            text: String::new(),
            language,
        });
        Effect::Pre
    }

    fn mark(&mut self, mark: Mark) -> Effect {
        effect_if(self.inline.open(mark), Effect::Mark(mark))
    }

    fn start_formula(&mut self, attributes: &Attributes) -> Effect {
        let source = attributes.value(Attribute::AltText);
        match source.filter(|source| !source.trim().is_empty()) {
            Some(source) => {
                self.push_code(source);
                self.hide()
            }
            None => Effect::Formula(Formula::default()),
        }
    }

    fn start_link(&mut self, attributes: &Attributes) -> Effect {
        let href = attributes.value(Attribute::Href).unwrap_or_default();
        let Some(address) = self.base.link(href) else {
            return Effect::None;
        };
        let is_fragment = href.trim_start().starts_with('#');
        let label = attributes.label();
        let is_open = self
            .inline
            .open_link(destination(&address), is_fragment, label);
        effect_if(is_open, Effect::Mark(Mark::Link))
    }

    fn start_heading(&mut self, level: u8) -> Effect {
        self.unfold_table();
        self.heading = Some(level);
        Effect::Heading
    }

    fn start_main(&mut self, is_main: bool) -> Effect {
        self.has_main |= is_main;
        let outer = (self.open).innermost_mut(|effect| matches!(effect, Effect::Main(_)));
        effect_if(outer.is_none(), Effect::Main(self.document.len()))
    }

    fn start_list(&mut self, number: Option<u32>, effect: Effect) -> Effect {
        if self.table.is_some() {
            return Effect::None;
        }
        self.document.begin_list(number);
        effect
    }

    fn start_item(&mut self, attributes: &Attributes) -> Effect {
        if self.table.is_some() {
            self.inline.push_text("• ");
            return Effect::None;
        }
        let value = attributes.number(Attribute::Value);
        effect_if(self.document.begin_item(value), Effect::Container)
    }

    fn start_table(&mut self, attributes: &Attributes) -> Effect {
        self.unfold_table();
        let position = self.open.len();
        self.tables.push(position);
        let is_layout = matches!(
            attributes.value(Attribute::Role),
            Some("presentation" | "none")
        );
        if self.table.is_none() && !is_layout {
            self.table = Some((position, Table::default()));
        }
        Effect::Table
    }

    fn start_row(&mut self) -> Effect {
        let head = self
            .open
            .find(|open| open == Element::Thead, Element::is_table);
        if let Some((_, table)) = &mut self.table {
            table.begin_row(head.is_some());
        }
        Effect::Row
    }

    fn start_cell(&mut self, is_header: bool, attributes: &Attributes) -> Effect {
        let columns = attributes.number(Attribute::ColSpan).unwrap_or(1);
        let rows = attributes.number(Attribute::RowSpan).unwrap_or(1);
        if let Some((_, table)) = &mut self.table {
            table.begin_cell(is_header, columns, rows);
        }
        Effect::Cell
    }
}
