//! [`PastResults`]: the results of a conversation, also those that its requests leave out.

use std::sync::{Arc, Weak};

use tools::protocol::{Message, Part};
use tools::{Content, ToolResult, join};

/// The results of a conversation, until it goes on.
// Weak, so that the run can append to its messages without a copy while a call holds this.
#[derive(Debug, Default)]
pub(crate) struct PastResults(Weak<Vec<Message>>);

impl PastResults {
    /// Returns the results of these messages. The reference does not keep them.
    pub(super) fn new(messages: &Arc<Vec<Message>>) -> Self {
        Self(Arc::downgrade(messages))
    }

    /// Returns the newest result for a call with this id. Returns `None` if the conversation has none or has gone on.
    pub(crate) fn find(&self, id: &str) -> Option<ToolResult> {
        let messages = self.0.upgrade()?;
        messages
            .iter()
            .rev()
            .flat_map(|message| &message.parts)
            .find_map(|part| match part {
                Part::ToolResult {
                    id: other, result, ..
                } if other.trim() == id => Some(result.clone()),
                _ => None,
            })
    }
}

/// Returns the text of a result as a model reads it, without its images and recordings.
pub(crate) fn text_of(result: &ToolResult) -> String {
    if let ([], Some(structured)) = (&result.content[..], &result.structured) {
        return structured.to_string();
    }
    let text = |content: &Content| match content {
        Content::Text { text } => Some(text.clone()),
        media if is_media(media) => None,
        other => Some(other.describe()),
    };
    join(result.content.iter().filter_map(text), "\n")
}

/// Returns true for an image or a recording.
pub(crate) fn is_media(content: &Content) -> bool {
    matches!(content, Content::Image { .. } | Content::Audio { .. })
}
