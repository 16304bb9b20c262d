//! Converts the text of a search to a query of words.

use std::collections::BTreeSet;

/// The maximum number of different words of a search. The others are ignored.
pub(crate) const MAX_WORDS: usize = 32;

/// The maximum length of a word, in characters. A longer one is cut.
const MAX_WORD_CHARS: usize = 64;

/// The words of a search.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query {
    /// The query of FTS5, which matches each of the words.
    pub(crate) matching: String,
    /// True if the text has more than [`MAX_WORDS`].
    pub(crate) is_cut: bool,
}

/// Returns the words of a text. Returns `None` if there is no word.
///
/// Each word is a quoted string, so that the text has no syntax. A word without letters and digits is left out, because the index has
/// none.
pub(crate) fn from_text(text: &str) -> Option<Query> {
    let (mut words, mut is_cut) = (BTreeSet::new(), false);
    let split = text.split(|c: char| c.is_whitespace() || c.is_control());
    for word in split.filter(|word| word.contains(char::is_alphanumeric)) {
        let word: String = word.chars().take(MAX_WORD_CHARS).collect();
        if words.len() == MAX_WORDS && !words.contains(&word) {
            is_cut = true;
            break;
        }
        words.insert(word);
    }
    let quoted: Vec<_> = words
        .iter()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| Query {
        matching: quoted.join(" OR "),
        is_cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(text: &str) -> String {
        from_text(text).unwrap().matching
    }

    #[test]
    fn words_are_quoted_and_have_no_syntax() {
        assert_eq!(
            matching("NEAR(a b) NOT c*"),
            r#""NEAR(a" OR "NOT" OR "b)" OR "c*""#
        );
        assert_eq!(matching(r#"say "hi""#), r#""""hi""" OR "say""#);
        assert_eq!(matching("a\0b a"), r#""a" OR "b""#);
    }

    #[test]
    fn a_text_without_words_is_no_query() {
        for text in ["", " \n", "\0", "!?* ()", "🎉 🎉", "\"\""] {
            assert_eq!(from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_query_is_bounded() {
        assert!(matching(&"word ".repeat(200_000)).len() < 10);
        assert!(matching(&"x".repeat(1 << 20)).len() < 100);
        let words = |count| {
            (0..count)
                .map(|number| format!("word{number} "))
                .collect::<String>()
        };
        for (count, is_cut) in [(MAX_WORDS, false), (MAX_WORDS + 1, true), (100_000, true)] {
            let query = from_text(&(words(count) + "word0")).unwrap();
            assert_eq!(
                (query.matching.matches(" OR ").count(), query.is_cut),
                (MAX_WORDS - 1, is_cut),
                "{count}"
            );
        }
    }
}
