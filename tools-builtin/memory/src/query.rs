//! Converts the text of a search to a query of words.

use std::collections::BTreeSet;

/// The maximum number of words of a search. The others are ignored.
const MAX_WORDS: usize = 32;

/// The maximum length of a word, in characters. A longer one is cut.
const MAX_WORD_CHARS: usize = 64;

/// Returns a query of FTS5 that matches each word of the text. Returns `None` if there is no word.
///
/// Each word is a quoted string, so that the text has no syntax. A word without letters and digits is left out, because the index has
/// none.
pub(crate) fn from_text(text: &str) -> Option<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if words.len() >= MAX_WORDS {
            break;
        }
        if word.contains(char::is_alphanumeric) {
            words.insert(word.chars().take(MAX_WORD_CHARS).collect::<String>());
        }
    }
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_have_no_syntax() {
        assert_eq!(from_text("NEAR(a b) NOT c*").unwrap(), r#""NEAR(a" OR "NOT" OR "b)" OR "c*""#);
        assert_eq!(from_text(r#"say "hi""#).unwrap(), r#""""hi""" OR "say""#);
        assert_eq!(from_text("a\0b a").unwrap(), r#""a" OR "b""#);
    }

    #[test]
    fn a_text_without_words_is_no_query() {
        for text in ["", " \n", "\0", "!?* ()", "🎉 🎉", "\"\""] {
            assert_eq!(from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_query_is_bounded() {
        assert!(from_text(&"word ".repeat(200_000)).unwrap().len() < 10);
        let many: String = (0..100_000).map(|number| format!("word{number} ")).collect();
        assert!(from_text(&many).unwrap().len() < 1000);
        assert!(from_text(&"x".repeat(1 << 20)).unwrap().len() < 100);
    }
}
