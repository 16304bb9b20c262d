//! Lists of words that are one text.

/// Returns true if the list has this word. Single spaces separate its words.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}
