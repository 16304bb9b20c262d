//! Escapes untrusted text for people: text of a model, a tool or a file may contain characters that hide or imitate other text.

use std::borrow::Cow;

use tools::protocol::is_invisible;

/// Escapes [invisible](is_invisible) characters as `\u{…}`, including line breaks and tabs. Used for text in questions, so that a
/// person sees every character.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_invisible)
}

/// Escapes [invisible](is_invisible) characters except tabs. Used for a line of a diff.
pub fn visible_line(line: &str) -> Cow<'_, str> {
    escaped(line, |c| is_invisible(c) && c != '\t')
}

/// Escapes control characters except line breaks and tabs, so that the text cannot control a terminal. Right-to-left text stays
/// readable. Used for tool results, which may contain any file.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let text: Cow<'_, str> = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    match escaped(&text, |c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped.into(),
    }
}

/// Escapes a message that may quote untrusted text, like [`visible`] but with tabs and line breaks kept. Later lines are indented,
/// so that none looks like a separate message.
pub fn message(text: &str) -> String {
    let text = text.trim_end().replace("\r\n", "\n");
    let is_escaped = |c: char| is_invisible(c) && !matches!(c, '\n' | '\t');
    escaped(&text, is_escaped).replace('\n', "\n  ")
}

/// Escapes the control characters that JSON permits in strings, DEL and C1. The JSON value stays the same.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    replaced(json, char::is_control, |c| format!("\\u{:04x}", c as u32))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, is_escaped, |c| c.escape_default().to_string())
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool, by: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_replaced(c) { out += &by(c) } else { out.push(c) }
    }
    out.into()
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
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\u{200b}\n\u{9b}"), "a\\u{1b}[2J\\u{202e}b\\u{200b}\\n\\u{9b}");
    }

    #[test]
    fn every_invisible_character_is_escaped() {
        for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
            let text = format!("a{c}b");
            assert!(!visible(&text).contains(is_invisible), "{c:?}");
            assert!(matches!(c, '\n' | '\t') || !message(&text).contains(is_invisible), "{c:?}");
        }
    }

    #[test]
    fn escape_sequences_lose_their_power_and_lines_stay_lines() {
        assert_eq!(harmless("a\r\nb\x1b]0;title\x07\u{9b}31m\rc"), "a\nb\\u{1b}]0;title\\u{7}\\u{9b}31m\\rc");
        assert_eq!(harmless("שלום\u{200f}"), "שלום\u{200f}");
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        assert_eq!(message("a\r\nhint: b\u{202e}\u{1b}\n\tc\n"), "a\n  hint: b\\u{202e}\\u{1b}\n  \tc");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a": "\u{9b}31m\u{7f}\u{1b}"});
        let text = harmless_json(&value.to_string()).into_owned();
        assert!(!text.contains(char::is_control));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
