//! Writing Markdown: blocks, the text of a paragraph, tables.

mod code_span;
mod document;
mod escape;
mod inline;
mod link;
mod table;

pub(crate) use self::code_span::{code_span, fence};
pub(crate) use self::escape::{escape_lines, escape_text, in_code, without_break_marks};
pub(crate) use self::link::Mark;
pub(crate) use document::Document;
pub(crate) use inline::{Breaks, Inline};
pub(crate) use table::Table;

/// The notation of a converted document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Markdown, with tables and strikethrough of GitHub.
    #[default]
    Markdown,
    /// Text without marks.
    Plain,
}

impl Notation {
    /// Returns the text of this notation.
    pub(crate) fn pick<'a>(self, markdown: &'a str, plain: &'a str) -> &'a str {
        match self {
            Self::Markdown => markdown,
            Self::Plain => plain,
        }
    }
}

/// Returns an address as the destination of a link, so that no character of it ends the link.
pub(crate) fn destination(address: &str) -> String {
    let parentheses = !is_balanced(address);
    let mut escaped = String::with_capacity(address.len());
    for (at, c) in address.char_indices() {
        match c {
            '(' if parentheses => escaped.push_str("%28"),
            ')' if parentheses => escaped.push_str("%29"),
            '\\' => escaped.push_str("%5C"),
            '|' => escaped.push_str("%7C"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            '`' => escaped.push_str("%60"),
            ' ' => escaped.push_str("%20"),
            '&' if is_entity(&address[at + 1..]) => escaped.push_str("\\&"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_balanced(address: &str) -> bool {
    let depth = address.bytes().try_fold(0_u32, |depth, byte| match byte {
        b'(' => Some(depth + 1),
        b')' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// Returns true if `&` before this text begins a character reference of Markdown.
fn is_entity(rest: &str) -> bool {
    // The longest name has 31 characters.
    let begin = rest.bytes().take(33);
    let name = begin.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#');
    let length = name.count();
    length > 0 && rest.as_bytes().get(length) == Some(&b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_ends_the_link() {
        for (address, expected) in [
            ("https://a.org/Foo_(bar)", "https://a.org/Foo_(bar)"),
            ("https://a.org/a)b", "https://a.org/a%29b"),
            ("https://a.org/)(", "https://a.org/%29%28"),
            ("https://a.org/?a|b\\c", "https://a.org/?a%7Cb%5Cc"),
            (
                "https://a.org/?a=1&lt=2&lt;",
                "https://a.org/?a=1&lt=2\\&lt;",
            ),
            ("mailto:a b", "mailto:a%20b"),
        ] {
            assert_eq!(destination(address), expected);
        }
    }
}
