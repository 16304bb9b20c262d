//! [`WordsPattern`]: the compiled pattern of a clause of scheme `exec`.

use regex::bytes::Regex;

use super::lexer::{Lexed, lex};
use super::{Word, Words, quote};
use crate::InvalidTarget;

/// The maximum length of a pattern with wildcards, in bytes. Does not apply to `git **`.
const MAX_LENGTH: usize = 1024;

/// A compiled pattern over the canonical text of a list of words.
pub(crate) enum WordsPattern {
    /// `**`.
    Any,
    /// A pattern without wildcards.
    Literal(String),
    /// A list without wildcards, then `**`: the text of the list.
    Prefix(String),
    /// A pattern that no value is known to equal: it has an unknown word, or wildcards before a digest.
    Nothing,
    /// All other patterns, over the [encoded](encode) words.
    Glob(Regex),
}

impl WordsPattern {
    /// Compiles a pattern. Returns its canonical text, too.
    pub(crate) fn compile(text: &str) -> Result<(String, Self), String> {
        let mut words = lex(text, true)?;
        words.dedup_by(|later, earlier| is_any(later) && is_any(earlier));
        match &words[..] {
            [word] if is_any(word) => return Ok(("**".to_owned(), Self::Any)),
            [before @ .., last] if is_any(last) && before.iter().all(is_literal) => {
                let base = literal(before)?;
                let canonical = format!("{base} **");
                return Ok((canonical, if base.is_known() { Self::Prefix(base.to_string()) } else { Self::Nothing }));
            }
            all if all.iter().all(is_literal) => {
                let value = literal(all)?.to_value();
                let pattern = Self::for_value(&value);
                return Ok((value, pattern));
            }
            _ => {}
        }
        let canonical = words.iter().map(canonical).collect::<Vec<_>>().join(" ");
        // A digest stands for the rest of one list.
        if !words.iter().all(|lexed| matches!(lexed.word, Word::Known(_))) {
            return Ok((canonical, Self::Nothing));
        }
        if canonical.len() > MAX_LENGTH {
            return Err(format!(
                "a pattern with wildcards has at most {MAX_LENGTH} bytes; write several shorter clauses"
            ));
        }
        let regex: String = words.iter().map(regex).collect();
        let regex =
            Regex::new(&format!(r"\A{regex}\z")).map_err(|error| format!("{error}; write several simpler clauses"))?;
        Ok((canonical, Self::Glob(regex)))
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

    /// Returns true if the pattern covers the value of a target.
    pub(crate) fn matches(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Nothing => false,
            Self::Literal(text) => text == value,
            Self::Prefix(base) => {
                value.strip_prefix(&**base).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }
            Self::Glob(regex) => value.parse::<Words>().is_ok_and(|words| regex.is_match(&encode(&words))),
        }
    }
}

fn literal(words: &[Lexed]) -> Result<Words, String> {
    let words = Words::new(words.iter().map(|lexed| lexed.word.clone()));
    words.map_err(|error| match error {
        InvalidTarget::Empty => "the pattern is empty; write `**` for every list of words".to_owned(),
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
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}

fn canonical(lexed: &Lexed) -> String {
    match &lexed.word {
        Word::Known(text) if !is_literal(lexed) => {
            let quoted = |part: &str| if part.is_empty() { String::new() } else { quote(part) };
            parts(text, &lexed.stars).into_iter().map(quoted).collect::<Vec<_>>().join("*")
        }
        word => word.to_string(),
    }
}

/// Returns the words as bytes, each followed by a NUL. Words that are not known have bytes that no UTF-8 text has.
fn encode(words: &Words) -> Vec<u8> {
    let mut encoded = Vec::new();
    for word in words.iter() {
        match word {
            Word::Known(text) => encoded.extend_from_slice(text.as_bytes()),
            Word::Unknown(_) => encoded.push(0xff),
            Word::UnknownWords(_) | Word::Digest(_) => encoded.push(0xfe),
        }
        encoded.push(0);
    }
    encoded
}

/// Returns the regular expression for the encoded words that a known word of a pattern matches.
fn regex(lexed: &Lexed) -> String {
    if is_any(lexed) {
        return r"(?-u:[^\x00]*\x00)*".to_owned();
    }
    let Word::Known(text) = &lexed.word else { return String::new() };
    match parts(text, &lexed.stars)[..] {
        ["", ""] => r"(?-u:[^\x00\xfe]*\x00)".to_owned(),
        ref parts => {
            let parts: Vec<_> = parts.iter().map(|part| regex::escape(part)).collect();
            // A word that is not known has no byte of a literal part.
            parts.join(r"(?-u:[^\x00]*)") + r"(?-u:\x00)"
        }
    }
}
