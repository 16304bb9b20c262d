//! [`Store`]: the file with the tokens of a server.

use std::fs::{self, DirBuilder, File};
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use tempfile::NamedTempFile;
use tools::protocol::Digest;
use tools_http::Url;

type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// The file with the tokens of a server, which only its owner can read.
pub(super) struct Store {
    path: PathBuf,
}

impl Store {
    pub(super) fn new(folder: &Path, server: &Url) -> Self {
        let name = Digest::hash_bytes(server.as_str().as_bytes()).to_string();
        Self { path: folder.join(format!("{}.json", &name[..32])) }
    }

    /// Returns the path of the server's latest challenge.
    pub(super) fn challenge(&self) -> PathBuf {
        self.path.with_extension("challenge")
    }

    /// Returns the scopes of the latest login.
    pub(super) fn granted(&self) -> Vec<String> {
        self.read().ok().flatten().map(|credentials| credentials.granted_scopes).unwrap_or_default()
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn read(&self) -> io::Result<Option<StoredCredentials>> {
        let text = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        check_owner(&self.path)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }

    fn write(&self, credentials: &StoredCredentials) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_folder(folder)?;
        // A temporary file is its owner's alone, and replaces the other at once.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(credentials)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl CredentialStore for Store {
    fn load<'a, 'b>(&'a self) -> Later<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.read().map_err(|error| self.failed(&error)) })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Later<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move { self.write(&credentials).map_err(|error| self.failed(&error)) })
    }

    fn clear<'a, 'b>(&'a self) -> Later<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.remove().map_err(|error| self.failed(&error)) })
    }

    fn acquire_refresh_guard<'a, 'b>(&'a self) -> Later<'b, Option<CredentialRefreshGuard>>
    where
        'a: 'b,
        Self: 'b,
    {
        let path = self.path.with_extension("lock");
        Box::pin(async move {
            let locked = tokio::task::spawn_blocking(move || lock(&path)).await;
            let locked =
                locked.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|error| self.failed(&error))?;
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
    make_folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

/// Returns an error if others than the owner can read the file.
#[cfg(unix)]
fn check_owner(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match fs::metadata(path)?.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => Err(io::Error::other("others than its owner can read or change it; remove it and log in again")),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> io::Result<()> {
    Ok(())
}
