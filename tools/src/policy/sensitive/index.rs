//! [`Index`]: finds the patterns whose first segment matches a name, without a look at the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The patterns of a table by their first segment. A path that a pattern matches, or that leads to a match, has a name that its first
/// segment matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The numbers of the patterns whose first segment has no wildcard, by this segment in lower case.
    literal: HashMap<Box<str>, Vec<usize>>,
    wild: BTreeMap<Hint, Vec<Wild>>,
}

/// A byte in lower case that a name must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hint {
    First(u8),
    Last(u8),
    Any,
}

/// A pattern whose first segment has a wildcard.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wild {
    /// The text before the first wildcard.
    begin: Box<[u8]>,
    /// The text after the last wildcard.
    end: Box<[u8]>,
    number: usize,
}

impl Wild {
    /// Returns true if the segment can match the name.
    fn may_match(&self, name: &[u8]) -> bool {
        name.len() >= self.begin.len() + self.end.len()
            && name[name.len() - self.end.len()..].eq_ignore_ascii_case(&self.end)
            && name[..self.begin.len()].eq_ignore_ascii_case(&self.begin)
    }
}

impl Index {
    /// Adds a pattern with its number.
    pub(super) fn add(&mut self, number: usize, pattern: &str) {
        let first = pattern
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        match (first.split_once('*'), first.rsplit_once('*')) {
            (Some((begin, _)), Some((_, end))) => {
                let hint = match (begin.bytes().next(), end.bytes().last()) {
                    (Some(byte), _) => Hint::First(byte.to_ascii_lowercase()),
                    (None, Some(byte)) => Hint::Last(byte.to_ascii_lowercase()),
                    (None, None) => Hint::Any,
                };
                let wild = Wild {
                    begin: begin.as_bytes().into(),
                    end: end.as_bytes().into(),
                    number,
                };
                self.wild.entry(hint).or_default().push(wild);
            }
            _ => self
                .literal
                .entry(first.to_ascii_lowercase().into())
                .or_default()
                .push(number),
        }
    }

    /// Returns the numbers of all patterns whose first segment matches a name, and of some others. Each number occurs once.
    pub(super) fn candidates(&self, name: &str) -> impl Iterator<Item = usize> {
        let lower = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
        let literal = self.literal.get(&*lower).into_iter().flatten().copied();
        let first = lower.bytes().next().map(Hint::First);
        let last = lower.bytes().last().map(Hint::Last);
        let hinted = [first, last, Some(Hint::Any)]
            .into_iter()
            .flatten()
            .filter_map(|hint| self.wild.get(&hint));
        let wild = hinted
            .flatten()
            .filter(move |wild| wild.may_match(name.as_bytes()));
        literal.chain(wild.map(|wild| wild.number))
    }
}
