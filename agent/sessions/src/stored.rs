//! [`StoredSession`]: the stored start and state of a session.

use tools::journal::{Checkpoint, SessionStart};
use tools_journal::{Audit, AuditError};

use crate::error::SessionError;
use crate::id::SessionId;
use crate::lock::LockedSession;

/// The start and the newest checkpoint of a session that has a prompt.
pub(crate) struct StoredSession {
    pub(crate) start: SessionStart,
    pub(crate) checkpoint: Checkpoint,
    /// True if a process uses the session.
    pub(crate) is_open: bool,
}

impl StoredSession {
    /// Reads a session that only this process uses. Returns `None` if it has no prompt.
    pub(crate) fn read_locked(
        session: &LockedSession,
        messages: u32,
    ) -> Result<Option<Self>, SessionError> {
        let audit = Audit::open_unused(session.journal()).map_err(AuditError::from)?;
        Self::read_from(&audit, session.id, messages, false)
    }

    /// Reads a session of this journal. Returns `None` if it has no prompt.
    pub(crate) fn read_from(
        audit: &Audit,
        id: SessionId,
        messages: u32,
        is_open: bool,
    ) -> Result<Option<Self>, SessionError> {
        let name = id.to_string();
        let stored = (audit.find_start(&name)?, audit.checkpoint(&name, messages)?);
        let (Some(start), Some(checkpoint)) = stored else {
            return Ok(None);
        };
        Ok(Some(Self {
            start,
            checkpoint,
            is_open,
        }))
    }
}
