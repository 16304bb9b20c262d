//! [`Mask`]: replaces secrets in responses and errors.

mod spellings;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous;
use aho_corasick::{Anchored, Input, Match};
use http::{HeaderMap, HeaderValue};

use self::spellings::{Encoding, spellings, utf16};
use crate::BoundSecret;

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

    /// Returns true if there are no secrets.
    fn is_empty(&self) -> bool {
        self.secrets.is_empty()
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
            Some(search) => search.masked(bytes),
            // Text that cannot be searched is not shown.
            None if !self.is_empty() && !bytes.is_empty() => Cow::Borrowed(UNSEARCHED),
            None => Cow::Borrowed(bytes),
        }
    }
}

impl Search {
    /// Returns `None` if the secrets are gigabytes.
    fn new(secrets: &[BoundSecret]) -> Option<Self> {
        let (mut patterns, mut replacements) = (Vec::new(), Vec::new());
        for secret in secrets {
            let replacement = format!("[secret:{}]", secret.name());
            for (spelling, encoding) in spellings(secret.prefix(), secret.expose()) {
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
        let next = |state, byte: &u8| self.automaton.next_state(Anchored::No, state, *byte);
        let state = bytes.iter().fold(state.unwrap_or_else(start), next);
        let depth = self
            .depths
            .binary_search_by_key(&state, |(state, _)| *state);
        (state, depth.map_or(0, |found| self.depths[found].1))
    }

    /// Masks the text up to `end`. Returns it, and where the rest begins, which is before `end` if a secret is in between.
    fn masked_until(&self, bytes: &[u8], end: usize) -> (Vec<u8>, usize) {
        let (mut masked, mut done) = (Vec::with_capacity(end), 0);
        for (start, found) in self.find(bytes) {
            if start >= end {
                break;
            }
            masked.extend_from_slice(&bytes[done..start]);
            if found.end() > end {
                // The part may go on. One secret that covers the place keeps the rest a part, so the secrets before it are left out.
                let covering = |found: &Match| found.start() <= end && found.end() > end;
                return (
                    masked,
                    self.matches(bytes)
                        .filter(covering)
                        .last()
                        .map_or(start, |found| found.start()),
                );
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

    fn masked<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let found = self.find(bytes);
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let (mut masked, mut end) = (Vec::with_capacity(bytes.len()), 0);
        for (start, found) in found {
            masked.extend_from_slice(&bytes[end..start]);
            masked.extend_from_slice(&self.replacements[found.pattern()]);
            end = found.end();
        }
        masked.extend_from_slice(&bytes[end..]);
        Cow::Owned(masked)
    }

    /// Returns the start of each part of the text that secrets take up, and the secret that ends it. Overlapping secrets are one part.
    fn find(&self, bytes: &[u8]) -> Vec<(usize, Match)> {
        let mut parts: Vec<(usize, Match)> = Vec::new();
        for found in self.matches(bytes) {
            let (mut start, mut last) = (found.start(), found);
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

impl fmt::Debug for Mask {
    /// Leaves out the automaton, which contains the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask")
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};

    use super::*;

    const SECRET: &str = "s3cr&t/\"k+y=7 Zq";

    pub(in crate::mask) fn mask(prefix: &str, secret: &str) -> Mask {
        Mask::new(&[BoundSecret::new("key", "https://a", "x-key", prefix, secret).unwrap()])
    }

    #[test]
    fn a_secret_is_replaced_in_the_encodings_that_occur() {
        let mask = mask("Bearer ", SECRET);
        for spelled in [
            SECRET.to_owned(),
            SECRET.to_uppercase(),
            "s3cr%26t%2F%22k%2By%3D7%20Zq".to_owned(),
            "s3cr%26t%2f%22k%2by%3d7+Zq".to_owned(),
            "s3cr&t/%22k+y=7%20Zq".to_owned(),
            "s3cr%2526t%252F%2522k%252By%253D7%2520Zq".to_owned(),
            SECRET.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            r#"s3cr&t/\"k+y=7 Zq"#.to_owned(),
            r#"s3cr&t\/\"k+y=7 Zq"#.to_owned(),
            r#"s3cr\u0026t/\"k+y=7 Zq"#.to_owned(),
            SECRET
                .bytes()
                .map(|byte| format!("\\u00{byte:02x}"))
                .collect(),
            "s3cr&amp;t/&quot;k+y=7 Zq".to_owned(),
            "s3cr&amp;t/&#34;k+y=7 Zq".to_owned(),
            "s3cr&amp;t/\"k+y=7 Zq".to_owned(),
            SECRET.bytes().map(|byte| format!("&#{byte};")).collect(),
            HEXLOWER.encode(SECRET.as_bytes()),
            BASE64.encode(SECRET.as_bytes()),
            BASE64.encode(SECRET.as_bytes()).replace('=', "%3D"),
        ] {
            let masked = mask.text(format!("<{spelled}>"));
            assert_eq!(masked, "<[secret:key]>", "{spelled}");
        }
    }

    #[test]
    fn a_secret_is_replaced_inside_base64_at_every_offset() {
        let mask = mask("Bearer ", SECRET);
        for before in ["", "a", "ab", "Bearer ", "user:"] {
            for after in ["", "z", "zz", "\n"] {
                let text = format!("{before}{SECRET}{after}");
                for encoded in [
                    BASE64.encode(text.as_bytes()),
                    BASE64URL_NOPAD.encode(text.as_bytes()),
                ] {
                    let masked = mask.text(encoded.clone());
                    assert!(masked.contains("[secret:key]"), "{text:?} {encoded}");
                    // Only the characters that are shared with the text around it remain.
                    let rest = masked.replace("[secret:key]", "").len();
                    assert!(
                        rest <= (before.len() + after.len() + 2) * 4 / 3 + 4,
                        "{masked}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_password_of_basic_credentials_is_replaced() {
        let mask = mask("Basic ", &BASE64.encode(b"ada:correct horse"));
        assert_eq!(
            mask.text("welcome correct horse".to_owned()),
            "welcome [secret:key]"
        );
        let short = self::mask("Basic ", &BASE64.encode(b"ada:horse"));
        assert_eq!(
            short.text("a horse, ada:horse".to_owned()),
            "a horse, [secret:key]"
        );
    }

    #[test]
    fn overlapping_secrets_are_replaced_whole() {
        let secrets = ["abcdefgh", "cdefghij", "defghijklmnop"].map(|secret| {
            BoundSecret::new(
                &secret[..1],
                &format!("https://{secret}"),
                "x-key",
                "",
                secret,
            )
            .unwrap()
        });
        let mask = Mask::new(&secrets);
        assert_eq!(
            mask.text("<abcdefghijklmnop><abcdefghij><cdefghij>".to_owned()),
            "<[secret:d]><[secret:c]><[secret:c]>"
        );
        assert_eq!(
            mask.text("abcdefghabcdefgh".to_owned()),
            "[secret:a][secret:a]"
        );
    }

    #[test]
    fn long_secrets_are_replaced_in_text_that_almost_has_them() {
        const LENGTH: usize = 4096;
        let long = |letter: &str| format!("{}{letter}", "a".repeat(LENGTH));
        let secrets = ["b", "c", "%", "&", "\""].map(|letter| {
            BoundSecret::new("key", "https://a", "x-key", "", &long(letter)).unwrap()
        });
        let mask = Mask::new(&secrets);
        let almost = [
            "a", "%61", "%25", "&#97;", "&#0000", "61", "YWFh", "\\u0061", "a\0",
        ];
        for piece in almost {
            let body = piece.repeat(256 * 1024 / piece.len());
            assert!(
                !mask.text(format!("{body}{}", long("b"))).contains("ab"),
                "{piece}"
            );
        }
    }

    #[test]
    fn a_secret_is_replaced_in_utf_16() {
        let mask = mask("", SECRET);
        for encode in [u16::to_le_bytes, u16::to_be_bytes] {
            let utf16 = |text: &str| text.encode_utf16().flat_map(encode).collect::<Vec<_>>();
            assert_eq!(
                *mask.bytes(&utf16(&format!("<{SECRET}>"))),
                utf16("<[secret:key]>")
            );
        }
    }

    #[test]
    fn a_header_is_masked_or_removed() {
        let mask = mask("", "Secret-Key-1");
        let mut headers = HeaderMap::new();
        headers.append("a", HeaderValue::from_static("Secret-Key-1 and more"));
        headers.append("a", HeaderValue::from_static("plain"));
        headers.append("x-secret-key-1", HeaderValue::from_static("b"));
        let masked = mask.headers(&headers);
        assert_eq!(
            masked.get_all("a").iter().collect::<Vec<_>>(),
            ["[secret:key] and more", "plain"]
        );
        assert_eq!(masked.len(), 2);
    }
}
