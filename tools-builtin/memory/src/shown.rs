//! [`Shown`]: a memory in a result.

use serde::Serialize;
use tools::{ToolContext, visible_line, visible_text};

use crate::MemoryEntry;

/// A memory as a model reads it. Control characters and invisible ones are visible.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    /// The number.
    id: i64,
    /// The text.
    text: String,
    /// The tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// The day, the author and the session.
    saved: String,
    /// True if a session saved it after it had read text of strangers, and the user has not confirmed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unconfirmed: bool,
}

impl From<MemoryEntry> for Shown {
    fn from(entry: MemoryEntry) -> Self {
        let (text, saved) = (visible_text(&entry.text), provenance(&entry));
        Self {
            id: entry.id,
            text,
            tags: entry.tags,
            saved,
            unconfirmed: !entry.confirmed,
        }
    }
}

/// Returns the memories for a model. The session has then read text of strangers if one of them may have it.
pub(crate) fn shown(cx: &ToolContext, entries: Vec<MemoryEntry>) -> Vec<Shown> {
    if entries.iter().any(|entry| !entry.confirmed) {
        cx.record_exposure();
    }
    entries.into_iter().map(Shown::from).collect()
}

/// Returns the day, the author and the session of a memory, such as `2026-11-23 by the agent, session 0f3c`.
pub(crate) fn provenance(entry: &MemoryEntry) -> String {
    let author = if entry.author.is_empty() {
        "an unknown author".to_owned()
    } else {
        visible_line(&entry.author, 80)
    };
    let session = entry
        .session
        .as_deref()
        .map(|session| format!(", session {}", visible_line(session, 80)));
    format!(
        "{} by {author}{}",
        entry.saved.strftime("%Y-%m-%d"),
        session.unwrap_or_default()
    )
}
