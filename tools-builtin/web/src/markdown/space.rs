//! White space and marks of line breaks, as a model reads them.

use std::borrow::Cow;

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

    #[test]
    fn code_keeps_its_characters_but_for_spaces() {
        let code: String = "a\tb\n\u{a0}c\rd\u{3000}é".chars().map(in_code).collect();
        assert_eq!(code, "a\tb\n c\nd é");
    }
}
