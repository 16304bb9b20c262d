//! [`Challenges`]: the refusals that a login can end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tools::IgnorePoison as _;

use crate::private_file;

/// The maximum length of a kept file, in bytes.
const MAX_BYTES: u64 = 16 * 1024;

/// The refusals of a server since the latest login. The latest challenge is kept in a file: it names the authorisation server, and another
/// program may log in.
#[derive(Debug, Default)]
pub(super) struct Challenges {
    pub(super) path: Option<PathBuf>,
    pub(super) state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// True if the latest request that needs a token was refused.
    is_refused: bool,
    /// `None` until the file is read.
    kept: Option<Kept>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Kept {
    /// The header `WWW-Authenticate` of the latest refusal.
    challenge: Option<String>,
    /// The scopes that a request lacked since the latest login.
    scopes: Vec<String>,
}

impl Challenges {
    /// Notes a request that was refused for want of a valid token.
    pub(super) fn refuse(&self, challenge: &str) {
        self.state().is_refused = true;
        if !challenge.is_empty() {
            self.change(|kept| kept.challenge = Some(challenge.to_owned()));
        }
    }

    /// Notes a token that was not refused.
    pub(super) fn accept(&self) {
        self.state().is_refused = false;
    }

    /// Notes the scopes that a token lacks, and keeps them for a login of another program.
    pub(super) fn require(&self, challenge: &str, scopes: &str) {
        self.change(|kept| {
            kept.challenge.get_or_insert_with(|| challenge.to_owned());
            kept.scopes = scopes.split_whitespace().map(str::to_owned).collect();
        });
        self.keep();
    }

    /// Begins anew after a login, and keeps the challenge for the next connections.
    pub(super) fn end(&self) {
        self.state().is_refused = false;
        self.change(|kept| kept.scopes.clear());
        self.keep();
    }

    /// Returns true if a login may permit what was refused.
    pub(super) fn is_pending(&self) -> bool {
        self.state().is_refused || !self.scopes().is_empty()
    }

    /// Returns the latest challenge.
    pub(super) fn latest(&self) -> Option<String> {
        self.change(|kept| kept.challenge.clone())
    }

    /// Returns the scopes that a request lacked since the latest login.
    pub(super) fn scopes(&self) -> Vec<String> {
        self.change(|kept| kept.scopes.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> T {
        change(
            self.state()
                .kept
                .get_or_insert_with(|| self.read().unwrap_or_default()),
        )
    }

    fn read(&self) -> Option<Kept> {
        let text = private_file::read(self.path.as_ref()?, MAX_BYTES)
            .ok()
            .flatten()?;
        serde_json::from_str(&text).ok()
    }

    fn keep(&self) {
        let Some(path) = &self.path else { return };
        let text = self.change(|kept| serde_json::to_string(kept).unwrap_or_default());
        if text.len() as u64 > MAX_BYTES {
            return;
        }
        if let Err(error) = private_file::replace(path, &text) {
            tracing::warn!("the challenge of a server is not kept: {error}");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }
}
