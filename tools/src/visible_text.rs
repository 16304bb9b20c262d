//! [`visible_text`]: a text of several lines from outside, without invisible characters.

use protocol::is_invisible;

use crate::visible_line::push_escaped;

/// Returns a text from outside with visible characters, line breaks and tabs only, for a person or a model.
///
/// [Invisible](is_invisible) characters are escaped as `<U+202E>`. A carriage return becomes a line break, and a space of another kind
/// than the ASCII space becomes one.
///
/// ```
/// assert_eq!(tools::visible_text("Ber\u{202e}lin,\r\n\u{a0}Germany"), "Ber<U+202E>lin,\n Germany");
/// ```
pub fn visible_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\r' => {
                characters.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            _ if is_invisible(c)
                && c.is_whitespace()
                && !c.is_control()
                && !matches!(c, '\u{2028}' | '\u{2029}') =>
            {
                out.push(' ');
            }
            _ if is_invisible(c) => push_escaped(&mut out, c),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invisible_character_is_visible_and_a_space_is_a_space() {
        assert_eq!(
            visible_text("a\u{202e}b\u{e0041}\u{2028}\u{85}\x1b[m"),
            "a<U+202E>b<U+E0041><U+2028><U+0085><U+001B>[m"
        );
        assert_eq!(visible_text("a\u{a0}b\u{3000}c\u{2009}d e"), "a b c d e");
        assert_eq!(visible_text("a\r\nb\rc\r\r\nd\n\te"), "a\nb\nc\n\nd\n\te");
    }

    #[test]
    fn every_invisible_character_is_replaced() {
        for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
            let text = visible_text(&format!("a{c}b"));
            assert!(
                !text.contains(|c| is_invisible(c) && !matches!(c, '\n' | '\t')),
                "{c:?}"
            );
        }
    }
}
