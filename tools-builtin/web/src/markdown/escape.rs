//! Escapes that keep text from becoming structure.

use std::borrow::Cow;

/// Where a text stands, which decides about the characters to escape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Inside of a link's text, where brackets end the link.
    pub(super) in_link: bool,
    /// Inside of a table's cell, where `|` ends the cell.
    pub(super) in_cell: bool,
}

/// Appends a character of text to Markdown. `next` is the character after it, if it is known.
pub(super) fn push_escaped(out: &mut String, c: char, next: Option<char>, place: Place) {
    if is_special(out, c, next, place) {
        out.push('\\');
    }
    out.push(c);
}

/// Appends a text in one line, as the label of a link or an image. The bracket that ends it follows.
pub(super) fn push_label(out: &mut String, label: &str, in_cell: bool) {
    let place = Place {
        in_link: true,
        in_cell,
    };
    let label = without_break_marks(label);
    let mut chars = label
        .trim()
        .chars()
        .map(|c| if is_space(c) { ' ' } else { c })
        .peekable();
    while let Some(c) = chars.next() {
        if !(c == ' ' && chars.peek() == Some(&' ')) {
            let next = chars.peek().copied().or(Some(']'));
            push_escaped(out, c, next, place);
        }
    }
}

/// Returns a text as Markdown that shows it, for a place inside of a line.
pub(crate) fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_label(&mut out, text, false);
    out
}

fn is_special(out: &str, c: char, next: Option<char>, place: Place) -> bool {
    if !c.is_ascii_punctuation() {
        return false;
    }
    let previous = out.chars().next_back();
    match c {
        '`' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
        // Between spaces it is a sign for multiplication. The beginning of a line makes a list of it.
        '*' => !(previous == Some(' ') && next.is_some_and(char::is_whitespace)),
        // Inside of a word it is part of a name.
        '_' => {
            !(previous.is_some_and(char::is_alphanumeric)
                && next.is_some_and(char::is_alphanumeric))
        }
        '~' => {
            next.is_none_or(|next| next == '~')
                || previous.is_some_and(|previous| !previous.is_whitespace())
        }
        '<' => {
            next.is_none_or(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
        }
        '&' => next.is_none_or(|next| next.is_ascii_alphanumeric() || next == '#'),
        '[' | ']' if place.in_link => true,
        // Only after a bracket these make a link.
        '(' | '[' => previous == Some(']'),
        '|' => place.in_cell,
        _ => false,
    }
}

/// Escapes the beginnings of lines that Markdown would take for a heading, list, quote, rule, table or definition.
pub(crate) fn escape_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        match structure(line) {
            Some(at) => {
                out.push_str(&line[..at]);
                out.push('\\');
                out.push_str(&line[at..]);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Returns the position in a line before which a backslash keeps it from being structure.
fn structure(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let ends_at = |at: usize| bytes.get(at).is_none_or(|byte| *byte == b' ');
    let first = *bytes.first()?;
    let special = match first {
        b'#' => {
            let level = bytes.iter().take_while(|byte| **byte == b'#').count();
            level <= 6 && ends_at(level)
        }
        b'>' => true,
        b'-' | b'+' if ends_at(1) => true,
        b'-' | b'|' | b':' if bytes.iter().all(|byte| b"-|: ".contains(byte)) => {
            return bytes.iter().position(|byte| *byte == b'-');
        }
        b'=' => bytes.iter().all(|byte| b"= ".contains(byte)),
        b'[' => is_task(line) || is_definition(bytes),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            let numbers = digits <= 9
                && matches!(bytes.get(digits), Some(b'.' | b')'))
                && ends_at(digits + 1);
            return numbers.then_some(digits);
        }
        _ => false,
    };
    special.then_some(0)
}

fn is_task(line: &str) -> bool {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .any(|task| line.starts_with(task))
}

/// Returns true for `[label]:`, which defines a link or a footnote.
fn is_definition(line: &[u8]) -> bool {
    let end = (1..line.len()).find(|&at| line[at] == b']' && line[at - 1] != b'\\');
    end.is_some_and(|end| line.get(end + 1) == Some(&b':'))
}

/// Soft hyphen, zero width space, word joiner, and zero width no-break space, which is also the byte order mark.
const BREAK_MARKS: [char; 4] = ['\u{AD}', '\u{200B}', '\u{2060}', '\u{FEFF}'];

/// Returns true for the white space of HTML, and for the spaces of other widths: a model reads them as plain spaces, which must not
/// make structure after the text was escaped.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{b}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the text without the marks of places where a line may or may not be broken, which a reader does not see.
pub(crate) fn without_break_marks(text: &str) -> Cow<'_, str> {
    if text.contains(BREAK_MARKS) {
        text.replace(BREAK_MARKS, "").into()
    } else {
        text.into()
    }
}

/// Returns a character of code as a model reads it: carriage returns are line breaks, and spaces of other widths plain spaces.
pub(crate) fn in_code(c: char) -> char {
    match c {
        '\r' => '\n',
        '\n' | '\t' | '\x0C' => c,
        c if is_space(c) => ' ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, place: Place) -> String {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            push_escaped(&mut out, c, chars.peek().copied(), place);
        }
        out
    }

    #[test]
    fn only_what_would_be_structure_is_escaped() {
        for (text, expected) in [
            (
                "snake_case and C:\\Users, 2 * 3 < 4 & 5",
                "snake_case and C:\\Users, 2 * 3 < 4 & 5",
            ),
            ("*a* _b_ `c` ~~d~~", "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~"),
            ("~5 km", "~5 km"),
            ("<b> &lt; &#60;", "\\<b> \\&lt; \\&#60;"),
            ("[1] [a](b) ![a](b)", "[1] [a]\\(b) ![a]\\(b)"),
            ("a|b", "a|b"),
            ("\\*", "\\\\\\*"),
        ] {
            assert_eq!(escaped(text, Place::default()), expected);
        }
        assert_eq!(
            escaped(
                "a|b",
                Place {
                    in_cell: true,
                    in_link: false
                }
            ),
            "a\\|b"
        );
        assert_eq!(
            escaped(
                "[a]",
                Place {
                    in_cell: false,
                    in_link: true
                }
            ),
            "\\[a\\]"
        );
    }

    #[test]
    fn beginnings_of_lines_are_escaped() {
        for (line, expected) in [
            ("# a", "\\# a"),
            ("#a", "#a"),
            ("> a", "\\> a"),
            ("- a", "\\- a"),
            ("-5", "-5"),
            ("---", "\\---"),
            ("|---|", "|\\---|"),
            ("===", "\\==="),
            ("1. a", "1\\. a"),
            ("1.5", "1.5"),
            ("1234567890. a", "1234567890. a"),
            ("[x] done", "\\[x] done"),
            ("[a]: b", "\\[a]: b"),
            ("[a](http://[::1]:80/)", "[a](http://[::1]:80/)"),
            ("a\n- b", "a\n\\- b"),
        ] {
            assert_eq!(escape_lines(line), expected);
        }
    }
}

#[cfg(test)]
mod space_tests {
    use super::*;

    #[test]
    fn code_keeps_its_characters_but_for_spaces() {
        let code: String = "a\tb\n\u{a0}c\rd\u{3000}é".chars().map(in_code).collect();
        assert_eq!(code, "a\tb\n c\nd é");
    }
}
