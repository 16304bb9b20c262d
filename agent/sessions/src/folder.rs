//! [`SessionFolder`]: the recorded sessions, one journal each.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use host::{Retention, SessionFiles, folders, program};
use tools_journal::{Audit, AuditError};
use tools_store::private;

use crate::error::SessionError;
use crate::id::{BESIDE, JOURNAL, SessionId};
use crate::lock::LockedSession;
use crate::stored::StoredSession;

/// The folder of the recorded sessions of all workspaces, existing or not.
///
/// A session is one journal file, with a file of its tasks if it has some. It can therefore be removed without touching another session,
/// and a writer waits for no other.
#[derive(Debug)]
pub(crate) struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// Returns `sessions` in the program's state folder.
    pub(crate) fn new() -> Result<Self, SessionError> {
        let state = folders::state().ok_or(SessionError::NoHome)?;
        Ok(Self {
            path: state.join("sessions"),
        })
    }

    /// Creates a session and locks it. The folder is created if it is missing, and only the user can read it.
    pub(crate) fn create(&self) -> Result<LockedSession, SessionError> {
        let unusable = SessionError::folder(&self.path);
        self.prepare().map_err(unusable)?;
        let mut id = SessionId::now();
        loop {
            if let Some(session) = LockedSession::create(&self.path, id).map_err(unusable)? {
                return Ok(session);
            }
            // Another session began in this second.
            id.0 += 1;
        }
    }

    /// Locks a session.
    pub(crate) fn lock(&self, id: SessionId) -> Result<LockedSession, SessionError> {
        self.check()?;
        LockedSession::lock(&self.path, id)
    }

    /// Returns the path of a session's journal.
    pub(crate) fn journal(&self, id: SessionId) -> PathBuf {
        self.path.join(id.file(JOURNAL))
    }

    /// Returns the path of a session's journal, to be read. Returns an error if the file is a link or other users have access.
    pub(crate) fn private_journal(&self, id: SessionId) -> Result<PathBuf, SessionError> {
        let path = self.journal(id);
        match private::check_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(SessionError::Access { path, source })
            }
            _ => Ok(path),
        }
    }

    /// Returns all sessions, the newest first.
    pub(crate) fn ids(&self) -> Result<Vec<SessionId>, SessionError> {
        self.check()?;
        match list_ids(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(SessionError::folder(&self.path)),
        }
    }

    /// Returns the session whose ID begins with the text.
    pub(crate) fn find(&self, text: &str) -> Result<SessionId, SessionError> {
        let prefix = text.to_ascii_lowercase();
        let mut found = self.ids()?;
        // An empty text, such as an unset variable, begins every ID.
        found.retain(|id| !prefix.is_empty() && id.to_string().starts_with(&prefix));
        match found[..] {
            [] => Err(SessionError::Unknown {
                text: text.to_owned(),
            }),
            [id] => Ok(id),
            _ => Err(SessionError::Ambiguous {
                text: text.to_owned(),
                ids: found,
            }),
        }
    }

    /// Returns the session whose ID begins with the text. Without a text, returns the newest session of the workspace that has a prompt and
    /// runs no job.
    pub(crate) fn find_or_newest(
        &self,
        text: Option<&str>,
        workspace: &str,
    ) -> Result<SessionId, SessionError> {
        text.map_or_else(|| self.newest(workspace), |text| self.find(text))
    }

    fn newest(&self, workspace: &str) -> Result<SessionId, SessionError> {
        self.ids()?
            .into_iter()
            .find(|id: &SessionId| match self.read_stored(*id, 0) {
                Ok(stored) => stored.is_some_and(|StoredSession { start, .. }| {
                    // A resumed job would lose its limits.
                    start.workspace == workspace && start.job.is_none()
                }),
                Err(error) => {
                    // One damaged journal must not keep a person from the others.
                    warn_of_skipped(*id, &error);
                    false
                }
            })
            .ok_or_else(|| SessionError::NoneHere {
                workspace: workspace.to_owned(),
            })
    }

    /// Reads a session and its first `messages` messages. Returns `None` if it has no prompt, or was removed meanwhile.
    pub(crate) fn read_stored(
        &self,
        id: SessionId,
        messages: u32,
    ) -> Result<Option<StoredSession>, SessionError> {
        let journal = self.private_journal(id)?;
        match self.lock(id) {
            Ok(session) => StoredSession::read_locked(&session, messages),
            Err(SessionError::Open { .. }) => {
                let audit = Audit::open(journal).map_err(AuditError::from)?;
                StoredSession::read_from(&audit, id, messages, true)
            }
            // Another process has removed it since the folder was listed.
            Err(SessionError::Unknown { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the size and the last change of a session's files. Returns `None` if there are none.
    pub(crate) fn files(&self, id: SessionId) -> Option<SessionFiles<SessionId>> {
        let beside = BESIDE.iter().map(|end| self.path.join(id.file(end)));
        SessionFiles::read(id, &self.journal(id), beside)
    }

    /// Removes the sessions that the retention does not keep, except open ones. Returns their number.
    pub(crate) fn prune(&self, retention: &Retention) -> Result<usize, SessionError> {
        let ids = self.ids()?.into_iter();
        let files: Vec<_> = ids.filter_map(|id| self.files(id)).collect();
        let mut removed = 0;
        for session in retention.surplus(&files, SystemTime::now()) {
            match self.lock(session.id) {
                Ok(locked) => locked.erase()?,
                // Unknown: another process has removed it meanwhile.
                Err(SessionError::Open { .. } | SessionError::Unknown { .. }) => continue,
                Err(error) => return Err(error),
            }
            removed += 1;
        }
        Ok(removed)
    }

    /// Returns an error if other users have access to an existing folder.
    fn check(&self) -> Result<(), SessionError> {
        match private::check_folder(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(SessionError::folder(&self.path)(source))
            }
            _ => Ok(()),
        }
    }

    /// Creates the folder, or checks that no other user can read it.
    fn prepare(&self) -> io::Result<()> {
        if let Some(state) = self.path.parent() {
            private::prepare_folder(state)?;
        }
        private::prepare_folder(&self.path)?;
        private::check_folder(&self.path)
    }
}

fn list_ids(folder: &Path) -> io::Result<Vec<SessionId>> {
    let mut ids = Vec::new();
    for file in fs::read_dir(folder)? {
        let name = file?.file_name();
        let stem = name
            .to_str()
            .and_then(|name| name.strip_suffix(JOURNAL)?.strip_suffix('.'));
        ids.extend(stem.and_then(SessionId::parse));
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    Ok(ids)
}

/// Warns that a session is neither listed nor resumed, because its journal cannot be read.
pub(crate) fn warn_of_skipped(id: SessionId, error: &SessionError) {
    program::warn(&format!("the session {id} is skipped: {error}"));
}
