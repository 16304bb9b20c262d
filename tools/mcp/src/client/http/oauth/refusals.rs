//! [`Refusals`]: the refusals that a login can end.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum length of a server's list of scopes, in bytes.
const MAX_SCOPES: usize = 4096;

/// The refusals since the latest login. The scopes that a server asked for are kept in a file, because another program may log in.
#[derive(Debug, Default)]
pub(in super::super) struct Refusals {
    path: Option<PathBuf>,
    latest: Mutex<Latest>,
}

#[derive(Debug, Default)]
struct Latest {
    /// True if the latest request with a token was refused, or one without.
    is_refused: bool,
    /// The scopes that a request lacked.
    scopes: Option<String>,
}

impl Refusals {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: Some(path), latest: Mutex::default() }
    }

    /// Notes that a request was refused for want of a valid token.
    pub(in super::super) fn refuse(&self) {
        self.latest().is_refused = true;
    }

    /// Notes that a request with a token was not refused.
    pub(in super::super) fn accept(&self) {
        self.latest().is_refused = false;
    }

    /// Notes that the login has too few scopes, and the scopes that a request needs.
    pub(in super::super) fn require(&self, scopes: &str) {
        if scopes.len() > MAX_SCOPES {
            return;
        }
        self.latest().scopes = Some(scopes.to_owned());
        let written = self.path.as_ref().map_or(Ok(()), |path| fs::write(path, scopes));
        if let Err(error) = written {
            tracing::warn!("the scopes that a server asks for are not kept: {error}");
        }
    }

    pub(super) fn is_pending(&self) -> bool {
        let latest = self.latest();
        latest.is_refused || latest.scopes.is_some()
    }

    /// Returns the scopes that requests lacked since the latest login.
    pub(super) fn scopes(&self) -> Vec<String> {
        let kept = || fs::read_to_string(self.path.as_ref()?).ok().filter(|scopes| scopes.len() <= MAX_SCOPES);
        let scopes = self.latest().scopes.clone().or_else(kept).unwrap_or_default();
        scopes.split_whitespace().map(str::to_owned).collect()
    }

    /// Begins anew after a login.
    pub(super) fn clear(&self) {
        *self.latest() = Latest::default();
        if let Some(Err(error)) = self.path.as_ref().map(fs::remove_file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("the scopes that a server asked for are not removed: {error}");
        }
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
