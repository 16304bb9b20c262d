//! Removes the key from streamed responses, because rig logs the errors in them and services repeat keys.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rig_core::http_client::BoxedStream;
use secrecy::{ExposeSecret, SecretString};

/// Stands for the key.
const KEY: &[u8] = b"[key]";

/// Replaces the key in a body, also where it spans pieces. Other bytes pass in the same order, some of them later.
pub(super) fn without_key(body: BoxedStream, key: &SecretString) -> BoxedStream {
    if key.expose_secret().is_empty() {
        return body;
    }
    let state = Some((body, Vec::new(), key.clone()));
    Box::pin(stream::unfold(state, |state| async {
        let (mut body, mut held, key) = state?;
        let secret = key.expose_secret().as_bytes();
        match body.next().await {
            Some(Ok(piece)) => {
                held.extend_from_slice(&piece);
                let whole = replaced(&held, secret);
                let rest = whole.len() - begun(&whole, secret);
                held = whole[rest..].to_vec();
                Some((Ok(Bytes::copy_from_slice(&whole[..rest])), Some((body, held, key))))
            }
            Some(Err(error)) => Some((Err(error), None)),
            None if held.is_empty() => None,
            None => Some((Ok(held.into()), None)),
        }
    }))
}

fn replaced(bytes: &[u8], key: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = rest.windows(key.len()).position(|window| window == key) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(KEY);
        rest = &rest[at + key.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the length of the longest end of the bytes that begins the key.
fn begun(bytes: &[u8], key: &[u8]) -> usize {
    (1..key.len()).rev().find(|length| bytes.ends_with(&key[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_key_is_removed_in_pieces_of_any_size() {
        let key = SecretString::from("sk-sk-1");
        let text = "a sk-sk-1 b sk-sk-sk-1 c sk-sk-2 é sk-";
        for size in 1..text.len() {
            let pieces: Vec<_> = text.as_bytes().chunks(size).map(Bytes::copy_from_slice).map(Ok).collect();
            let pieces: Vec<_> = without_key(Box::pin(stream::iter(pieces)), &key).map(Result::unwrap).collect().await;
            assert_eq!(pieces.concat(), "a [key] b sk-[key] c sk-sk-2 é sk-".as_bytes(), "{size}");
        }
    }
}
