//! Escapes untrusted text for people: text of a model, a tool or a file may contain characters that hide or imitate other text.

use std::borrow::Cow;

use protocol::is_invisible;

/// Escapes [invisible](is_invisible) characters as `\u{…}`, including line breaks and tabs. Used for text in questions, so that a
/// person sees every character.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape_where(text, is_invisible)
}

/// Escapes [invisible](is_invisible) characters except tabs. Used for a line of a diff.
pub fn visible_diff_line(line: &str) -> Cow<'_, str> {
    escape_where(line, |c| is_invisible(c) && c != '\t')
}

/// Escapes [invisible](is_invisible) characters except line breaks and tabs, so that the text cannot control a terminal, hide a part of
/// itself or turn its order around. Spaces of other kinds become one. Used for tool results, which may contain any file.
///
/// A single joiner or variation selector stays after a character that is not of ASCII, as in emoji.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let text: Cow<'_, str> = if text.contains("\r\n") {
        // A file of Windows would be shown with an escape at the end of each line.
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    };
    if !text.contains(is_invisible_in_text) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    for c in text.chars() {
        let may_join =
            // Emoji need these characters. Behind ASCII, or in a row, they hide text.
            before.is_none_or(|before: char| !before.is_ascii() && !is_invisible(before));
        match c {
            _ if !is_invisible_in_text(c) => out.push(c),
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' if may_join => out.push(c),
            '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}' => out.push(' '),
            _ => out.extend(c.escape_default()),
        }
        before = Some(c);
    }
    out.into()
}

/// Escapes a message that may quote untrusted text, like [`visible`] but with tabs and line breaks kept. Later lines are indented,
/// so that none looks like a separate message.
pub fn message(text: &str) -> String {
    let text = text.trim_end().replace("\r\n", "\n");
    escape_where(&text, is_invisible_in_text).replace('\n', "\n  ")
}

fn is_invisible_in_text(c: char) -> bool {
    is_invisible(c) && !matches!(c, '\n' | '\t')
}

/// Escapes the control characters that JSON permits in strings, DEL and C1. The JSON value stays the same.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    replace_where(json, char::is_control, escaped_in_json)
}

/// Escapes all [invisible](is_invisible) characters of a JSON text, for a terminal. The JSON value stays the same.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    replace_where(json, is_invisible, escaped_in_json)
}

/// Escapes [invisible](is_invisible) characters except line breaks and tabs, in the form of JSON. Used for the text of an error.
pub(crate) fn readable(text: &str) -> Cow<'_, str> {
    replace_where(text, is_invisible_in_text, escaped_in_json)
}

fn escaped_in_json(c: char) -> String {
    c.encode_utf16(&mut [0; 2])
        .iter()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect()
}

fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    replace_where(text, is_escaped, |c| c.escape_default().to_string())
}

fn replace_where(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    by: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_replaced(c) {
            out += &by(c)
        } else {
            out.push(c)
        }
    }
    out.into()
}

/// Returns the longest prefix of whole characters with at most `most` bytes.
pub fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Returns the longest suffix of whole characters with at most `most` bytes.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let start =
        (text.len() - most.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}

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
    fn plain_text_is_not_copied() {
        assert!(matches!(visible("grün 你好"), Cow::Borrowed("grün 你好")));
        assert!(matches!(harmless("a\n\tb"), Cow::Borrowed("a\n\tb")));
    }

    #[test]
    fn nothing_a_person_cannot_see_is_left_in_a_question() {
        assert_eq!(
            visible("a\u{1b}[2J\u{202e}b\u{200b}\n\u{9b}"),
            "a\\u{1b}[2J\\u{202e}b\\u{200b}\\n\\u{9b}"
        );
    }

    #[test]
    fn every_invisible_character_is_escaped() {
        for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
            let text = format!("a{c}b");
            assert!(!visible(&text).contains(is_invisible), "{c:?}");
            assert!(
                matches!(c, '\n' | '\t') || !message(&text).contains(is_invisible),
                "{c:?}"
            );
        }
    }

    #[test]
    fn escape_sequences_lose_their_power_and_lines_stay_lines() {
        assert_eq!(
            harmless("a\r\nb\x1b]0;title\x07\u{9b}31m\rc"),
            "a\nb\\u{1b}]0;title\\u{7}\\u{9b}31m\\rc"
        );
        assert_eq!(
            harmless("a\u{202e}b\u{200b}c\u{e0041}\u{a0}d"),
            "a\\u{202e}b\\u{200b}c\\u{e0041} d"
        );
        assert_eq!(
            harmless("⚠\u{fe0f}\u{fe0f} a\u{200d}"),
            "⚠\u{fe0f}\\u{fe0f} a\\u{200d}"
        );
        assert_eq!(harmless("שלום"), "שלום");
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        assert_eq!(
            message("a\r\nhint: b\u{202e}\u{1b}\n\tc\n"),
            "a\n  hint: b\\u{202e}\\u{1b}\n  \tc"
        );
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a": "\u{9b}31m\u{7f}\u{1b}"});
        let text = harmless_json(&value.to_string()).into_owned();
        assert!(!text.contains(char::is_control));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
        let value = serde_json::json!("a\u{202e}\u{e0041}b");
        let text = visible_json(&value.to_string()).into_owned();
        assert!(!text.contains(is_invisible), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}

#[cfg(test)]
mod visible_line_tests {
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

#[cfg(test)]
mod visible_text_tests {
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
