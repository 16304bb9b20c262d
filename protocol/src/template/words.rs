//! Templates of scheme `exec`: lists of words.

use super::piece::{Piece, fill};
use crate::access::Access;
use crate::clause::Clause;
use crate::target::Target;
use crate::words::{Words, is_plain};

/// Returns the fault and its repair if the template has scheme `exec` and no valid words.
pub(super) fn fault(scheme: &str, pieces: &[Piece]) -> Option<&'static str> {
    if scheme != Target::COMMAND_SCHEME {
        return None;
    }
    if pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Field { .. }))
    {
        return Some(
            "an argument is no list of words; write `{*}`, and a function that computes the targets",
        );
    }
    // Literal text has no NUL. `{*}` is a whole word, so that no text is glued to its quotes.
    let probe = fill(pieces, "\0");
    let mut words = probe.split(' ');
    let are_plain =
        words.all(|word| word == "\0" || !word.is_empty() && word.chars().all(is_plain));
    (!are_plain).then_some(
        "its words are not plain; write words of A-Z a-z 0-9 _ @ % + = : , . / - and `{*}`, with one space between",
    )
}

/// Returns the clause for all lists that begin with the words of `text`.
pub(super) fn ceiling(access: Access, text: &str) -> Clause {
    let words = text.trim_end();
    // Of a longer text, the digest of a long list takes the place of some words.
    let clause = (words.len() <= Words::MAX_KEPT)
        .then(|| format!("{}:{access}:{words} **", Target::COMMAND_SCHEME));
    let clause = clause.and_then(|clause| clause.parse().ok());
    clause.unwrap_or_else(|| Clause::for_subtree(Target::COMMAND_SCHEME, access, ""))
}
