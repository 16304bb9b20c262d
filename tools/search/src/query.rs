//! [`Query`]: the words to search for.

use crate::words::{Settings, Stem, Words};

/// The maximum number of bytes of a query that are read.
const MAX_QUERY_BYTES: usize = 8 * 1024;

/// Words that a model says of any tool that it looks for (`server: GitHub, tool: create an issue`), in the singular. Few definitions have
/// them, which would make them count most.
const OF_ANY_TOOL: [&str; 3] = ["server", "tool", "mcp"];

/// How much such a word counts, because of some tools it is the subject: "restart the server".
const SHARE_OF_ANY_TOOL: f64 = 0.2;

/// The words to search for.
pub(crate) struct Query {
    /// The different words, in the order of the query.
    pub(crate) words: Vec<Word>,
    /// Sorted, with the position in `words`.
    stems: Vec<(Stem, usize)>,
    /// A bit for the last twelve bits of each stem, because nearly all words of a definition are not in the query.
    bits: Box<[u64; 64]>,
}

/// A word of a query.
pub(crate) struct Word {
    /// In lower case.
    pub(crate) text: String,
    /// How much it counts, at most 1.
    pub(crate) share: f64,
    stem: Stem,
}

impl Query {
    /// Reads at most `most` different words.
    pub(crate) fn new(text: &str, most: usize, settings: Settings) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut end = text.len().min(MAX_QUERY_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Words::new(settings).each(&text[..end], |word, stem| {
            if !words.iter().any(|known| known.stem == stem) {
                let singular = word.strip_suffix('s').unwrap_or(word);
                let is_of_any = OF_ANY_TOOL.contains(&singular);
                words.push(Word {
                    text: word.to_owned(),
                    share: if is_of_any { SHARE_OF_ANY_TOOL } else { 1.0 },
                    stem,
                });
            }
            words.len() < most
        });
        let stems = words.iter().enumerate().map(|(at, word)| (word.stem, at));
        let mut stems: Vec<_> = stems.collect();
        stems.sort_unstable();
        let mut bits = Box::new([0; 64]);
        for (stem, _) in &stems {
            let (slot, bit) = place(*stem);
            bits[slot] |= bit;
        }
        Self { words, stems, bits }
    }

    /// Returns the position in `words` of the word with this stem. Returns `None` if the query does not have it.
    #[inline]
    pub(crate) fn position(&self, stem: Stem) -> Option<usize> {
        let (slot, bit) = place(stem);
        if self.bits[slot] & bit == 0 {
            return None;
        }
        let found = self.stems.binary_search_by_key(&stem, |(stem, _)| *stem);
        Some(self.stems[found.ok()?].1)
    }
}

#[inline]
fn place(stem: Stem) -> (usize, u64) {
    ((stem >> 6) as usize % 64, 1 << (stem % 64))
}
