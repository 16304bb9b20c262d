//! [`KeySource`]: the place of a key.

use std::env::VarError;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::input;

/// The maximum size of a file with a key, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The source of an API key. The key itself is not an option, so that it never appears on a command line or in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// The environment variable of this name.
    Environment(String),
    /// The file at this path. Its content is trimmed.
    File(PathBuf),
}

/// The reason that a source has no usable key. It never contains the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A key has white space, control characters or others than ASCII. A password has control characters.
    #[error("its key has invalid characters; check the variable or file that holds it")]
    Invalid,
    /// The file cannot be read.
    #[error("its key file {} cannot be read: {source}; name a readable file", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl KeySource {
    /// Returns the name of the variable, or the path of the file.
    pub fn place(&self) -> String {
        match self {
            Self::Environment(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Returns true if the variable or the file is there and is not empty. Does not read it.
    pub fn is_found(&self) -> bool {
        match self {
            Self::Environment(name) => std::env::var_os(name).is_some_and(|key| !key.is_empty()),
            Self::File(path) => path
                .metadata()
                .is_ok_and(|file| !file.is_dir() && file.len() > 0),
        }
    }

    /// Returns the place, and whether the key is found there, for people.
    pub fn describe(&self) -> String {
        let found = if self.is_found() {
            "(found)"
        } else {
            "(not found)"
        };
        format!("{} {found}", self.place())
    }

    /// Reads the key. Returns `None` if the variable or the file is empty, or the variable is not set.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if the key has characters that no header can have.
    pub fn read(&self) -> Result<Option<String>, KeyError> {
        let key = self.read_password()?;
        let mut characters = key.iter().flat_map(|key| key.chars());
        if characters.any(|c| c.is_whitespace() || !c.is_ascii()) {
            return Err(KeyError::Invalid);
        }
        Ok(key)
    }

    /// Reads a secret that no header holds, such as the password of a mailbox: it may have spaces, and others than ASCII. Returns `None`
    /// if the variable or the file is empty, or the variable is not set.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if the secret has control characters.
    pub fn read_password(&self) -> Result<Option<String>, KeyError> {
        let text = match self {
            Self::Environment(name) => match std::env::var(name) {
                Ok(text) => text,
                Err(VarError::NotPresent) => return Ok(None),
                // Without the error of the standard library, whose text has the value.
                Err(VarError::NotUnicode(_)) => return Err(KeyError::Invalid),
            },
            Self::File(path) => File::open(path)
                .and_then(|file| input::read_input(file, MAX_BYTES))
                .map_err(|source| KeyError::File {
                    path: path.clone(),
                    source,
                })?,
        };
        let key = text.trim();
        if key.chars().any(char::is_control) {
            return Err(KeyError::Invalid);
        }
        Ok((!key.is_empty()).then(|| key.to_owned()))
    }
}
