//! [`Prompt`]: a text of the person, from which a URL may be made.

use super::url_parts::{UrlParts, urls_in, urls_without_scheme};

/// The most words of a run.
const MAX_WORDS: usize = 16;

/// A prompt, without its white space.
pub(super) struct Prompt {
    text: String,
    /// The text in lower case.
    lower: String,
    /// The URLs in it, as they are sent.
    pub(super) urls: Vec<UrlParts>,
}

impl Prompt {
    pub(super) fn new(prompt: &str) -> Self {
        let text = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let urls = urls_in(&text)
            // People write `example.org/start` in a prompt.
            .chain(urls_without_scheme(&text))
            .filter_map(|url| UrlParts::new(&url))
            .collect();
        Self {
            lower: text.to_lowercase(),
            urls,
            text,
        }
    }

    /// Returns the bytes that are kept, more or less.
    pub(super) fn size(&self) -> usize {
        self.text.len()
            + self.lower.len()
            + self.urls.iter().map(|url| url.text.len()).sum::<usize>()
    }

    /// Returns true if the text is one run of at most [`MAX_WORDS`] words of the prompt, as they stand there or in lower case. It begins
    /// and ends with a word. A `/` may follow.
    pub(super) fn has_run(&self, run: &str) -> bool {
        let ended = run.strip_suffix('/').unwrap_or(run);
        // Parts of words would let a model spell anything out of a long prompt.
        let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let begins_and_ends =
            is_of_word(ended.chars().next()) && is_of_word(ended.chars().next_back());
        let words = ended
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .count();
        begins_and_ends
            && words <= MAX_WORDS
            && [&self.text, &self.lower].into_iter().any(|text| {
                text.match_indices(run).any(|(at, _)| {
                    let before = &text[..at];
                    let after = &text[at + run.len()..];
                    let goes_on = run == ended && is_of_word(after.chars().next());
                    !goes_on && !is_of_word(before.chars().next_back())
                })
            })
    }
}
