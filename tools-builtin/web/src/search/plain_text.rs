//! Turns a fragment of HTML into plain text.

use crate::html::{Attributes, Element, Sink, tokenize};

/// Returns the text of a fragment of HTML, such as a snippet with its words in `<strong>`: tags and comments are removed, entities are
/// decoded. Use it for fields that a service sends as HTML. Other fields may contain `<` and `&` as they are.
pub fn text_of_html(html: &str) -> String {
    let mut text = PlainText(String::with_capacity(html.len()));
    tokenize(html, &mut text);
    text.0
}

struct PlainText(String);

impl PlainText {
    /// Parts words at a line break or a block. An inline tag does not part them.
    fn part(&mut self, element: Element) {
        if element == Element::Br || element.is_block() {
            self.0.push(' ');
        }
    }
}

impl Sink for PlainText {
    fn start(&mut self, element: Element, _attributes: &Attributes) {
        self.part(element);
    }

    fn end(&mut self, element: Element) {
        self.part(element);
    }

    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn is_foreign(&self) -> bool {
        false
    }
}
