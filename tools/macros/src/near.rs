//! Suggestions of similar names for error messages.

use strsim::levenshtein;

/// Returns ` (did you mean …?)` with the nearest of `known`, or an empty string if no candidate is near.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = known
        .into_iter()
        .map(|candidate| (levenshtein(word, candidate), candidate))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        // `raeds` for `reads` differs in two fifths of its letters. A larger distance is likely another word.
        Some((distance, candidate)) if distance * 5 <= word.len().max(candidate.len()) * 2 => {
            format!(" (did you mean `{candidate}`?)")
        }
        _ => String::new(),
    }
}
