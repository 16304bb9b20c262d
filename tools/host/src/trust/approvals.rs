//! [`Approvals`]: the servers and skills of projects that the user has approved.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tools::Digest;
use tools_store::private;

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The number of hexadecimal digits in the name of a file.
const DIGITS: usize = 32;

/// The servers, or the skills, of projects that the user has approved: one file each, for the user only, in a folder of the user's state.
///
/// Processes can share the folder, because each file is replaced at once.
#[derive(Clone, Debug)]
pub struct Approvals {
    folder: PathBuf,
}

/// The user's decision about a subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    /// The user has approved it as it is.
    Given,
    /// The user has not approved a subject of this name in this workspace.
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

    /// Returns the decision about a subject.
    ///
    /// # Errors
    /// Returns an error if the approval cannot be read, or if other users have access to it.
    pub fn find(&self, subject: &Subject) -> Result<Approval, TrustError> {
        Ok(match self.subject(&subject.workspace, &subject.name)? {
            None => Approval::Missing,
            Some(approved) if approved.digest() == subject.digest() => Approval::Given,
            Some(approved) => Approval::Outdated(subject.changes_since(&approved)),
        })
    }

    /// Returns the subject that the user has approved under this name. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the approval cannot be read, or if other users have access to it.
    pub fn subject(&self, workspace: &str, name: &str) -> Result<Option<Subject>, TrustError> {
        let path = self.path_of(workspace, name);
        let text = match private::read(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| TrustError::Read {
                path: path.clone(),
                source,
            })?,
        };
        let damaged = |reason| TrustError::Damaged {
            path: path.clone(),
            reason,
        };
        let approved: Approved =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        // A file that was damaged or edited approves nothing.
        if approved.subject.digest() != approved.digest {
            return Err(damaged("its digest is another one".to_owned()));
        }
        Ok(Some(approved.subject))
    }

    /// Approves a subject that the user has seen. `seen` is the digest that was shown.
    ///
    /// # Errors
    /// Returns [`TrustError::Changed`] if the subject has another digest, and [`TrustError::Write`] if the approval cannot be written.
    pub fn approve(&self, subject: &Subject, seen: &Digest) -> Result<(), TrustError> {
        let digest = subject.digest();
        // The file may have changed between the look and the answer.
        if digest != *seen {
            return Err(TrustError::Changed);
        }
        let path = self.path_of(&subject.workspace, &subject.name);
        let written = serde_json::to_string_pretty(&Approved {
            digest,
            subject: subject.clone(),
        })
        .map_err(Into::into)
        .and_then(|text| replace(&path, &text));
        written.map_err(|source| TrustError::Write { path, source })
    }

    /// Revokes an approval. Returns true if there was one.
    ///
    /// # Errors
    /// Returns [`TrustError::Write`] if the approval cannot be removed.
    pub fn revoke(&self, workspace: &str, name: &str) -> Result<bool, TrustError> {
        let path = self.path_of(workspace, name);
        private::remove(&path).map_err(|source| TrustError::Write { path, source })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path_of(&self, workspace: &str, name: &str) -> PathBuf {
        // Names of servers and paths may have characters that no file name has.
        let key = Digest::hash_json(&json!([workspace, name])).to_string();
        self.folder.join(format!("{}.json", &key[..DIGITS]))
    }
}

/// Writes a file for the user alone at once: other processes see the old or the new one, also after a crash of the machine.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    private::create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = path.with_extension(format!("draft-{}-{number}", std::process::id()));
    // A process of the same number may have left it.
    private::remove(&draft)?;
    let mut file = private::create_file(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

/// An approval or a pin that cannot be read or written. Its server or skill must not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}; remove it, and approve again", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; check the permissions of its folder", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// The file has other content than this program writes.
    #[error("{} is damaged: {reason}; remove it, and approve again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The subject is no longer the one that was shown.
    #[error("it has changed since it was shown; look at it again")]
    Changed,
}

/// The facts that the user approves about a part of a project that has a name, such as a server or a skill. Each kind has a folder of
/// approvals of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The workspace of the project.
    pub workspace: String,
    /// The name of the server or the skill.
    #[serde(rename = "server")]
    pub name: String,
    /// The facts by name. A host adds what it knows.
    pub facts: Map<String, Value>,
}

/// A fact that differs between two subjects. A value is JSON, or `None` if the fact is absent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The fact, such as `args`.
    pub fact: String,
    /// The value before.
    pub before: Option<Value>,
    /// The value now.
    pub after: Option<Value>,
}

impl Subject {
    /// Creates a subject. The workspace is the absolute path of the root.
    pub fn from_facts(workspace: &str, name: &str, facts: Map<String, Value>) -> Self {
        Self {
            workspace: workspace.to_owned(),
            name: name.to_owned(),
            facts,
        }
    }

    /// Returns the digest, which an approval names.
    pub fn digest(&self) -> Digest {
        Digest::hash_json(
            // The word `server` stands for skills as well: another one would void all approvals.
            &json!({"workspace": self.workspace, "server": self.name, "facts": self.facts}),
        )
    }

    /// Returns the facts that differ from those of an earlier subject.
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let mut facts: Vec<_> = earlier.facts.keys().chain(self.facts.keys()).collect();
        facts.sort();
        facts.dedup();
        let changes = facts.into_iter().filter_map(|fact| {
            let before = earlier.facts.get(fact).cloned();
            let after = self.facts.get(fact).cloned();
            (before != after).then(|| Change {
                fact: fact.clone(),
                before,
                after,
            })
        });
        changes.collect()
    }
}
