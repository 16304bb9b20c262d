//! Adds [`Always`] entries to the user's file, and removes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use super::access::AccessKeys;
use super::always::Always;
use super::error::SettingsError;
use super::{project_file, reader};
use crate::folders;
use crate::trust::replace;

impl Always {
    /// Adds the entry at the end of the user's file, and returns the path of that. The rest of the file stays as it is.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or would have other settings afterwards.
    pub fn write(&self) -> Result<PathBuf, SettingsError> {
        self.change(|before, mut entries| {
            entries.push(self.clone());
            let gap = "\n".repeat(usize::from(!before.is_empty() && !before.ends_with('\n')));
            Some((format!("{before}{gap}{self}"), entries))
        })
    }

    /// Removes the entry from the user's file, and returns the path of that.
    ///
    /// # Errors
    /// Returns an error if the file does not have the entry as it was written, or cannot be written.
    pub fn remove(&self) -> Result<PathBuf, SettingsError> {
        self.change(|before, mut entries| {
            entries.remove(entries.iter().position(|entry| entry == self)?);
            let (above, below) = before.split_once(&self.to_string())?;
            Some((format!("{above}{below}"), entries))
        })
    }

    /// Replaces the text of the user's file at once. `edit` returns the new text and the entries that it must have.
    fn change(
        &self,
        edit: impl FnOnce(&str, Vec<Self>) -> Option<(String, Vec<Self>)>,
    ) -> Result<PathBuf, SettingsError> {
        let path = folders::settings().unwrap_or_default();
        let refused = |reason: &dyn fmt::Display| {
            let text = format!("cannot change {}: {reason}", path.display());
            SettingsError::service(io::Error::other(text))
        };
        // A link stays, and its target is replaced.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let read = || match project_file::text(&real) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|error| refused(&error)),
        };
        let before = read()?;
        let entries = entries(&path, &before)?;
        let (text, expected) = edit(&before, entries).ok_or_else(|| {
            refused(&"it does not have the entry as it was written; edit the file")
        })?;
        // The end of the text can be inside of a string, or its list can have another form.
        if self::entries(&path, &text)? != expected {
            return Err(refused(&"the entry cannot stand at its end; edit the file"));
        }
        if read()? != before {
            return Err(refused(&"another program has changed it; try again"));
        }
        replace(&real, &text).map_err(|error| refused(&error))?;
        Ok(path)
    }
}

/// Returns the entries in the text of the user's file.
fn entries(path: &Path, text: &str) -> Result<Vec<Always>, SettingsError> {
    let layer = reader::layer(&Arc::from(path), text, folders::home().as_deref())?;
    let entries = &layer.values.of::<AccessKeys>().always;
    Ok(entries.iter().map(|entry| entry.value.clone()).collect())
}
