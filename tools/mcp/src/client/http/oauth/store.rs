//! [`Store`]: the file with the tokens of a server.

use std::fs::File;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tools::IgnorePoison as _;
use tools::Secret;
use tools::protocol::Digest;
use tools_http::Url;
use tools_store::private;

use crate::client::http::oauth::exchange::Registration;
use crate::private_file;

/// The maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// The file with the tokens of a server, which only its owner can read.
pub(super) struct Store {
    pub(super) path: PathBuf,
    /// The registration whose secret is kept together with the tokens that it brings.
    pub(super) registration: Registration,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    credentials: StoredCredentials,
    /// The secret that a registration gave the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
}

impl Store {
    pub(super) fn new(folder: &Path, server: &Url) -> Self {
        let name = Digest::hash_bytes(server.as_str().as_bytes()).to_string();
        Self {
            path: folder.join(format!("{}.json", &name[..32])),
            registration: Registration::default(),
        }
    }

    /// Returns the identifier and the secret of the registration that brought the tokens. Returns `None` if it has no secret.
    pub(super) fn registered(&self) -> Option<(String, Secret)> {
        let stored = self.read().ok().flatten()?;
        let secret = Secret::new(&stored.client_secret?);
        Some((stored.credentials.client_id, secret))
    }

    /// Returns the scopes of the latest login.
    pub(super) fn granted(&self) -> Vec<String> {
        self.read()
            .ok()
            .flatten()
            .map(|stored| stored.credentials.granted_scopes)
            .unwrap_or_default()
    }

    fn read(&self) -> io::Result<Option<Stored>> {
        let Some(text) = private_file::read(&self.path, MAX_BYTES)? else {
            return Ok(None);
        };
        Ok(Some(serde_json::from_str(&text)?))
    }

    fn write(&self, credentials: StoredCredentials) -> io::Result<()> {
        let registered = self.registration.lock().ignore_poison().clone();
        let client_secret = match registered {
            Some(client) if client.client_id == credentials.client_id => client.client_secret,
            _ => {
                let earlier = self
                    .registered()
                    .filter(|(id, _)| *id == credentials.client_id);
                earlier.map(|(_, secret)| secret.expose().to_owned())
            }
        };
        let client_secret = client_secret.filter(|secret| !secret.is_empty());
        let stored = Stored {
            credentials,
            client_secret,
        };
        private_file::replace(&self.path, &serde_json::to_string(&stored)?)
    }
}

impl CredentialStore for Store {
    fn load<'a, 'b>(&'a self) -> Later<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async {
            let stored = self.read().map_err(|error| self.failed(&error))?;
            Ok(stored.map(|stored| stored.credentials))
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Later<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move { self.write(credentials).map_err(|error| self.failed(&error)) })
    }

    fn clear<'a, 'b>(&'a self) -> Later<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        let removed = private::remove(&self.path);
        Box::pin(async { removed.map(drop).map_err(|error| self.failed(&error)) })
    }

    fn acquire_refresh_guard<'a, 'b>(&'a self) -> Later<'b, Option<CredentialRefreshGuard>>
    where
        'a: 'b,
        Self: 'b,
    {
        let path = self.path.with_extension("lock");
        Box::pin(async move {
            let locked = tokio::task::spawn_blocking(move || lock(&path)).await;
            let locked = locked
                .unwrap_or_else(|error| Err(io::Error::other(error)))
                .map_err(|error| self.failed(&error))?;
            Ok(Some(CredentialRefreshGuard::new(locked)))
        })
    }
}

impl Store {
    fn failed(&self, error: &io::Error) -> AuthError {
        AuthError::CredentialStoreError(format!("{}: {error}", self.path.display()))
    }
}

/// Waits until no other program refreshes the tokens, which a server may accept for one refresh only.
fn lock(path: &Path) -> io::Result<File> {
    private::create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = private::open_or_create(path)?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}
