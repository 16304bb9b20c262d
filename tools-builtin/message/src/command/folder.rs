//! [`ChannelFolder`]: the state of a channel that is listened to.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use host::{CommandError, Exit, Retention, SessionFiles, folders};
use tools::protocol::Digest;
use tools_store::private;

use super::kept::KeptMessages;

/// The folder of the messages that wait, in which each workspace has its own.
const WAITING: &str = "waiting";

/// The end of the name of a journal, and those of the files that SQLite creates beside it.
const JOURNAL: &str = "journal";
const BESIDE: [&str; 2] = ["journal-wal", "journal-shm"];

/// The folder of a channel in the state folder, with the journals of its chats. No other process listens to the channel until this value
/// is dropped.
#[derive(Debug)]
pub(super) struct ChannelFolder {
    /// The path.
    pub(super) path: PathBuf,
    workspace: String,
    /// The messages that wait for the sessions of this workspace.
    pub(super) kept: KeptMessages,
    /// Unlocks when it is closed.
    _lock: File,
}

impl ChannelFolder {
    /// Creates and locks the folder. A channel of another file than the user's settings has a folder of its own, because other files may
    /// have a channel of the same name. Messages wait for the sessions of this workspace.
    pub(super) fn open(
        channel: &str,
        origin: Option<&Path>,
        workspace: String,
    ) -> Result<Self, CommandError> {
        let refused = |reason: String| refuse(channel, &reason);
        let state = folders::state()
            .ok_or_else(|| refused("there is no folder for its state; set HOME".to_owned()))?;
        let unusable = |path: &Path, error: io::Error| {
            refused(format!("{}: {error}; check the folder", path.display()))
        };
        let all = state.join("listen");
        let path = all.join(folder_name(channel, origin, folders::settings().as_deref()));
        for folder in [&state, &all, &path] {
            private::prepare_folder(folder).map_err(|error| unusable(folder, error))?;
        }
        private::check_folder(&path).map_err(|error| unusable(&path, error))?;
        let lock =
            private::open_or_create(&path.join("lock")).map_err(|error| unusable(&path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refused(
                    "another process listens to it; end that one first".to_owned(),
                ));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(&path, error)),
        }
        let waiting = path.join(WAITING);
        private::prepare_folder(&waiting).map_err(|error| unusable(&waiting, error))?;
        let digest = Digest::hash_bytes(workspace.as_bytes()).to_string();
        let kept = KeptMessages::open(waiting.join(&digest[..16]))
            .map_err(|error| unusable(&waiting, error))?;
        Ok(Self {
            path,
            workspace,
            kept,
            _lock: lock,
        })
    }

    /// Returns the principal of a chat. A channel does not prove who of its members writes.
    pub(super) fn principal(&self, chat: &str) -> String {
        let folder = self.path.file_name().unwrap_or_default();
        format!("{}/{chat}", folder.display())
    }

    /// Returns the path of the journal of a chat, existing or not. A chat has one in each workspace, because a session keeps to the one
    /// that it began in.
    pub(super) fn journal(&self, chat: &str) -> PathBuf {
        let mut name =
            Digest::hash_bytes(format!("{}\0{chat}", self.workspace).as_bytes()).to_string();
        name.truncate(32);
        self.path.join(name).with_extension(JOURNAL)
    }

    /// Removes a journal, which is last: one that was removed in part has nothing of another one.
    pub(super) fn remove(journal: &Path) -> io::Result<()> {
        for end in BESIDE.into_iter().chain([JOURNAL]) {
            private::remove(&journal.with_extension(end))?;
        }
        Ok(())
    }

    /// Removes a journal that the retention does not keep even if it is the only one. Returns true if it is missing now.
    pub(super) fn remove_full(journal: &Path, retention: &Retention) -> io::Result<bool> {
        let Some(files) = files(journal.to_owned()) else {
            return Ok(true);
        };
        if retention.is_full(files.bytes) {
            Self::remove(journal)?;
        }
        Ok(retention.is_full(files.bytes))
    }

    /// Returns the journals that the retention does not keep, except those in use. Returns none while messages of another workspace wait,
    /// which may need one. Reads the whole folder.
    pub(super) fn surplus(
        &self,
        retention: &Retention,
        in_use: &HashSet<PathBuf>,
    ) -> io::Result<Vec<SessionFiles<PathBuf>>> {
        if self.has_others_waiting()? {
            return Ok(Vec::new());
        }
        let mut journals = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == JOURNAL) && !in_use.contains(&path) {
                journals.extend(files(path));
            }
        }
        journals.sort_unstable_by_key(|journal| Reverse(journal.changed));
        let surplus = retention.surplus(&journals, SystemTime::now());
        Ok(surplus.into_iter().cloned().collect())
    }

    /// Removes a journal, unless it has changed since it was read.
    pub(super) fn remove_unchanged(journal: &SessionFiles<PathBuf>) -> io::Result<()> {
        match files(journal.id.clone()) {
            Some(now) if now.changed == journal.changed => Self::remove(&journal.id),
            _ => Ok(()),
        }
    }

    fn has_others_waiting(&self) -> io::Result<bool> {
        for entry in fs::read_dir(self.path.join(WAITING))? {
            let folder = entry?.path();
            if folder != self.kept.folder && fs::read_dir(folder)?.next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the failure of a channel that cannot be listened to.
pub(super) fn refuse(channel: &str, reason: &str) -> CommandError {
    let error = format!("the channel {channel} cannot be listened to: {reason}");
    CommandError::new(Exit::Usage, error)
}

/// Returns the size and the last change of a journal with the files beside it.
fn files(journal: PathBuf) -> Option<SessionFiles<PathBuf>> {
    let path = journal.clone();
    let beside = BESIDE.into_iter().map(|end| path.with_extension(end));
    SessionFiles::read(journal, &path, beside)
}

/// Returns the name of the folder of a channel that this file describes. No name of a channel contains `@`.
fn folder_name(channel: &str, origin: Option<&Path>, user: Option<&Path>) -> String {
    let [origin, user] = [origin, user].map(|path| {
        let path = path?;
        Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    });
    let Some(origin) = origin.filter(|origin| Some(origin) != user.as_ref()) else {
        return channel.to_owned();
    };
    let digest = Digest::hash_bytes(origin.as_os_str().as_encoded_bytes()).to_string();
    format!("{channel}@{}", &digest[..16])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    impl ChannelFolder {
        /// Opens a folder that is empty.
        pub(in super::super) fn in_folder(path: &Path) -> Self {
            let (path, workspace) = (path.to_owned(), "/w".to_owned());
            let waiting = path.join(WAITING).join("w");
            fs::create_dir(path.join(WAITING)).unwrap();
            let (kept, lock) = (
                KeptMessages::open(waiting).unwrap(),
                File::create(path.join("lock")).unwrap(),
            );
            Self {
                path,
                workspace,
                kept,
                _lock: lock,
            }
        }
    }

    #[test]
    fn a_journal_that_was_used_since_the_folder_was_read_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ChannelFolder::in_folder(dir.path());
        let journals = ["unused", "used", "in use"].map(|chat| folder.journal(chat));
        for journal in &journals {
            File::create(journal)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH)
                .unwrap();
        }
        let [_, used, in_use] = &journals;
        let retention = Retention {
            max_age: Duration::from_secs(3600),
            max_bytes: u64::MAX,
            keep: 0,
        };
        let surplus = folder
            .surplus(&retention, &HashSet::from([in_use.clone()]))
            .unwrap();
        assert_eq!(surplus.len(), 2);
        fs::write(used, "an answer").unwrap();
        surplus
            .iter()
            .for_each(|journal| ChannelFolder::remove_unchanged(journal).unwrap());
        assert_eq!(
            journals.map(|journal| journal.exists()),
            [false, true, true]
        );
    }

    #[test]
    fn channels_of_two_files_share_no_state() {
        let user = Path::new("/home/ada/.config/toolcrib/toolcrib.toml");
        let name = |origin: Option<&str>| folder_name("team", origin.map(Path::new), Some(user));
        assert_eq!((&*name(None), &*name(user.to_str())), ("team", "team"));
        let [one, other] =
            ["/one/toolcrib.toml", "/other/toolcrib.toml"].map(|origin| name(Some(origin)));
        assert!(
            one.starts_with("team@") && one.len() == 21 && one != other,
            "{one} {other}"
        );
    }

    #[test]
    fn the_users_settings_are_one_file_however_their_path_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let user = dir.path().join("toolcrib.toml");
        fs::write(&user, "").unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let other = dir.path().join("folder/../toolcrib.toml");
        assert_eq!(folder_name("team", Some(&other), Some(&user)), "team");
    }
}
