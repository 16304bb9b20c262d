//! Decides whether a clause spells the special words of a command.

use super::Word;
use super::special::Special;

/// A word of a pattern with wildcards.
pub(crate) enum PatternWord {
    /// `**`.
    Any,
    /// The texts between the wildcards of one word.
    One(Vec<String>),
}

impl PatternWord {
    /// Returns the word if it has no wildcards.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::One(parts) if parts.len() == 1 => Some(&parts[0]),
            _ => None,
        }
    }

    /// Returns true if the word is `*` or `**`.
    pub(super) fn is_wild(&self) -> bool {
        match self {
            Self::Any => true,
            Self::One(parts) => parts.len() > 1 && parts.iter().all(String::is_empty),
        }
    }

    /// Returns true if one word matches, and this one spells the first `length` bytes of it.
    fn spells(&self, word: &Word, length: usize) -> bool {
        let Self::One(parts) = self else { return false };
        match (word, &parts[..]) {
            (Word::Known(word), [only]) => word == only,
            (Word::Known(word), [first, middle @ .., last]) => {
                let Some(mut rest) = word.strip_prefix(&**first) else {
                    return false;
                };
                for part in middle {
                    let Some(at) = rest.find(&**part) else {
                        return false;
                    };
                    rest = &rest[at + part.len()..];
                }
                // A wildcard must not stand for the part that makes the word special.
                rest.ends_with(&**last) && first.len() >= length
            }
            // An unknown text may be anything, so only a bare `*` is certain to match it.
            (Word::Unknown(_), _) => self.is_wild(),
            _ => false,
        }
    }
}

/// Returns true if the words match the pattern in a way in which no wildcard stands for a special word.
pub(super) fn is_spelled(pattern: &[PatternWord], words: &[Word], specials: &[Special]) -> bool {
    // The special words by index, with the most that one of them needs.
    let mut lengths: Vec<Option<usize>> = vec![None; words.len()];
    for special in specials {
        let length = &mut lengths[special.index];
        *length = (*length).max(Some(special.length));
    }
    // The numbers of words that the pattern matches up to here.
    let mut reached = vec![false; words.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; words.len() + 1];
        for (index, is_reached) in reached.iter().enumerate() {
            match part {
                PatternWord::Any => {
                    let before = index > 0 && next[index - 1] && lengths[index - 1].is_none();
                    next[index] = *is_reached || before;
                }
                part if *is_reached && index < words.len() => {
                    next[index + 1] = part.spells(&words[index], lengths[index].unwrap_or(0));
                }
                PatternWord::One(_) => {}
            }
        }
        reached = next;
    }
    reached[words.len()]
}
