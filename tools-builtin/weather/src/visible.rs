//! [`visible`]: short texts of a service as visible, bounded text.

use tools::protocol::is_invisible;

/// The maximum length of a short text, in characters.
const MAX_CHARACTERS: usize = 200;

/// Returns a short text of a service with its invisible characters written as `<U+202E>`, cut after 200 characters. Returns `None`
/// if it is empty.
pub(crate) fn visible(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for (index, character) in text.chars().enumerate() {
        match character {
            _ if index == MAX_CHARACTERS => {
                out.push('…');
                break;
            }
            '\u{a0}' | '\u{202f}' => out.push(' '),
            _ if is_invisible(character) => out += &format!("<U+{:04X}>", u32::from(character)),
            _ => out.push(character),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn invisible_characters_are_written_out() {
        assert_eq!(visible("Ber\u{202e}lin\n").as_deref(), Some("Ber<U+202E>lin"));
        assert_eq!(visible("a\nb\u{a0}c").as_deref(), Some("a<U+000A>b c"));
        assert_eq!(visible("Île-de-France 北京").as_deref(), Some("Île-de-France 北京"));
    }

    #[test]
    fn a_long_text_is_cut_and_an_empty_one_is_none() {
        assert_eq!(visible(&"é".repeat(300)).unwrap().chars().count(), 201);
        assert_eq!(visible(" \n"), None);
    }
}
