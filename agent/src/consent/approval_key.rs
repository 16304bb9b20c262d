//! [`ApprovalKey`]: binds requests for approvals to their run.

use std::io;

use serde::{Deserialize, Serialize};
use tools::Digest;

/// The random key of a run, for the digests in its requests for approvals.
///
/// - An answer to a request fits no call of another run, because the other run has another key.
/// - A secret cannot be guessed from the digest of the arguments by a reader of the request, which does not have the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ApprovalKey(Digest);

impl ApprovalKey {
    /// Creates a random key.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes.into()))
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

// Does not show the key.
tools::debug_fields!(self: ApprovalKey {});
