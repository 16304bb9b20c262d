//! [`StreamedArguments`]: the arguments of a stream's calls, as text.

use std::collections::{BTreeMap, BTreeSet};

use rig_core::message::AssistantContent;
use rig_core::streaming::StreamEvent;

/// Collects the arguments of a stream's calls as they were sent, because rig [changes](super::exact_arguments) some of them.
#[derive(Debug, Default)]
pub(super) struct StreamedArguments {
    /// The text of each part.
    texts: BTreeMap<usize, String>,
    /// The parts that became calls.
    calls: BTreeSet<usize>,
}

impl StreamedArguments {
    /// Adds an event of the stream.
    pub(super) fn push(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Arguments { part, json } => self.texts.entry(part.index()).or_default().push_str(json),
            StreamEvent::End { part, content: AssistantContent::ToolCall(_) } => {
                self.calls.insert(part.index());
            }
            _ => {}
        }
    }

    /// Returns the text of each call's arguments, in the order of the calls. It is empty for a call that was sent as a whole.
    pub(super) fn into_texts(mut self) -> impl Iterator<Item = String> {
        self.calls.into_iter().map(move |part| self.texts.remove(&part).unwrap_or_default())
    }
}
