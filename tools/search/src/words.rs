//! Splits text into words and reduces them to stems.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// The maximum length of a word, in characters. The rest of a longer one is ignored.
const MAX_WORD_CHARS: usize = 64;

/// The maximum number of words whose stems are remembered. Definitions from outside may have any number.
const MAX_SEEN: usize = 20_000;

/// English words that say nothing about a tool. Words such as `off`, `up` and `now` tell tools apart, so they are not here.
const STOP_WORDS: [&str; 96] = [
    "about", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "being", "but",
    "by", "can", "could", "did", "do", "does", "doing", "don", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "hers", "him", "his", "how", "if", "in", "into", "is", "it",
    "its", "just", "me", "my", "myself", "nor", "of", "on", "only", "or", "our", "ours", "own",
    "same", "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "until",
    "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "would", "you", "your", "yours", "please", "want", "need", "also",
];

/// A stem as a number. Different stems have different ones, except for a chance of 2⁻⁶⁴.
pub(crate) type Stem = u64;

/// Splits text into words and reduces them to stems. Remembers the stems of words that it has seen.
pub(crate) struct Words {
    settings: Settings,
    stemmer: Stemmer,
    /// Stop words have no stem.
    seen: HashMap<String, Option<Stem>>,
    word: String,
}

/// The steps that are done. The measurements show the value of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Identifiers are split.
    pub(crate) split: bool,
    /// Stop words are left out.
    pub(crate) stop: bool,
    /// Words are reduced to stems.
    pub(crate) stem: bool,
}

impl Settings {
    /// Every step is done.
    pub(crate) const ALL: Self = Self {
        split: true,
        stop: true,
        stem: true,
    };
}

impl Words {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            stemmer: Stemmer::create(Algorithm::English),
            seen: HashMap::new(),
            word: String::new(),
        }
    }

    /// Calls `each` with the words of `text` in lower case, and their stems, until it returns false. Returns false if `each` did.
    ///
    /// A word with digits is passed both whole and in parts: `base64` is `base`, `64` and `base64`.
    pub(crate) fn each(&mut self, text: &str, mut each: impl FnMut(&str, Stem) -> bool) -> bool {
        let split = self.settings.split;
        for word in text.unicode_words() {
            // An underscore, and a full stop or an apostrophe between letters, does not end a word of Unicode.
            for piece in word.split(|c: char| !c.is_alphanumeric() && (split || c != '_')) {
                let piece = piece
                    .char_indices()
                    .nth(MAX_WORD_CHARS)
                    .map_or(piece, |(end, _)| &piece[..end]);
                let several = split && Parts(piece).nth(1).is_some();
                let whole = (!several || piece.contains(char::is_numeric)).then_some(piece);
                let parts = several.then_some(Parts(piece)).into_iter().flatten();
                for word in whole.into_iter().chain(parts) {
                    if !self.pass(word, &mut each) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn pass(&mut self, word: &str, each: &mut impl FnMut(&str, Stem) -> bool) -> bool {
        // A letter or digit alone says nothing. A character of other scripts can be a word.
        if word.len() < 2 {
            return true;
        }
        self.word.clear();
        self.word.extend(word.chars().flat_map(char::to_lowercase));
        let stem = match self.seen.get(&self.word) {
            Some(stem) => *stem,
            None => {
                let stem = self.stem(&self.word);
                if self.seen.len() == MAX_SEEN {
                    self.seen.clear();
                }
                self.seen.insert(self.word.clone(), stem);
                stem
            }
        };
        stem.is_none_or(|stem| each(&self.word, stem))
    }

    /// Returns `None` if the word is a stop word.
    fn stem(&self, word: &str) -> Option<Stem> {
        if self.settings.stop && STOP_WORDS.contains(&word) {
            return None;
        }
        // The stemmer is one of English.
        Some(if self.settings.stem && word.is_ascii() {
            hash(&self.stemmer.stem(word))
        } else {
            hash(word)
        })
    }
}

/// Returns the same number in every process, so that the order of stems is the same.
fn hash(text: &str) -> Stem {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The parts of an identifier, which is split where the case or the kind of character changes: `HTTPServer2` is `HTTP`, `Server`, `2`.
#[derive(Clone)]
struct Parts<'a>(&'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut chars = self.0.char_indices().peekable();
        let (_, mut before) = chars.next()?;
        while let Some((at, c)) = chars.next() {
            let follows_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let ends = before.is_numeric() != c.is_numeric()
                || c.is_uppercase()
                    && (before.is_lowercase() || before.is_uppercase() && follows_lower);
            if ends {
                let (part, rest) = self.0.split_at(at);
                self.0 = rest;
                return Some(part);
            }
            before = c;
        }
        Some(std::mem::take(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Words::new(Settings::ALL).each(text, |word, _| {
            found.push(word.to_owned());
            true
        });
        found
    }

    fn stem(word: &str) -> Stem {
        let mut found = None;
        Words::new(Settings::ALL).each(word, |_, stem| {
            found = Some(stem);
            true
        });
        found.unwrap()
    }

    #[test]
    fn identifiers_are_split_at_case_punctuation_and_digits() {
        assert_eq!(words("getHTTPServer"), ["get", "http", "server"]);
        assert_eq!(
            words("fs.read_file github/search-code ns:toolName"),
            [
                "fs", "read", "file", "github", "search", "code", "ns", "tool", "name"
            ]
        );
        assert_eq!(words("ÄnderungÜbernehmen"), ["änderung", "übernehmen"]);
    }

    #[test]
    fn a_word_with_digits_is_also_kept_whole() {
        assert_eq!(
            words("base64Encode s3 B2B utf8"),
            [
                "base64encode",
                "base",
                "64",
                "encode",
                "s3",
                "b2b",
                "utf8",
                "utf"
            ]
        );
        assert_eq!(words("2024"), ["2024"]);
    }

    #[test]
    fn stop_words_and_single_letters_are_left_out() {
        assert_eq!(
            words("What is the weather in a city? I don't know x"),
            ["weather", "city", "know"]
        );
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for (one, other) in [
            ("reading", "reads"),
            ("Cities", "city"),
            ("CONVERTED", "convert"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("read"), stem("write"));
    }

    #[test]
    fn other_scripts_have_words_too() {
        assert_eq!(words("погода в Берлине"), ["погода", "в", "берлине"]);
        assert_eq!(words("搜索关键词"), ["搜", "索", "关", "键", "词"]);
        assert!(words("🌧️ !? \0 \u{200b}").is_empty());
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(words(&"ä".repeat(100_000)), ["ä".repeat(MAX_WORD_CHARS)]);
    }

    #[test]
    fn a_limited_number_of_words_is_remembered() {
        let mut words = Words::new(Settings::ALL);
        for number in 0..=MAX_SEEN {
            words.each(&(100_000 + number).to_string(), |_, _| true);
            assert!(words.seen.len() <= MAX_SEEN);
        }
        assert_eq!(words.seen.len(), 1);
    }

    #[test]
    fn reading_stops_when_it_is_told_to() {
        let mut number = 0;
        let finished = Words::new(Settings::ALL).each("base64 read write list", |_, _| {
            number += 1;
            number < 2
        });
        assert_eq!((finished, number), (false, 2));
    }
}
