//! Suggestions of similar names for error messages.

/// Returns ` (did you mean …?)` with the nearest of `known`, or an empty string if no candidate is near.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest =
        known.into_iter().map(|candidate| (distance(word, candidate), candidate)).min_by_key(|(distance, _)| *distance);
    match nearest {
        // `raeds` for `reads` differs in two fifths of its letters. A larger distance is likely another word.
        Some((distance, candidate)) if distance * 5 <= word.len().max(candidate.len()) * 2 => {
            format!(" (did you mean `{candidate}`?)")
        }
        _ => String::new(),
    }
}

/// Returns the Levenshtein distance in bytes, which suffices for ASCII names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
