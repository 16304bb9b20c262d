//! The end tags of a page.

use super::Builder;
use crate::html::element::Element;
use crate::html::frame::{Effect, Formula};
use crate::html::open_elements::is_scope;
use crate::html::tokens::Sink;

impl Builder<'_> {
    /// Reads an end tag.
    pub(super) fn end_element(&mut self, element: Element) {
        if self.open.end_deeper(element) {
            if element.is_block() && self.hidden == 0 {
                self.break_block();
            }
            return;
        }
        if !self.open.has(element) {
            // An end tag alone is a line break or an empty paragraph.
            match (element, &self.pre) {
                (Element::Br, None) if self.hidden == 0 => self.inline.push_break(),
                (Element::P, _) if self.hidden == 0 => self.break_block(),
                _ => {}
            }
            return;
        }
        let found = match element {
            Element::Li => self.open.find(
                |open| open == element,
                |open| open.is_list() || is_scope(open),
            ),
            _ if element.is_table_part() => {
                self.open.find(|open| open == element, Element::is_table)
            }
            _ => self.open.find(|open| open == element, is_scope),
        };
        match found {
            Some(index) if element.is_block() || element.is_dropped() => self.pop_to(index),
            // As the adoption agency of the HTML standard: `<b><i></b>` leaves the `<i>` open.
            Some(index) => self.remove(index),
            None => {}
        }
    }

    /// Closes the elements from a position on.
    pub(super) fn pop_to(&mut self, index: usize) {
        while self.open.len() > index {
            self.pop();
        }
    }

    /// Closes an element that is no block, and leaves those inside of it open.
    pub(super) fn remove(&mut self, index: usize) {
        let frame = self.open.remove(index);
        self.end_effect(frame.effect, index);
    }

    /// Closes the innermost element.
    pub(super) fn pop(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        if frame.element.is_block() && self.hidden == 0 && !matches!(frame.effect, Effect::Pre) {
            self.break_block();
        }
        if frame.element == Element::Title && !self.is_foreign() {
            self.title.is_read = true;
        }
        self.end_effect(frame.effect, self.open.len());
    }

    /// Ends the effect of an element that was at a position among the open ones.
    fn end_effect(&mut self, effect: Effect, position: usize) {
        match effect {
            Effect::None => {}
            Effect::Hidden => {
                self.hidden -= 1;
                self.beside = None;
                self.concealed = None;
            }
            Effect::Mark(mark) => self.inline.close(mark),
            Effect::Code => self.inline.close_code(),
            Effect::Pre => self.end_pre(),
            Effect::Language(outer) => self.language = outer,
            Effect::Heading => self.heading = None,
            Effect::Container => {
                self.task = None;
                self.document.end_container();
            }
            Effect::List => self.document.end_list(),
            Effect::Definitions { has_item, .. } => {
                if has_item {
                    self.document.end_container();
                }
                self.document.end_list();
            }
            Effect::Table => self.end_table(position),
            Effect::Row => {
                if let Some((_, table)) = &mut self.table {
                    table.end_row();
                }
            }
            Effect::Cell => {
                if let Some((_, table)) = &mut self.table {
                    table.end_cell();
                }
            }
            Effect::Quotation => self.inline.push_text("”"),
            Effect::Main(start) if start < self.document.len() => {
                self.main.push((start, self.document.len()))
            }
            Effect::Main(_) => {}
            Effect::Formula(formula) => self.push_formula(&formula),
        }
        self.set_breaks();
    }

    /// Writes a formula as code: its source, or its symbols without one.
    fn push_formula(&mut self, formula: &Formula) {
        let text = if formula.source.trim().is_empty() {
            &formula.symbols
        } else {
            &formula.source
        };
        self.push_code(text);
    }
}
