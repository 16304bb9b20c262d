//! [`WordsPattern`]: the compiled pattern of a clause of scheme `exec`.

use super::coverage::{PatternWord, is_spelled};
use super::lexer::{Lexed, lex};
use super::row::Effect;
use super::special::{Special, find_wrapped, specials};
use super::{Word, Words, quote};
use crate::invalid_target::InvalidTarget;

/// The maximum length of a pattern with wildcards, in bytes. Does not apply to `git **`.
const MAX_LENGTH: usize = 1024;

/// A compiled pattern over the canonical text of a list of words.
pub(crate) enum WordsPattern {
    /// `**`.
    Any,
    /// A pattern without wildcards.
    Literal(String),
    /// A list without wildcards, then `**`: the text of the list, and the number of its words.
    Prefix(String, usize),
    /// A pattern that no value is known to equal: it has an unknown word, or wildcards before a digest.
    Nothing,
    /// All other patterns.
    Glob(Vec<PatternWord>),
}

impl WordsPattern {
    /// Compiles a pattern. Returns its canonical text, too.
    pub(crate) fn compile(text: &str) -> Result<(String, Self), String> {
        let mut words = lex(text, true)?;
        // Two `**` match what one does, and equal clauses have equal texts.
        words.dedup_by(|later, earlier| is_any(later) && is_any(earlier));
        match &words[..] {
            [word] if is_any(word) => return Ok(("**".to_owned(), Self::Any)),
            [before @ .., last] if is_any(last) && before.iter().all(is_literal) => {
                let base = literal(before)?;
                let canonical = format!("{base} **");
                let pattern = if base.is_known() {
                    Self::Prefix(base.to_string(), before.len())
                } else {
                    Self::Nothing
                };
                return Ok((canonical, pattern));
            }
            all if all.iter().all(is_literal) => {
                // A long list has a digest as the value of its target, and the clause must equal that.
                let value = literal(all)?.to_value();
                let pattern = Self::for_value(&value);
                return Ok((value, pattern));
            }
            _ => {}
        }
        let canonical = words.iter().map(canonical).collect::<Vec<_>>().join(" ");
        // A digest stands for the rest of one list.
        if !words
            .iter()
            .all(|lexed| matches!(lexed.word, Word::Known(_)))
        {
            return Ok((canonical, Self::Nothing));
        }
        if canonical.len() > MAX_LENGTH {
            return Err(format!(
                "a pattern with wildcards has at most {MAX_LENGTH} bytes; write several shorter clauses"
            ));
        }
        let pattern = words.iter().map(pattern_word).collect();
        Ok((canonical, Self::Glob(pattern)))
    }

    /// Creates the pattern that covers only this value, or nothing if it has unknown words.
    pub(crate) fn for_value(value: &str) -> Self {
        match value.parse::<Words>() {
            Ok(words) if words.is_known() => Self::Literal(value.to_owned()),
            _ => Self::Nothing,
        }
    }

    /// Returns the only value that the pattern covers, or `None` if it covers others or nothing.
    pub(crate) fn value(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true if the pattern matches the value of a target.
    pub(crate) fn matches(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Nothing => false,
            Self::Literal(text) => text == value,
            Self::Prefix(base, _) => value
                .strip_prefix(&**base)
                // `git push **` does not cover `git push-all`.
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Glob(pattern) => value
                .parse::<Words>()
                .is_ok_and(|words| is_spelled(pattern, &words.words, &[])),
        }
    }

    /// Returns the special words of a value that matches, if a wildcard of the pattern stands for one of them. A pattern whose program is a
    /// wildcard spells none and has none: it is about every program.
    pub(crate) fn unspelled(&self, value: &str) -> Option<(Words, Special)> {
        let (pattern, count) = match self {
            Self::Any | Self::Nothing | Self::Literal(_) => return None,
            Self::Prefix(base, _) if base.len() == value.len() => return None,
            Self::Prefix(_, count) => (&[][..], *count),
            Self::Glob(pattern) if pattern[0].is_wild() => return None,
            Self::Glob(pattern) => (&pattern[..], 0),
        };
        let words: Words = value.parse().ok()?;
        let found = if pattern.is_empty() {
            specials(&words.words, &|index| index < count)
                .into_iter()
                .find(|special| special.index >= count)
        } else {
            unspelled(pattern, &words.words)
        };
        found.map(|special| (words, special))
    }

    /// Returns the words that the pattern spells, from the program on, if it has wildcards for arguments. Empty if it does not.
    pub(crate) fn spelled_words(&self) -> Vec<&str> {
        match self {
            Self::Any | Self::Nothing | Self::Literal(_) => Vec::new(),
            Self::Prefix(base, _) => base.split(' ').collect(),
            Self::Glob(pattern) if pattern[0].literal().is_some() => {
                pattern.iter().filter_map(PatternWord::literal).collect()
            }
            Self::Glob(_) => Vec::new(),
        }
    }
}

/// Returns a special word for which a wildcard of the pattern stands.
fn unspelled(pattern: &[PatternWord], words: &[Word]) -> Option<Special> {
    let is_literal = |index: usize| {
        let Word::Known(word) = &words[index] else {
            return false;
        };
        pattern.iter().any(|part| part.literal() == Some(word))
    };
    let mut found = specials(words, &is_literal);
    // In `env * git **`, the wildcard must not stand for the program that `env` runs.
    let mut from_wildcard = pattern.iter().skip_while(|part| part.literal().is_some());
    if from_wildcard.any(|part| part.literal().is_some())
        && let Some(index) = find_wrapped(words).filter(|index| !is_literal(*index))
    {
        found.push(Special::whole(index, Effect::Runs, (0, 0)));
    }
    if found.is_empty() || is_spelled(pattern, words, &found) {
        return None;
    }
    let position = found
        .iter()
        .position(|special| !is_literal(special.index))
        .unwrap_or(0);
    Some(found.swap_remove(position))
}

fn pattern_word(lexed: &Lexed) -> PatternWord {
    match &lexed.word {
        Word::Known(text) if !is_any(lexed) => {
            let parts = parts(text, &lexed.stars).into_iter();
            PatternWord::One(parts.map(str::to_owned).collect())
        }
        _ => PatternWord::Any,
    }
}

fn literal(words: &[Lexed]) -> Result<Words, String> {
    let words = Words::new(words.iter().map(|lexed| lexed.word.clone()));
    words.map_err(|error| match error {
        InvalidTarget::Empty => {
            "the pattern is empty; write `**` for every list of words".to_owned()
        }
        error => error.to_string(),
    })
}

fn is_any(lexed: &Lexed) -> bool {
    lexed.stars.len() == 2 && lexed.stars[0] == lexed.stars[1]
}

fn is_literal(lexed: &Lexed) -> bool {
    lexed.stars.is_empty()
}

/// Returns the texts between the wildcards of a known word.
fn parts<'a>(text: &'a str, stars: &[usize]) -> Vec<&'a str> {
    let ends = stars.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(stars.iter().copied());
    starts
        .zip(ends)
        .map(|(start, end)| &text[start..end])
        .collect()
}

fn canonical(lexed: &Lexed) -> String {
    match &lexed.word {
        Word::Known(text) if !is_literal(lexed) => parts(text, &lexed.stars)
            .into_iter()
            .map(|part| match part {
                "" => String::new(),
                part => quote(part),
            })
            .collect::<Vec<_>>()
            .join("*"),
        word => word.to_string(),
    }
}
