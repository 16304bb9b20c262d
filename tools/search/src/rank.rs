//! BM25 over weighted fields.

use std::cmp::Ordering;

use crate::document::Document;
use crate::field::Field;
use crate::query::Query;

/// The parameters of the ranking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    /// The number of times that a word in each field counts.
    pub(crate) weights: [f64; Field::ALL.len()],
    /// How much a word counts that a definition repeats.
    pub(crate) k1: f64,
    /// How much a long definition counts less, between 0 and 1.
    pub(crate) b: f64,
}

impl Ranking {
    /// The parameters that found most tools for one half of the measured queries. No measured tool has a title or tags; they count as
    /// much as the name.
    pub(crate) const TUNED: Self = Self {
        weights: [1.65, 1.65, 0.9, 1.65, 1.55, 0.55],
        k1: 0.8,
        b: 0.8,
    };

    /// Returns at most `limit` documents that have words of the query, best first. Counts only the passed documents, so that no other one
    /// has an influence. Equal scores are in the order of names. Also returns the number of all that have words of the query.
    pub(crate) fn rank<'a>(
        &self,
        documents: impl Iterator<Item = &'a Document>,
        query: &Query,
        limit: usize,
    ) -> (Vec<(f64, &'a Document)>, usize) {
        // Counted anew in each search, because a tool that the session may not call must change nothing. The crates `bm25`
        // and `probly-search`, and FTS5 of SQLite, count all documents once.
        let mut number = 0_usize;
        let mut total = 0.0;
        let mut having = vec![0_usize; query.words.len()];
        let mut candidates: Vec<(&Document, f64, usize)> = Vec::new();
        // The words of all candidates, each with its weighted count.
        let mut hits: Vec<(usize, f64)> = Vec::new();
        for document in documents {
            let length = self.weighted(document.lengths);
            number += 1;
            total += length;
            let known = hits.len();
            for term in &document.terms {
                if let Some(word) = query.position(term.stem) {
                    let count = self.weighted(term.counts);
                    if count > 0.0 {
                        hits.push((word, count));
                        having[word] += 1;
                    }
                }
            }
            if hits.len() > known {
                candidates.push((document, length, hits.len()));
            }
        }
        let number = number as f64;
        let average = total / number;
        let rarity =
            // The 1 keeps the rarity above zero for words that most tools have.
            |having: usize| (1.0 + (number - having as f64 + 0.5) / (having as f64 + 0.5)).ln();
        let rarities = having.into_iter().zip(&query.words);
        let rarities: Vec<f64> = rarities
            .map(|(having, word)| rarity(having) * word.share)
            .collect();
        let mut start = 0;
        let mut ranked: Vec<(f64, &Document)> = Vec::with_capacity(candidates.len());
        for (document, length, end) in candidates {
            let saturation = self.k1 * (1.0 - self.b + self.b * length / average);
            let scores = hits[start..end].iter().map(|(word, count)| {
                rarities[*word] * count * (self.k1 + 1.0) / (count + saturation)
            });
            ranked.push((scores.sum(), document));
            start = end;
        }
        let having_words = ranked.len();
        if limit < having_words {
            ranked.select_nth_unstable_by(limit, compare);
            ranked.truncate(limit);
        }
        ranked.sort_unstable_by(compare);
        (ranked, having_words)
    }

    fn weighted<T: Into<f64>>(&self, counts: [T; Field::ALL.len()]) -> f64 {
        let counts = self.weights.iter().zip(counts);
        counts.map(|(weight, count)| weight * count.into()).sum()
    }
}

/// Compares two results: the better one comes first, and equally good ones are sorted by name.
fn compare((a, one): &(f64, &Document), (b, other): &(f64, &Document)) -> Ordering {
    b.total_cmp(a).then_with(|| one.name.cmp(&other.name))
}
