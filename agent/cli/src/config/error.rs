//! [`ConfigError`]: a mistake in the settings.

use std::io;
use std::path::PathBuf;

use super::origin::Origin;
use crate::folders;

/// A mistake in the settings, or an unreadable file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read {}: {source}; make it a readable text file, or ignore it with --no-config", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read the policy {}: {source}; pass a readable text file with --policy", path.display())]
    Policy { path: PathBuf, source: io::Error },
    /// The source text is not quoted, because it may be a key.
    #[error("{origin}: invalid TOML: {reason}")]
    Syntax { origin: Origin, reason: String },
    #[error("{origin}: {key} {reason}")]
    Value { origin: Origin, key: String, reason: String },
    #[error("{origin}: unknown setting {key}; {advice}")]
    Unknown { origin: Origin, key: String, advice: String },
    #[error(
        "{origin}: {key} looks like a secret, which must not be in this file; keep it in an environment variable or a separate \
         file, and name that with key_env, key_file or a table [[secrets]]"
    )]
    Secret { origin: Origin, key: String },
    #[error("{origin}: {key} is not accepted from an untrusted project: {reason}; {advice}")]
    Untrusted { origin: Origin, key: String, reason: &'static str, advice: String },
    #[error("{origin}: there is no profile {name:?}; {advice}")]
    Profile { origin: Origin, name: String, advice: String },
    #[error(
        "{origin}: {key} has no effect without a provider; set one with --provider, or next to it in {}",
        folders::settings_name()
    )]
    NoProvider { origin: Origin, key: &'static str },
}
