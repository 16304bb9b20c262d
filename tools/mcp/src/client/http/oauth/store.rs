//! [`Store`]: the file with the tokens of a server.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tools::IgnorePoison as _;
use tools::protocol::Digest;
use tools_http::Url;
use tools_store::private;

use crate::client::http::oauth::exchange::Registration;
use crate::private_file;

/// The maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

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
    pub(super) fn read_registration(&self) -> Option<(String, String)> {
        let stored = self.read().ok().flatten()?;
        Some((stored.credentials.client_id, stored.client_secret?))
    }

    /// Returns the scopes of the latest login.
    pub(super) fn granted_scopes(&self) -> Vec<String> {
        let stored = self.read().ok().flatten();
        stored.map_or(Vec::new(), |stored| stored.credentials.granted_scopes)
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
                    .read_registration()
                    .filter(|(id, _)| *id == credentials.client_id);
                earlier.map(|(_, secret)| secret)
            }
        };
        let client_secret = client_secret.filter(|secret| !secret.is_empty());
        let stored = Stored {
            credentials,
            client_secret,
        };
        private_file::replace(&self.path, &serde_json::to_string(&stored)?)
    }

    fn fail(&self, error: &io::Error) -> AuthError {
        AuthError::CredentialStoreError(format!("{}: {error}", self.path.display()))
    }
}

#[async_trait]
impl CredentialStore for Store {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = self.read().map_err(|error| self.fail(&error))?;
        Ok(stored.map(|stored| stored.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.write(credentials).map_err(|error| self.fail(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let removed = private::remove(&self.path);
        removed.map(drop).map_err(|error| self.fail(&error))
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let path = self.path.with_extension("lock");
        let locked = tokio::task::spawn_blocking(move || lock(&path)).await;
        let locked = locked
            .unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(|error| self.fail(&error))?;
        Ok(Some(CredentialRefreshGuard::new(locked)))
    }
}

/// Waits until no other program refreshes the tokens, which a server may accept for one refresh only.
fn lock(path: &Path) -> io::Result<File> {
    private::create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = private::open_or_create(path)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}
