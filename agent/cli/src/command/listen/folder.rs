//! [`ChannelFolder`]: the state of a channel that is listened to.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use tools::protocol::Digest;
use tools_store::private;

use super::kept::KeptMessages;
use crate::error::Error;
use crate::folders;

/// The folder of a channel in the state folder, with the journals of its chats. No other process listens to the channel until this value
/// is dropped.
#[derive(Debug)]
pub(super) struct ChannelFolder {
    path: PathBuf,
    kept: KeptMessages,
    /// Unlocks when it is closed.
    _lock: File,
}

impl ChannelFolder {
    /// Creates and locks the folder. A channel of another file than the user's settings has a folder of its own, because other files may
    /// have a channel of the same name. Messages wait for the sessions of this workspace.
    pub(super) fn open(channel: &str, origin: Option<&Path>, workspace: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Channel { channel: channel.to_owned(), reason };
        let state = folders::state().ok_or_else(|| refused("there is no folder for its state; set HOME".to_owned()))?;
        let unusable =
            |path: &Path, error: std::io::Error| refused(format!("{}: {error}; check the folder", path.display()));
        let path = state.join("listen").join(folder_name(channel, origin, folders::settings().as_deref()));
        for folder in [&state, &state.join("listen"), &path] {
            private::prepare_folder(folder).map_err(|error| unusable(folder, error))?;
        }
        private::check_folder(&path).map_err(|error| unusable(&path, error))?;
        let lock = private::open_or_create(&path.join("lock")).map_err(|error| unusable(&path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refused("another process listens to it; end that one first".to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(&path, error)),
        }
        let waiting = path.join("waiting");
        private::prepare_folder(&waiting).map_err(|error| unusable(&waiting, error))?;
        let digest = Digest::hash_bytes(workspace.as_bytes()).to_string();
        let kept = KeptMessages::open(waiting.join(&digest[..16])).map_err(|error| unusable(&waiting, error))?;
        Ok(Self { path, kept, _lock: lock })
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the messages that wait.
    pub(super) fn kept(&self) -> &KeptMessages {
        &self.kept
    }
}

/// Returns the name of the folder of a channel that this file describes. No name of a channel contains `@`.
fn folder_name(channel: &str, origin: Option<&Path>, user: Option<&Path>) -> String {
    let Some(origin) = origin.filter(|origin| Some(*origin) != user) else { return channel.to_owned() };
    let origin = origin.canonicalize().unwrap_or_else(|_| origin.to_owned());
    let digest = Digest::hash_bytes(origin.as_os_str().as_encoded_bytes()).to_string();
    format!("{channel}@{}", &digest[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_two_files_share_no_state() {
        let user = Path::new("/home/ada/.config/toolcrib/toolcrib.toml");
        let name = |origin: Option<&str>| folder_name("team", origin.map(Path::new), Some(user));
        assert_eq!((&*name(None), &*name(user.to_str())), ("team", "team"));
        let [one, other] = ["/one/toolcrib.toml", "/other/toolcrib.toml"].map(|origin| name(Some(origin)));
        assert!(one.starts_with("team@") && one.len() == 21 && one != other, "{one} {other}");
    }
}
