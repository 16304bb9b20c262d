//! Writing the blocks of a page.

use super::{Builder, Pre};
use crate::html::frame::Effect;
use crate::markdown::{Breaks, Notation, code_span, escape_lines, fence};

impl Builder<'_> {
    /// Writes the text that was read as a block.
    pub(super) fn flush(&mut self) {
        let text = self.inline.finish();
        if text.is_empty() {
            return;
        }
        if let Some((_, table)) = &mut self.table
            && table.is_in_cell()
        {
            return table.push_block(&text, self.notation);
        }
        let task = self.task.take().unwrap_or_default();
        match (self.heading, self.notation) {
            (Some(level), _) => self.document.push_heading(level, &text),
            (None, Notation::Markdown) => self
                .document
                .push_block(&format!("{task}{}", escape_lines(&text))),
            (None, Notation::Plain) => self.document.push_block(&format!("{task}{text}")),
        }
    }

    /// Sets the form of line breaks for the current place.
    pub(super) fn set_breaks(&mut self) {
        self.inline.set_breaks(match self.heading {
            _ if self.is_in_cell() => Breaks::Tag,
            Some(_) => Breaks::Space,
            None => Breaks::Hard,
        });
    }

    /// Separates the text before a block from that inside.
    pub(super) fn break_block(&mut self) {
        match &mut self.pre {
            Some(pre) if pre.text.is_empty() || pre.text.ends_with('\n') => {}
            Some(pre) => pre.text.push('\n'),
            None => self.flush(),
        }
    }

    /// Writes a code block.
    pub(super) fn end_pre(&mut self) {
        let Some(Pre { text, language }) = self.pre.take() else {
            return;
        };
        let code = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        if code.trim().is_empty() {
            return;
        }
        if let Some((_, table)) = &mut self.table
            && table.is_in_cell()
        {
            for line in code.lines().filter(|line| !line.trim().is_empty()) {
                let span = code_span(&line.trim_end().replace('|', "\\|"));
                table.push_block(self.notation.pick(&span, line), self.notation);
            }
            return;
        }
        match self.notation {
            Notation::Markdown => self.document.push_block(&fence(code, language.as_deref())),
            Notation::Plain => self.document.push_block(code),
        }
    }

    /// Returns true if the text belongs to a cell of a table.
    pub(super) fn is_in_cell(&self) -> bool {
        self.table
            .as_ref()
            .is_some_and(|(_, table)| table.is_in_cell())
    }

    /// Makes the cells of the open table part of the text around it, if it has no header: then it is layout.
    pub(super) fn unfold_table(&mut self) {
        let table = self.table.as_ref();
        if !table.is_some_and(|(_, table)| table.is_in_cell() && !table.has_header()) {
            return;
        }
        self.flush();
        if let Some((_, table)) = self.table.take() {
            for cell in table.into_cells() {
                self.document.push_block(&cell);
            }
        }
        self.set_breaks();
    }

    /// Writes the table that is at a position among the open elements.
    pub(super) fn end_table(&mut self, position: usize) {
        self.tables.pop();
        if let Some((_, table)) = self.table.take_if(|(at, _)| *at == position) {
            for block in table.into_blocks(self.notation) {
                self.document.push_block(&block);
            }
        }
    }

    /// Returns true if the cells of the innermost table are being collected.
    pub(super) fn collects_cells(&self) -> bool {
        self.table
            .as_ref()
            .is_some_and(|(position, _)| self.tables.last() == Some(position))
    }

    /// Begins an item of a list of definitions: for a term, or for a definition without one.
    pub(super) fn begin_definition(&mut self, is_term: bool) {
        let innermost = self
            .open
            .innermost_mut(|effect| matches!(effect, Effect::Definitions { .. } | Effect::Cell));
        let Some(Effect::Definitions {
            has_item,
            has_definition,
        }) = innermost
        else {
            return;
        };
        if is_term && *has_item && *has_definition {
            self.document.end_container();
            *has_item = false;
        }
        if !*has_item {
            *has_item = self.document.begin_item(None);
        }
        *has_definition = !is_term;
    }
}
