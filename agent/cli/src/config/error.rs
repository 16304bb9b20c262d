//! [`ConfigError`]: why `toolcrib.toml` cannot be used.

use std::io;
use std::path::PathBuf;

use super::origin::Origin;

/// Why the settings cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read {}: {source}; make it a readable text file, or leave it out with --no-config", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read the policy {}: {source}; name a readable text file with --policy", path.display())]
    Policy { path: PathBuf, source: io::Error },
    /// The text around it is not told: it may be a key that was written where none belongs.
    #[error("{origin}: this is not TOML: {reason}")]
    Syntax { origin: Origin, reason: String },
    #[error("{origin}: {key} {reason}")]
    Value { origin: Origin, key: String, reason: String },
    #[error("{origin}: there is no setting {key}; {advice}")]
    Unknown { origin: Origin, key: String, advice: String },
    #[error(
        "{origin}: {key} looks like a secret, and this file is no place for one; keep it in an environment variable or a \
         file of its own, and name that with key_env or key_file"
    )]
    Secret { origin: Origin, key: String },
    #[error("{origin}: {key} is not taken from a project that is not trusted: {reason}; {advice}")]
    Untrusted { origin: Origin, key: String, reason: &'static str, advice: String },
    #[error("{origin}: there is no profile {name:?}; {advice}")]
    Profile { origin: Origin, name: String, advice: String },
    #[error("{origin}: {key} is of no use without a provider; name one with --provider, or beside it in toolcrib.toml")]
    NoProvider { origin: Origin, key: &'static str },
}
