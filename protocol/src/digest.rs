//! [`Digest`]: a SHA-256 digest, the identity of definitions and arguments.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::json::Node;
use crate::json::canonical::canonical_json;

/// A SHA-256 digest. Its text form is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

/// The error for a text that is not a [`Digest`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a digest; write 64 hexadecimal digits")]
pub struct InvalidDigest {
    /// The text as given, cut after 80 characters.
    pub text: String,
}

impl Digest {
    /// Hashes a JSON value in its [canonical form](canonical_json).
    pub fn hash_json<'a>(value: impl Into<Node<'a>>) -> Self {
        Self::hash_bytes(canonical_json(value).as_bytes())
    }

    /// Hashes a JSON value in its [canonical form](canonical_json), with HMAC. Without the key, a part of the value cannot be guessed from
    /// the digest.
    pub fn hash_json_with_key<'a>(key: &[u8; 32], value: impl Into<Node<'a>>) -> Self {
        Self(hmac_sha256::HMAC::mac(canonical_json(value), key))
    }

    /// Hashes bytes.
    pub fn hash_bytes(bytes: &[u8]) -> Self {
        Self(hmac_sha256::Hash::hash(bytes))
    }

    /// Returns the 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

crate::text_form::text_form!(Digest, InvalidDigest);

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let invalid = || InvalidDigest {
            text: text.chars().take(80).collect(),
        };
        // `from_str_radix` alone would accept a `+`.
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        let mut digest = [0; 32];
        for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| invalid())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| invalid())?;
        }
        Ok(Self(digest))
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}
