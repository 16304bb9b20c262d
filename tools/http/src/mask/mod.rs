//! [`Mask`]: replaces secrets in responses and errors.

mod spellings;
mod stream;

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous;
use aho_corasick::{Anchored, Input, Match};
use http::{HeaderMap, HeaderValue};

use self::spellings::{Encoding, spellings, utf16};
use crate::secret::BoundSecret;

pub(crate) use self::stream::MaskedStream;

/// Shown in place of text that cannot be searched.
const UNSEARCHED: &[u8] = b"[secret]";

/// Replaces secrets in responses and errors, in each of their [spellings]. The search takes time in proportion to the text, whatever
/// the secrets and the text are.
#[derive(Default)]
pub(crate) struct Mask {
    secrets: Vec<BoundSecret>,
    /// The automaton, made when it is first needed.
    search: OnceLock<Option<Search>>,
}

struct Search {
    automaton: contiguous::NFA,
    /// The replacement of each pattern of the automaton.
    replacements: Vec<Vec<u8>>,
    /// The number of bytes that lead from the start to each state, in the order of the states.
    depths: Vec<(StateID, usize)>,
}

impl Mask {
    /// Creates the mask of these secrets.
    pub(crate) fn new(secrets: &[BoundSecret]) -> Self {
        Self {
            secrets: secrets.to_vec(),
            search: OnceLock::new(),
        }
    }

    /// Returns true if the mask needs no [preparation](Self::prepare).
    pub(crate) fn is_ready(&self) -> bool {
        self.search.get().is_some()
    }

    /// Makes the automaton. This takes a second for several secrets of kilobytes.
    pub(crate) fn prepare(&self) {
        self.search();
    }

    /// Masks a text.
    pub(crate) fn text(&self, text: String) -> String {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => String::from_utf8_lossy(&masked).into_owned(),
        }
    }

    /// Masks the values of headers, and removes headers whose name is a secret.
    pub(crate) fn headers(&self, headers: &HeaderMap) -> HeaderMap {
        let mut masked = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            if matches!(self.bytes(name.as_str().as_bytes()), Cow::Owned(_)) {
                continue;
            }
            let value = match self.bytes(value.as_bytes()) {
                Cow::Borrowed(_) => value.clone(),
                // The replacement has no characters that a header cannot have.
                Cow::Owned(bytes) => {
                    HeaderValue::from_bytes(&bytes).unwrap_or(HeaderValue::from_static("[secret]"))
                }
            };
            masked.append(name, value);
        }
        masked
    }

    fn search(&self) -> Option<&Search> {
        self.search
            .get_or_init(|| Search::new(&self.secrets))
            .as_ref()
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self.search() {
            Some(search) => search.mask(bytes),
            // Text that cannot be searched is not shown.
            None if !self.secrets.is_empty() && !bytes.is_empty() => Cow::Borrowed(UNSEARCHED),
            None => Cow::Borrowed(bytes),
        }
    }
}

impl Search {
    /// Returns `None` if the secrets are gigabytes.
    fn new(secrets: &[BoundSecret]) -> Option<Self> {
        let mut patterns = Vec::new();
        let mut replacements = Vec::new();
        for secret in secrets {
            let replacement = format!("[secret:{}]", secret.name);
            for (spelling, encoding) in spellings(&secret.prefix, secret.secret.expose()) {
                patterns.push(spelling);
                replacements.push(match encoding {
                    Encoding::Ascii => replacement.clone().into_bytes(),
                    Encoding::Utf16 => utf16(&replacement),
                });
            }
        }
        // Other kinds take far more memory for long secrets.
        let automaton = contiguous::NFA::builder()
            .ascii_case_insensitive(true)
            .build(&patterns)
            .ok()?;
        let mut depths = Vec::new();
        for pattern in patterns {
            let mut state = automaton.start_state(Anchored::No).ok()?;
            for (depth, byte) in (1..).zip(pattern) {
                state = automaton.next_state(Anchored::No, state, byte);
                depths.push((state, depth));
            }
        }
        depths.sort_unstable();
        depths.dedup();
        Some(Self {
            automaton,
            replacements,
            depths,
        })
    }

    /// Follows the bytes from a state, or from the start. Returns the next state, and how many of the last bytes may begin a secret.
    fn walk(&self, state: Option<StateID>, bytes: &[u8]) -> (StateID, usize) {
        let start = || {
            let start = self.automaton.start_state(Anchored::No);
            start.unwrap_or_else(|_| unreachable!("the automaton searches without an anchor"))
        };
        let mut state = state.unwrap_or_else(start);
        for byte in bytes {
            state = self.automaton.next_state(Anchored::No, state, *byte);
        }
        let depth = self
            .depths
            .binary_search_by_key(&state, |(state, _)| *state);
        (state, depth.map_or(0, |found| self.depths[found].1))
    }

    /// Masks the text up to `end`. Returns it, and where the rest begins, which is before `end` if a secret is in between.
    fn masked_until(&self, bytes: &[u8], end: usize) -> (Vec<u8>, usize) {
        let mut masked = Vec::with_capacity(end);
        let mut done = 0;
        for (start, found) in self.find(bytes) {
            if start >= end {
                break;
            }
            masked.extend_from_slice(&bytes[done..start]);
            if found.end() > end {
                // The part may go on. One secret that covers the place keeps the rest a part, so the secrets before it are left out.
                let matches = self.matches(bytes);
                let covering = matches.filter(|found| found.start() <= end && found.end() > end);
                let last = covering.last();
                return (masked, last.map_or(start, |found| found.start()));
            }
            masked.extend_from_slice(&self.replacements[found.pattern()]);
            done = found.end();
        }
        masked.extend_from_slice(&bytes[done..end]);
        (masked, end)
    }

    /// Returns the secrets in a text in the order of their ends, also those that overlap.
    fn matches(&self, bytes: &[u8]) -> impl Iterator<Item = Match> {
        let found = self.automaton.try_find_overlapping_iter(Input::new(bytes));
        found.unwrap_or_else(|_| unreachable!("the automaton finds overlapping secrets"))
    }

    /// Replaces all secrets.
    fn mask<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.find(bytes).is_empty() {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(self.masked_until(bytes, bytes.len()).0)
    }

    /// Returns the start of each part of the text that secrets take up, and the secret that ends it. Overlapping secrets are one part.
    fn find(&self, bytes: &[u8]) -> Vec<(usize, Match)> {
        let mut parts: Vec<(usize, Match)> = Vec::new();
        for found in self.matches(bytes) {
            let mut start = found.start();
            let mut last = found;
            while let Some((first, before)) =
                parts.pop_if(|(_, before)| before.end() > found.start())
            {
                start = start.min(first);
                // Of two that end at the same place, the longer one says how the text is encoded.
                if before.end() == found.end() && before.len() > found.len() {
                    last = before;
                }
            }
            parts.push((start, last));
        }
        parts
    }
}

#[cfg(test)]
mod tests;
