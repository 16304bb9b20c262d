//! [`visible_line`]: a short text from outside as one line.

use protocol::is_invisible;

/// Returns a text as one line of at most `max_chars` characters and an ellipsis, for a name or a message from outside.
///
/// Runs of white space become one space. [Invisible](is_invisible) characters are escaped as `<U+202E>`.
///
/// ```
/// assert_eq!(tools::visible_line(" Ber\u{202e}lin,\n Germany", 14), "Ber<U+202E>lin, Germa…");
/// ```
pub fn visible_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut characters = text
        .split_whitespace()
        .flat_map(|word| [" ", word])
        .flat_map(str::chars)
        .skip(1);
    for c in characters.by_ref().take(max_chars) {
        if is_invisible(c) {
            push_escaped(&mut line, c)
        } else {
            line.push(c)
        }
    }
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

/// Returns a message from outside in quotes after a colon, or nothing for an empty one.
pub fn quote_after_colon(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    format!(": {message:?}")
}

/// Appends a character as `<U+202E>`.
pub(crate) fn push_escaped(out: &mut String, c: char) {
    *out += &format!("<U+{:04X}>", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_one_space_and_invisible_characters_are_escaped() {
        for (text, expected) in [
            ("Ber\u{202e}lin\n", "Ber<U+202E>lin"),
            (" a\r\n\tb\u{a0}\u{202f}c ", "a b c"),
            ("Île-de-France 北京", "Île-de-France 北京"),
            ("a\u{200b}\u{1b}[m", "a<U+200B><U+001B>[m"),
            (" \n", ""),
        ] {
            assert_eq!(visible_line(text, 200), expected);
        }
        for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
            assert!(
                !visible_line(&format!("a{c}b"), 10).contains(is_invisible),
                "{c:?}"
            );
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(visible_line(&"é".repeat(300), 200), "é".repeat(200) + "…");
        assert_eq!(visible_line(&"é".repeat(200), 200), "é".repeat(200));
        assert_eq!(visible_line("a", 0), "…");
    }
}
