//! The elements of a page that have no text inside.

use super::Builder;
use crate::html::attributes::{Attribute, Attributes};
use crate::html::element::Element;
use crate::html::visibility::is_invisible;
use crate::markdown::{Notation, destination};

impl Builder<'_> {
    /// Reads an element without an end tag.
    pub(super) fn start_void(&mut self, element: Element, attributes: &Attributes) {
        if let Some(pre) = &mut self.pre {
            if element == Element::Br {
                pre.text.push('\n');
            }
            return;
        }
        match element {
            Element::Br => self.inline.push_break(),
            Element::Hr => self.push_rule(),
            Element::Frame => self.push_embedded(element, attributes),
            Element::Img => self.push_image(attributes),
            Element::Input if attributes.value(Attribute::Type) == Some("checkbox") => {
                self.push_checkbox(attributes)
            }
            _ => {}
        }
    }

    fn push_rule(&mut self) {
        self.flush();
        if !self.is_in_cell() && self.notation == Notation::Markdown {
            self.document.push_rule();
        }
    }

    fn push_image(&mut self, attributes: &Attributes) {
        let sizes = [Attribute::Width, Attribute::Height].map(|side| attributes.number(side));
        // A dot.
        if sizes.iter().all(|size| size.is_some_and(|size| size <= 1)) {
            return;
        }
        let alt = attributes.value(Attribute::Alt).unwrap_or_default();
        let set = attributes
            .value(Attribute::SrcSet)
            .and_then(|set| set.split_ascii_whitespace().next());
        // Images that load late have a placeholder in `src`.
        let [src, late] = [Attribute::Src, Attribute::DataSrc].map(|name| attributes.value(name));
        let mut sources = [src, late, set].into_iter().flatten();
        match sources.find_map(|source| self.base.source(source)) {
            Some(source) => self.inline.push_image(alt, &destination(&source)),
            None => self.inline.push_text(alt),
        }
    }

    /// Remembers the box of a task, which stands before its text.
    fn push_checkbox(&mut self, attributes: &Attributes) {
        if self.open.has(Element::Li) && self.inline.is_empty() && self.table.is_none() {
            let is_checked = attributes.has(Attribute::Checked);
            self.task = Some(if is_checked { "[x] " } else { "[ ] " });
        }
    }

    /// Writes a link to a video, a sound or another page that is part of this one.
    pub(super) fn push_embedded(&mut self, element: Element, attributes: &Attributes) {
        let kind = match element {
            Element::Frame | Element::Iframe => "embedded page",
            Element::Video => "video",
            Element::Audio => "audio",
            _ => return,
        };
        if self.notation == Notation::Markdown
            && self.pre.is_none()
            && !is_invisible(attributes)
            && let Some(source) = attributes
                .value(Attribute::Src)
                .and_then(|src| self.base.source(src))
        {
            let title = attributes.label();
            let separator = if title.trim().is_empty() { "" } else { ": " };
            self.inline
                .push_embedded(&format!("{kind}{separator}{title}"), &destination(&source));
        }
    }

    /// Writes text as a code span.
    pub(super) fn push_code(&mut self, text: &str) {
        self.inline.open_code();
        self.inline.push_text(text);
        self.inline.close_code();
    }
}
