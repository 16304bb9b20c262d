//! Adds [`Always`] entries to the user's file, and removes them.

use std::fs::{self, File, Permissions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use tools_store::private;

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
        self.change(|before, entries| {
            // Another session has written it.
            if entries.contains(self) {
                return before.to_owned();
            }
            entries.push(self.clone());
            let gap = "\n".repeat(usize::from(!before.is_empty() && !before.ends_with('\n')));
            format!("{before}{gap}{self}")
        })
    }

    /// Removes the entry from the user's file wherever it stands, and returns the path of that.
    ///
    /// # Errors
    /// Returns an error if an entry does not stand as it was written, or if the file cannot be written.
    pub fn remove(&self) -> Result<PathBuf, SettingsError> {
        self.change(|before, entries| {
            entries.retain(|entry| entry != self);
            before.replace(&self.to_string(), "")
        })
    }

    /// Replaces the text of the user's file at once. `edit` returns the new text, and changes the entries to those that it must have.
    fn change(
        &self,
        edit: impl FnOnce(&str, &mut Vec<Self>) -> String,
    ) -> Result<PathBuf, SettingsError> {
        let path = folders::settings().unwrap_or_default();
        let refused = |reason: &dyn fmt::Display| {
            let text = format!("cannot change {}: {reason}", path.display());
            SettingsError::service(io::Error::other(text))
        };
        // Two sessions can write at once. Some file systems have no locks, and there the comparison below has to do.
        let folder = path.parent().unwrap_or(&path);
        let lock = private::create_folder(folder).and_then(|()| File::open(folder));
        let lock = lock.map_err(|error| refused(&error))?;
        let _ = rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive);
        // A link stays, and its target is replaced. One that leads nowhere may lead to settings at another time.
        let real = match path.canonicalize() {
            Err(error) if path.is_symlink() => return Err(refused(&error)),
            real => real.unwrap_or_else(|_| path.clone()),
        };
        let permissions = real.metadata().ok().map(|file| file.permissions());
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            return Err(refused(&"it is read-only"));
        }
        let read = || match project_file::text(&real) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text.map_err(|error| refused(&error)),
        };
        let before = read()?;
        let mut expected = entries(&path, &before)?;
        let text = edit(&before, &mut expected);
        // The end of the text can be inside of a string, its list can have another form, and a person can have edited the entry.
        if entries(&path, &text)? != expected {
            return Err(refused(&"the entry does not fit its text; edit the file"));
        }
        if read()? != before {
            return Err(refused(&"another program has changed it; try again"));
        }
        let keep = |permissions| fs::set_permissions(&real, permissions);
        replace(&real, &text)
            .and_then(|()| permissions.map_or(Ok(()), keep))
            .map_err(|error| refused(&error))?;
        Ok(path)
    }
}

/// Returns the entries in the text of the user's file.
fn entries(path: &Path, text: &str) -> Result<Vec<Always>, SettingsError> {
    let layer = reader::layer(&Arc::from(path), text, folders::home().as_deref())?;
    let entries = &layer.values.of::<AccessKeys>().always;
    Ok(entries.iter().map(|entry| entry.value.clone()).collect())
}
