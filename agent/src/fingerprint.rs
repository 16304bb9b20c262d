//! [`fingerprint`]: tells two versions of a text apart, also in different processes.

use tools::Digest;

/// Returns the first eight bytes of the SHA-256 digest of a text.
pub(crate) fn fingerprint(text: &str) -> u64 {
    Digest::hash_bytes(text.as_bytes())
        .as_bytes()
        .iter()
        .take(8)
        .fold(0, |digest, byte| digest << 8 | u64::from(*byte))
}
