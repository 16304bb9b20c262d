//! [`SessionSummary`]: a session as `sessions` lists it.

use std::fmt::Display;

use agent::Run;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use tools::protocol::{Message, Role};

use crate::error::SessionError;
use crate::folder::SessionFolder;
use crate::id::SessionId;
use crate::stored::StoredSession;

/// The number of messages read to find the first prompt, which follows the system text.
const HEAD: u32 = 2;

/// The facts about a session that a list shows.
#[derive(Debug, Serialize)]
pub(crate) struct SessionSummary {
    #[serde(serialize_with = "text")]
    pub(crate) id: SessionId,
    #[serde(serialize_with = "text")]
    pub(crate) started: Timestamp,
    pub(crate) workspace: String,
    /// The first prompt of the conversation.
    pub(crate) prompt: String,
    pub(crate) state: SessionState,
    pub(crate) bytes: u64,
}

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionState {
    /// A process uses the session.
    Open,
    /// The last prompt is answered.
    Finished,
    /// Calls wait for an approval.
    Waiting,
    /// The session ended before the answer.
    Interrupted,
}

impl SessionSummary {
    /// Reads a session. Returns `None` if it has no prompt yet, or was removed meanwhile.
    pub(crate) fn read(
        folder: &SessionFolder,
        id: SessionId,
    ) -> Result<Option<Self>, SessionError> {
        let Some(files) = folder.files(id) else {
            return Ok(None);
        };
        let Some(StoredSession {
            start,
            checkpoint,
            is_open,
        }) = StoredSession::read(folder, id, HEAD)?
        else {
            return Ok(None);
        };
        let messages = checkpoint
            .messages
            .iter()
            .filter_map(|text| serde_json::from_str::<Message>(text).ok());
        let prompt = messages
            .into_iter()
            .find(|message| message.role == Role::User);
        let state = match Run::from_checkpoint(&checkpoint) {
            _ if is_open => SessionState::Open,
            Ok(run) if run.is_answered() => SessionState::Finished,
            Ok(run) if !run.waiting_requests().is_empty() => SessionState::Waiting,
            _ => SessionState::Interrupted,
        };
        Ok(Some(Self {
            id,
            started: Timestamp::from_millisecond(start.at_ms).unwrap_or_default(),
            workspace: start.workspace,
            prompt: prompt.map(|prompt| prompt.to_text()).unwrap_or_default(),
            state,
            bytes: files.bytes,
        }))
    }
}

impl SessionState {
    /// Returns the state as a word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
        }
    }
}

fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
