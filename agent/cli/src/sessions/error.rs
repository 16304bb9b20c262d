//! [`SessionError`]: a recorded session cannot be found or used.

use std::io;
use std::path::PathBuf;

use tools_journal::{AuditError, SessionStart};

use super::SessionId;
use crate::config::Setting;
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
    #[error(
        "{text:?} is neither a journal file nor the beginning of the ID of a recorded session; run {} sessions --all to see the IDs",
        program::name()
    )]
    NoJournal { text: String },
    #[error(
        "several sessions have an ID that begins with {text:?}: {}; type more of it",
        named(ids)
    )]
    Ambiguous { text: String, ids: Vec<SessionId> },
    #[error(
        "no session of the workspace {workspace} can be continued; run {} sessions --all to see all",
        program::name()
    )]
    NoneHere { workspace: String },
    #[error(
        "the session {id} is in use by another process; wait until it ends, or name another session"
    )]
    Open { id: SessionId },
    #[error(
        "the session {name} belongs to the workspace {workspace}; resume it there, or with --root"
    )]
    OtherWorkspace { name: String, workspace: String },
    #[error(
        "the session {name} is a run of job {job}, whose limits it would lose; see {program} cron log {job}, and make the job anew to \
         run it again",
        program = program::name()
    )]
    OfJob { name: String, job: i64 },
    #[error(
        "the session {name} began with the provider {provider}, and the settings choose {chosen}; name the one that gets its \
         conversation with --provider"
    )]
    OtherProvider {
        name: String,
        provider: String,
        chosen: String,
    },
    #[error(transparent)]
    OtherService(Box<OtherService>),
    #[error(transparent)]
    Journal(#[from] AuditError),
    #[error("cannot remove the session {id}: {source}; check the permissions of its files")]
    Erase { id: SessionId, source: io::Error },
}

impl SessionError {
    /// Returns an error if the session runs a job.
    pub(crate) fn check_no_job(name: &str, start: &SessionStart) -> Result<(), Self> {
        start.job.map_or(Ok(()), |job| {
            Err(Self::OfJob {
                name: name.to_owned(),
                job,
            })
        })
    }
}

/// The provider of a session would have another service than the session began with.
#[derive(Debug, thiserror::Error)]
#[error("the session {name} began with the provider {provider} at {}, and {}; {}", self.began_at(), self.now(), self.advice())]
pub(crate) struct OtherService {
    pub(crate) name: String,
    pub(crate) provider: String,
    /// The recorded URL, or `None` for the provider's usual service.
    pub(crate) began_at: Option<String>,
    /// The URL of the settings, or `None` for the provider's usual service.
    pub(crate) configured: Option<Setting<String>>,
    /// True if the journal is one of the user's own, so that its URL can be advised.
    pub(crate) is_of_user: bool,
}

impl OtherService {
    fn began_at(&self) -> &str {
        self.began_at.as_deref().unwrap_or("its usual service")
    }

    fn now(&self) -> String {
        match &self.configured {
            Some(url) => format!("{} names {}", url.origin, url.value),
            None => "no setting names that service".to_owned(),
        }
    }

    fn advice(&self) -> String {
        let flag = |url: &String| format!("--base-url {}", shell::quoted(url));
        let first = self.began_at.as_ref().filter(|_| self.is_of_user);
        match (
            first.map(flag),
            self.configured.as_ref().map(|url| flag(&url.value)),
        ) {
            (Some(first), Some(other)) => {
                format!("continue it there with {first}, or at the other one with {other}")
            }
            (Some(first), None) => format!("continue it there with {first}"),
            (None, Some(other)) => format!("continue it at the other one with {other}"),
            (None, None) => {
                "continue it with --base-url and the URL of a service that you trust".to_owned()
            }
        }
    }
}

fn named(ids: &[SessionId]) -> String {
    let mut named: Vec<_> = ids.iter().take(NAMED).map(SessionId::to_string).collect();
    if ids.len() > NAMED {
        named.push(format!("and {} more", ids.len() - NAMED));
    }
    named.join(", ")
}
