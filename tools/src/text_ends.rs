//! The beginning and the end of a text, cut at whole characters.

/// Returns the longest prefix of whole characters with at most `most` bytes.
pub fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Returns the longest suffix of whole characters with at most `most` bytes.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let start =
        (text.len() - most.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}
