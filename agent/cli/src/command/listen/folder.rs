//! [`ChannelFolder`]: the state of a channel that is listened to.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use tools_store::private;

use crate::error::Error;
use crate::folders;

/// The folder of a channel in the state folder, with the journals of its chats. No other process listens to the channel until this value
/// is dropped.
#[derive(Debug)]
pub(super) struct ChannelFolder {
    path: PathBuf,
    /// Unlocks when it is closed.
    _lock: File,
}

impl ChannelFolder {
    /// Creates and locks the folder.
    pub(super) fn open(channel: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Channel { channel: channel.to_owned(), reason };
        let state = folders::state().ok_or_else(|| refused("there is no folder for its state; set HOME".to_owned()))?;
        let unusable =
            |path: &Path, error: std::io::Error| refused(format!("{}: {error}; check the folder", path.display()));
        let path = state.join("listen").join(channel);
        for folder in [&state, &state.join("listen"), &path] {
            private::prepare_folder(folder).map_err(|error| unusable(folder, error))?;
        }
        private::check_folder(&path).map_err(|error| unusable(&path, error))?;
        let lock = private::open_or_create(&path.join("lock")).map_err(|error| unusable(&path, error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(refused("another process listens to it; end that one first".to_owned()))
            }
            Err(TryLockError::Error(error)) => Err(unusable(&path, error)),
        }
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
