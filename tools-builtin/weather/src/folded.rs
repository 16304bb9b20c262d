//! [`folded`]: the form in which names are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns a name without letter case, accents, spaces and punctuation: `São Paulo` and `sao-paulo` are equal.
pub(crate) fn folded(name: &str) -> String {
    name.nfkd()
        .filter(|character| !is_combining_mark(*character))
        .flat_map(char::to_lowercase)
        .filter(|character| character.is_alphanumeric())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn case_accents_and_punctuation_do_not_count() {
        for (one, other) in [
            ("São Paulo", "sao paulo"),
            ("Zürich", "Zurich"),
            ("Île-de-France", "ile de france"),
            ("D.C.", "DC"),
            ("Winston-Salem", "Winston Salem"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("北京"), folded("東京"));
    }
}
