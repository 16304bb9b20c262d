//! [`SessionSummary`]: a session as `sessions` lists it.

use std::collections::BTreeMap;
use std::fmt::Display;

use agent::Run;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use tools::journal::Checkpoint;
use tools::protocol::{Message, Role};

use crate::error::SessionError;
use crate::folder::SessionFolder;
use crate::id::SessionId;

/// The number of messages read to find the first prompt, which follows the system text.
pub(crate) const HEAD: u32 = 2;

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
    /// `open` while a process uses the session, then `finished`, `waiting` for an approval, or `interrupted` before the answer.
    pub(crate) state: &'static str,
    pub(crate) bytes: u64,
    /// The models that wrote the conversation, each at the position of its first message.
    pub(crate) models: BTreeMap<usize, String>,
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
        let Some(stored) = folder.read_stored(id, HEAD)? else {
            return Ok(None);
        };
        let run = Run::from_checkpoint(&stored.checkpoint);
        let models = run.iter().flat_map(Run::models);
        let models = models.map(|(at, model)| (at, model.to_owned())).collect();
        let state = match run {
            _ if stored.is_open => "open",
            Ok(run) if run.is_answered() => "finished",
            Ok(run) if !run.waiting_requests().is_empty() => "waiting",
            _ => "interrupted",
        };
        Ok(Some(Self {
            id,
            started: Timestamp::from_millisecond(stored.start.at_ms).unwrap_or_default(),
            workspace: stored.start.workspace,
            prompt: first_prompt(&stored.checkpoint),
            state,
            bytes: files.bytes,
            models,
        }))
    }
}

/// Returns the text of the first prompt among the messages that were read.
pub(crate) fn first_prompt(checkpoint: &Checkpoint) -> String {
    let texts = checkpoint.messages.iter();
    let mut messages = texts.filter_map(|text| serde_json::from_str::<Message>(text).ok());
    let prompt = messages.find(|message| message.role == Role::User);
    prompt.map(|prompt| prompt.to_text()).unwrap_or_default()
}

fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
