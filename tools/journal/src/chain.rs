//! The hash chain: each row's hash covers the digest of the row's content and the previous row's hash.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::ValueRef;
use tools::Digest;

/// The type byte of a salt or a digest. No column has it, so neither is mistaken for one.
const CONTENT: u8 = 5;

/// Returns the hash that the first row follows.
pub(crate) fn genesis() -> Digest {
    Digest::hash_bytes(b"toolcrib journal 1")
}

/// Returns the digest of a row's content: SHA-256 over its salt and its columns in the order of
/// [`COLUMNS`](crate::row::COLUMNS).
///
/// The digest replaces the content of an erased row. The salt is erased too, so that the digest does not confirm a guess.
pub(crate) fn content<'a>(salt: &[u8], columns: impl IntoIterator<Item = ValueRef<'a>>) -> Digest {
    let mut bytes = Vec::new();
    push_sized(&mut bytes, CONTENT, salt);
    push_columns(&mut bytes, columns);
    Digest::hash_bytes(&bytes)
}

/// Returns the hash of a row: SHA-256 over the previous row's hash and the digest of the row's content.
pub(crate) fn link(before: &Digest, content: &Digest) -> Digest {
    let mut bytes = before.as_bytes().to_vec();
    push_sized(&mut bytes, CONTENT, content.as_bytes());
    Digest::hash_bytes(&bytes)
}

/// Returns the hash of a row of schema version 1 or 2, which has no digest of its content: SHA-256 over the previous row's hash
/// and the columns.
pub(crate) fn link_columns<'a>(
    before: &Digest,
    columns: impl IntoIterator<Item = ValueRef<'a>>,
) -> Digest {
    let mut bytes = before.as_bytes().to_vec();
    push_columns(&mut bytes, columns);
    Digest::hash_bytes(&bytes)
}

/// Encodes each column as a type byte, the length for texts and blobs, and the bytes. No two rows have the same encoding. Numbers
/// are big-endian.
fn push_columns<'a>(bytes: &mut Vec<u8>, columns: impl IntoIterator<Item = ValueRef<'a>>) {
    for column in columns {
        match column {
            ValueRef::Null => bytes.push(0),
            ValueRef::Integer(number) => {
                bytes.push(1);
                bytes.extend(number.to_be_bytes());
            }
            ValueRef::Text(text) => push_sized(bytes, 2, text),
            ValueRef::Blob(blob) => push_sized(bytes, 3, blob),
            ValueRef::Real(number) => {
                bytes.push(4);
                bytes.extend(number.to_bits().to_be_bytes());
            }
        }
    }
}

fn push_sized(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.push(kind);
    bytes.extend((content.len() as u64).to_be_bytes());
    bytes.extend(content);
}

/// The number of rows of a journal and the hash of the last one, written as `COUNT:HASH`.
///
/// Stored outside of the journal, it shows later that no row up to this one was cut off or rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The number of rows.
    pub count: u64,
    /// The hash of the last row, or the hash that the first row follows if there are no rows.
    pub hash: Digest,
}

/// An error from parsing a [`Head`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the head of a journal: {text:?}; pass COUNT:HASH as printed when the journal was verified"
)]
pub struct InvalidHead {
    /// The given text, cut after 100 characters.
    pub text: String,
}

impl Head {
    pub(crate) fn new(count: u64, hash: Digest) -> Self {
        Self { count, hash }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, self.hash)
    }
}

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        let parts = text.split_once(':');
        let parsed = parts.and_then(|(count, hash)| {
            let count = count.parse().ok()?;
            let hash = hash.parse().ok()?;
            Some(Self { count, hash })
        });
        parsed.ok_or_else(|| InvalidHead {
            text: text.chars().take(100).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::types::Value;

    use super::*;

    fn columns() -> impl Strategy<Value = Vec<Value>> {
        let column = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Integer),
            "[\\PC\0]{0,6}".prop_map(Value::Text),
            proptest::collection::vec(any::<u8>(), 0..6).prop_map(Value::Blob),
        ];
        proptest::collection::vec(column, 0..6)
    }

    fn hash(before: &Digest, columns: &[Value]) -> Digest {
        link(
            before,
            &content(b"salt", columns.iter().map(ValueRef::from)),
        )
    }

    proptest! {
        #[test]
        fn different_rows_have_different_hashes(a in columns(), b in columns()) {
            prop_assert_eq!(a == b, hash(&genesis(), &a) == hash(&genesis(), &b));
        }

        #[test]
        fn the_hash_of_a_row_follows_from_the_one_before(row in columns(), before in columns()) {
            let other = hash(&genesis(), &before);
            prop_assert_ne!(hash(&genesis(), &row), hash(&other, &row));
        }

        #[test]
        fn the_digest_of_a_content_depends_on_the_salt(row in columns(), salt in any::<[u8; 4]>()) {
            let digest = |salt: &[u8]| content(salt, row.iter().map(ValueRef::from));
            prop_assert_eq!(digest(&salt) == digest(b"salt"), &salt == b"salt");
        }

        #[test]
        fn neighbouring_columns_do_not_run_into_each_other(text in "[a-z]{2,8}", at in 1..8_usize) {
            let at = at.min(text.len() - 1);
            let split = |at: usize| [&text[..at], &text[at..]].map(|part| Value::Text(part.to_owned()));
            prop_assert_ne!(hash(&genesis(), &split(at)), hash(&genesis(), &split(0)));
        }
    }
}
