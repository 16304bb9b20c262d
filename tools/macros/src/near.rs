//! The nearest of some words, for errors that suggest one.

/// ` (did you mean …?)` where one of `known` looks like `word`, and nothing otherwise.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest =
        known.into_iter().map(|candidate| (distance(word, candidate), candidate)).min_by_key(|(distance, _)| *distance);
    match nearest {
        // Two fifths of the letters wrong, as in `raeds`, can be a typo; more than that is another word.
        Some((distance, candidate)) if distance * 5 <= word.len().max(candidate.len()) * 2 => {
            format!(" (did you mean `{candidate}`?)")
        }
        _ => String::new(),
    }
}

/// The edit distance of Levenshtein, in bytes: the words at hand are ASCII.
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
