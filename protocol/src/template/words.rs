//! Templates of scheme `exec`: lists of words.

use super::piece::Piece;
use crate::json::{Kind, Node};
use crate::words::{Words, is_plain};
use crate::{Access, Clause, Normaliser, Target, TargetError};

/// Returns the fault and its repair if the words of a template are invalid for its scheme.
pub(super) fn fault(scheme: &str, pieces: &[Piece]) -> Option<&'static str> {
    let of_words = |piece: &Piece| match piece {
        Piece::Field { normaliser, .. } => Some(matches!(normaliser, Some(Normaliser::Word | Normaliser::Words))),
        Piece::Text(_) | Piece::Computed => None,
    };
    if scheme != Target::COMMAND_SCHEME {
        let has_words = pieces.iter().any(|piece| of_words(piece) == Some(true));
        return has_words
            .then_some("`word` and `words` are only for scheme `exec`; write another normaliser, or remove it");
    }
    if pieces.iter().any(|piece| of_words(piece) == Some(false)) {
        return Some("a field of scheme `exec` is one word or several; write `{field|word}` or `{field|words}`");
    }
    // Literal text has no NUL. A field is a whole word, so that no text is glued to its quotes.
    let probe: String = pieces.iter().map(|piece| if let Piece::Text(text) = piece { text } else { "\0" }).collect();
    let is_word = |word: &str| word == "\0" || !word.is_empty() && word.chars().all(is_plain);
    (!probe.split(' ').all(is_word)).then_some(
        "its words are not plain; write words of A-Z a-z 0-9 _ @ % + = : , . / - and fields, with one space between",
    )
}

/// Returns the quoted words of an argument as one text, empty for an empty list.
pub(super) fn quoted(field: &str, normaliser: Normaliser, argument: Node<'_>) -> Result<String, TargetError> {
    let expected = if normaliser == Normaliser::Words { "a list of texts" } else { "a text" };
    let not_text =
        |found: Node<'_>| TargetError::NotText { field: field.to_owned(), found: described(found), expected };
    let word = |value: Node<'_>| match value.kind() {
        Kind::String(text) => {
            normaliser.apply(text).map_err(|reason| TargetError::Argument { field: field.to_owned(), reason })
        }
        _ => Err(not_text(value)),
    };
    match (normaliser, argument.kind()) {
        (Normaliser::Words, Kind::Array) => Ok(argument.elements().map(word).collect::<Result<Vec<_>, _>>()?.join(" ")),
        (Normaliser::Words, _) => Err(not_text(argument)),
        _ => word(argument),
    }
}

/// Returns the clause for all lists that begin with the words of `text`.
pub(super) fn ceiling(access: Access, text: &str) -> Clause {
    let words = text.trim_end();
    // Of a longer text, the digest of a long list takes the place of some words.
    let clause = (words.len() <= Words::MAX_KEPT).then(|| format!("{}:{access}:{words} **", Target::COMMAND_SCHEME));
    let clause = clause.and_then(|clause| clause.parse().ok());
    clause.unwrap_or_else(|| Clause::for_subtree(Target::COMMAND_SCHEME, access, ""))
}

fn described(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool(_) => "a boolean",
        Kind::String(_) => "a text",
        Kind::Array => "a list",
        Kind::Object => "an object",
        _ => "a number",
    }
}
