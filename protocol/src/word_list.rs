//! Lists of words that are constants.

/// Returns true if a list of words that are parted by white space has this word.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == word)
}
