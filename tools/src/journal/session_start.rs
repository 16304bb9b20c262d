//! [`SessionStart`]: how a session began.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::Grant;

/// The time, workspace, grant, provider, URL of its service, model and job with which a session began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStart {
    /// The time, in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The workspace's path or another name of it. The journal does not interpret it.
    pub workspace: String,
    /// The grant. A host narrows the grant of a resumed session by it.
    pub grant: Grant,
    /// The name of the provider, or `None` if it is not recorded.
    pub provider: Option<String>,
    /// The model's name, or `None` if the provider chose it.
    pub model: Option<String>,
    /// The URL of the provider's service, or `None` for its usual one. A host must not send a key there because a journal says so.
    pub base_url: Option<String>,
    /// The job that the session runs, or `None` if it runs none. The limits of a job are in no journal, so a host resumes none.
    pub job: Option<i64>,
}

impl SessionStart {
    /// Creates the start of a session that begins now.
    pub fn new(workspace: impl Into<String>, grant: Grant) -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            at_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            workspace: workspace.into(),
            grant,
            provider: None,
            model: None,
            base_url: None,
            job: None,
        }
    }
}
