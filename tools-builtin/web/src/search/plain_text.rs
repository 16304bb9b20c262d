//! Turns a fragment of HTML into plain text.

use html5gum::{Token, Tokenizer};

/// Returns the text of a fragment of HTML, such as a snippet with its words in `<strong>`: tags and comments are removed, entities are
/// decoded. Use it for fields that a service sends as HTML. Other fields may contain `<` and `&` as they are.
pub fn text_of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::String(piece) => text.push_str(&String::from_utf8_lossy(&piece)),
            // A line break or a block parts words, an inline tag does not.
            Token::StartTag(tag) if is_break(&tag.name) => text.push(' '),
            Token::EndTag(tag) if is_break(&tag.name) => text.push(' '),
            _ => {}
        }
    }
    text
}

fn is_break(tag: &[u8]) -> bool {
    matches!(tag, b"br" | b"p" | b"div" | b"li" | b"ul" | b"ol" | b"td" | b"tr")
}
