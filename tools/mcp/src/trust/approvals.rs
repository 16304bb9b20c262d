//! [`Approvals`]: the servers of projects that the user has approved.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::Digest;

use crate::private_file;
use crate::trust::error::TrustError;
use crate::trust::subject::{Change, Subject};

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The number of hexadecimal digits in the name of a file.
const DIGITS: usize = 32;

/// The servers of projects that the user has approved: one file each, for the user only, in a folder of the user's state.
///
/// Processes can share the folder, because each file is replaced at once.
#[derive(Clone, Debug)]
pub struct Approvals {
    folder: PathBuf,
}

/// The user's decision about a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    /// The user has approved the server as it is.
    Given,
    /// The user has not approved a server of this name in this workspace.
    Missing,
    /// The user has approved another one, which differs in these facts.
    Outdated(Vec<Change>),
}

/// A file of an approval.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approved {
    digest: Digest,
    subject: Subject,
}

impl Approvals {
    /// Creates the approvals of a folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the decision about a server.
    ///
    /// # Errors
    /// Returns an error if the approval cannot be read, or if other users have access to it.
    pub fn find(&self, subject: &Subject) -> Result<Approval, TrustError> {
        Ok(
            match self.approved(subject.workspace(), subject.server())? {
                None => Approval::Missing,
                Some(approved) if approved.digest() == subject.digest() => Approval::Given,
                Some(approved) => Approval::Outdated(subject.changes_since(&approved)),
            },
        )
    }

    /// Returns the subject that the user has approved under this name. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the approval cannot be read, or if other users have access to it.
    pub fn approved(&self, workspace: &str, server: &str) -> Result<Option<Subject>, TrustError> {
        let path = self.path_of(workspace, server);
        let text = private_file::read(&path, MAX_BYTES);
        let Some(text) = text.map_err(|source| TrustError::Read {
            path: path.clone(),
            source,
        })?
        else {
            return Ok(None);
        };
        let damaged = |reason| TrustError::Damaged {
            path: path.clone(),
            reason,
        };
        let approved: Approved =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if approved.subject.digest() != approved.digest {
            return Err(damaged("its digest is another one".to_owned()));
        }
        Ok(Some(approved.subject))
    }

    /// Approves a server whose subject the user has seen. `seen` is the digest that was shown.
    ///
    /// # Errors
    /// Returns [`TrustError::Changed`] if the subject has another digest, and [`TrustError::Write`] if the approval cannot be written.
    pub fn approve(&self, subject: &Subject, seen: &Digest) -> Result<(), TrustError> {
        let digest = subject.digest();
        if digest != *seen {
            return Err(TrustError::Changed);
        }
        let path = self.path_of(subject.workspace(), subject.server());
        let written = serde_json::to_string_pretty(&Approved {
            digest,
            subject: subject.clone(),
        })
        .map_err(Into::into)
        .and_then(|text| private_file::replace(&path, &text));
        written.map_err(|source| TrustError::Write { path, source })
    }

    /// Revokes the approval of a server. Returns true if there was one.
    ///
    /// # Errors
    /// Returns [`TrustError::Write`] if the approval cannot be removed.
    pub fn revoke(&self, workspace: &str, server: &str) -> Result<bool, TrustError> {
        let path = self.path_of(workspace, server);
        private_file::remove(&path).map_err(|source| TrustError::Write { path, source })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path_of(&self, workspace: &str, server: &str) -> PathBuf {
        let key = Digest::hash_json(&json!([workspace, server])).to_string();
        self.folder.join(format!("{}.json", &key[..DIGITS]))
    }
}
