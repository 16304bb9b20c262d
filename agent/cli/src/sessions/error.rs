//! [`SessionError`]: a recorded session cannot be found or used.

use std::io;
use std::path::PathBuf;

use tools_journal::AuditError;

use super::SessionId;
use crate::{program, shell};

/// The number of sessions that an error names.
const NAMED: usize = 5;

/// An error about recorded sessions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SessionError {
    #[error("there is no home folder to keep sessions in; set HOME or XDG_STATE_HOME")]
    NoHome,
    #[error("cannot keep sessions in {}: {source}; make it a folder that only you can read and write", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot use the journal {}: {source}; erase the session, or make its file one that only you can read", path.display())]
    Access { path: PathBuf, source: io::Error },
    #[error(
        "no recorded session has an ID that begins with {text:?}; run {} sessions --all to see all",
        program::name()
    )]
    Unknown { text: String },
    #[error("several sessions have an ID that begins with {text:?}: {}; type more of it", named(ids))]
    Ambiguous { text: String, ids: Vec<SessionId> },
    #[error("no session of the workspace {workspace} is recorded; run {} sessions --all to see all", program::name())]
    NoneHere { workspace: String },
    #[error("the session {id} is in use by another process; wait until it ends, or name another session")]
    Open { id: SessionId },
    #[error("the session {name} belongs to the workspace {workspace}; resume it there, or with --root")]
    OtherWorkspace { name: String, workspace: String },
    #[error(
        "the session {name} began with the provider {provider} at {url}, which no setting names; continue it with --base-url {}, \
         or choose another service with --provider",
        shell::quoted(url)
    )]
    OtherService { name: String, provider: String, url: String },
    #[error(transparent)]
    Journal(#[from] AuditError),
    #[error("cannot remove the session {id}: {source}; check the permissions of its files")]
    Erase { id: SessionId, source: io::Error },
}

fn named(ids: &[SessionId]) -> String {
    let mut named: Vec<_> = ids.iter().take(NAMED).map(SessionId::to_string).collect();
    if ids.len() > NAMED {
        named.push(format!("and {} more", ids.len() - NAMED));
    }
    named.join(", ")
}
