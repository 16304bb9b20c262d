//! [`MaskedStream`]: replaces secrets in a body as it arrives.

use std::sync::Arc;

use aho_corasick::automaton::StateID;
use bytes::Bytes;

use super::{Mask, UNSEARCHED};

/// Replaces secrets in a body as it arrives. Only bytes that may begin a secret are held back until more arrive, so that a message
/// which ends with a line break is shown at once.
pub(crate) struct MaskedStream {
    pub(crate) mask: Arc<Mask>,
    /// The state of the automaton after all bytes so far. Returns to the start if `None`.
    state: Option<StateID>,
    held: Vec<u8>,
}

impl MaskedStream {
    pub(crate) fn new(mask: Arc<Mask>) -> Self {
        Self {
            mask,
            state: None,
            held: Vec::new(),
        }
    }

    /// Takes the next bytes, and returns those that can be shown.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Bytes {
        let Some(search) = self.mask.search() else {
            return if self.mask.secrets.is_empty() {
                bytes
            } else {
                UNSEARCHED.into()
            };
        };
        let (state, open) = search.walk(self.state, &bytes);
        self.state = Some(state);
        if self.held.is_empty() && open == 0 && search.find(&bytes).is_empty() {
            return bytes;
        }
        self.held.extend_from_slice(&bytes);
        let (shown, rest) = search.masked_until(&self.held, self.held.len() - open);
        self.held.drain(..rest);
        shown.into()
    }

    /// Returns the bytes that were held back.
    pub(crate) fn finish(&mut self) -> Bytes {
        let held = std::mem::take(&mut self.held);
        self.mask.bytes(&held).into_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::mask;
    use super::*;
    use crate::secret::BoundSecret;

    /// Returns the whole after it arrived in chunks.
    fn streamed(mask: &Arc<Mask>, chunks: &[&[u8]]) -> Vec<u8> {
        let mut stream = MaskedStream::new(mask.clone());
        let mut shown: Vec<u8> = chunks
            .iter()
            .flat_map(|chunk| stream.push(Bytes::copy_from_slice(chunk)))
            .collect();
        shown.extend_from_slice(&stream.finish());
        shown
    }

    #[test]
    fn a_body_is_masked_alike_however_it_is_cut() {
        let secrets = [
            "abcdefgh",
            "cdefghij",
            "defghijklmnop",
            "xabcdefghy",
            "aaaaaaaa",
            "hhhhhhhhb",
        ]
        .map(|secret| {
            BoundSecret::new(secret, &format!("https://{secret}"), "x-key", "", secret).unwrap()
        });
        let mask = Arc::new(Mask::new(&secrets));
        for text in [
            "plain text without any of them".to_owned(),
            "<abcdefgh><ABCDEFGHij><abcdefghijklmnop><xabcdefgh><xabcdefghy>abcdefg".to_owned(),
            "a".repeat(60),
            format!("{}b{}", "a".repeat(20), "h".repeat(20)),
            "abcdefghabcdefghijabcdefghijklmnopxabcdefghabcdefghy".to_owned(),
            "YWJjZGVmZ2g= 6162636465666768 %61%62%63%64%65%66%67%68".to_owned(),
        ] {
            let bytes = text.as_bytes();
            let whole = mask.bytes(bytes).into_owned();
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let cut = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(streamed(&mask, &cut), whole, "{text} {first} {second}");
                }
            }
            for size in 1..10 {
                assert_eq!(
                    streamed(&mask, &bytes.chunks(size).collect::<Vec<_>>()),
                    whole,
                    "{text} {size}"
                );
            }
        }
    }

    #[test]
    fn only_what_may_begin_a_secret_is_held_back() {
        let mut stream = MaskedStream::new(Arc::new(mask("", "Secret-Key-1")));
        for (pushed, shown) in [
            ("data: event\n\n", "data: event\n\n"),
            ("data: secret", "data: "),
            ("s\n", "secrets\n"),
            ("Secret-", ""),
            ("Key-1", ""),
            ("\n", "[secret:key]\n"),
        ] {
            assert_eq!(
                stream.push(Bytes::from_static(pushed.as_bytes())),
                shown,
                "{pushed:?}"
            );
        }
    }

    #[test]
    fn few_bytes_of_a_chain_of_secrets_are_kept() {
        let mut stream = MaskedStream::new(Arc::new(mask("", "aaaaaaaa")));
        for _ in 0..100 {
            assert_eq!(stream.push(Bytes::from(vec![b'a'; 200])), "");
            assert!(stream.held.len() < 100, "{}", stream.held.len());
        }
        assert_eq!(stream.push(Bytes::from_static(b"\n")), "[secret:key]\n");
    }

    #[test]
    fn bytes_without_secrets_are_not_copied() {
        let bytes = Bytes::from_static(b"plain\n");
        assert_eq!(
            MaskedStream::new(Arc::new(mask("", "Secret-Key-1")))
                .push(bytes.clone())
                .as_ptr(),
            bytes.as_ptr()
        );
    }
}
