//! [`SettingsError`]: a mistake in the settings.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use super::origin::{Origin, Setting};
use crate::folders;

/// A mistake in the settings, or an unreadable file.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A settings file cannot be read.
    #[error("cannot read {}: {source}; make it a readable text file, or ignore it with --no-config", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file of `--policy` cannot be read.
    #[error("cannot read the policy {}: {source}; pass a readable text file with --policy", path.display())]
    Policy {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not TOML. The source text is not quoted, because it may be a key.
    #[error("{origin}: invalid TOML: {reason}")]
    Syntax {
        /// The place that sets it.
        origin: Origin,
        /// The reason.
        reason: String,
    },
    /// A value is none of its key. The reason is the end of a sentence that begins with the key.
    #[error("{origin}: {key} {reason}")]
    Value {
        /// The place that sets it.
        origin: Origin,
        /// The name of the key.
        key: String,
        /// The reason.
        reason: String,
    },
    /// No key has this name.
    #[error("{origin}: unknown setting {key}; {advice}")]
    Unknown {
        /// The place that sets it.
        origin: Origin,
        /// The name of the key.
        key: String,
        /// The next step.
        advice: String,
    },
    /// A key looks like a secret.
    #[error(
        "{origin}: {key} looks like a secret, which must not be in this file; keep it in an environment variable or a separate \
         file, and name that with key_env, key_file or a table [[secrets]]"
    )]
    Secret {
        /// The place that sets it.
        origin: Origin,
        /// The name of the key.
        key: String,
    },
    /// An untrusted project sets a key that is for the user to set.
    #[error("{origin}: {key} is not accepted from an untrusted project: {reason}; {advice}")]
    Untrusted {
        /// The place that sets it.
        origin: Origin,
        /// The name of the key.
        key: String,
        /// The reason.
        reason: &'static str,
        /// The next step.
        advice: String,
    },
    /// No file has the chosen profile.
    #[error("{origin}: there is no profile {name:?}; {advice}")]
    Profile {
        /// The place that sets it.
        origin: Origin,
        /// The name of the profile.
        name: String,
        /// The next step.
        advice: String,
    },
    /// The service of a family cannot be made, for a reason that no setting names.
    #[error(transparent)]
    Service(Box<dyn std::error::Error + Send + Sync>),
    /// A key is set without the one that it belongs to.
    #[error(
        "{origin}: {key} has no effect without a {owner}; set one with --{owner}, or next to it in {}",
        folders::settings_name()
    )]
    NoOwner {
        /// The place that sets it.
        origin: Origin,
        /// The name of the key.
        key: &'static str,
        /// The key that it belongs to.
        owner: &'static str,
    },
}

impl SettingsError {
    /// Creates the error of a service that cannot be made.
    pub fn service(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Service(Box::new(error))
    }

    /// Creates the error of a value that its service refuses.
    pub fn unusable<T>(key: &str, setting: &Setting<T>, error: impl Display) -> Self {
        Self::value(&setting.origin, key, format!("cannot be used: {error}"))
    }

    /// Returns the conversion of the error of a file.
    pub(super) fn read(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// Creates the error for a value that is not accepted. The reason follows the key.
    pub fn value(origin: &Origin, key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Value {
            origin: origin.clone(),
            key: key.into(),
            reason: reason.into(),
        }
    }
}
