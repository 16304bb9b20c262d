//! [`StreamedArguments`]: the arguments of a stream's calls, as text.

use std::collections::BTreeMap;

use rig_core::message::{AssistantContent, CallId, ToolFunction};
use rig_core::streaming::StreamEvent;

/// Collects the arguments of a stream's calls as they were sent, because rig [changes](super::exact_arguments) some of them.
#[derive(Debug, Default)]
pub(super) struct StreamedArguments {
    /// The text of each part that has not ended.
    parts: BTreeMap<usize, String>,
    /// The text of each call.
    calls: BTreeMap<CallId, String>,
}

impl StreamedArguments {
    /// Adds an event of the stream.
    pub(super) fn push(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Arguments { part, json } => {
                self.parts.entry(part.index()).or_default().push_str(json)
            }
            StreamEvent::End {
                part,
                content: AssistantContent::ToolCall(call),
            } => {
                let text = self.parts.remove(&part.index()).unwrap_or_default();
                let read = ToolFunction::parse(call.function.name.clone(), &text);
                // A service may state other arguments at the end of a call. Only those count.
                if read == call.function {
                    self.calls.insert(call.id.clone(), text);
                }
            }
            _ => {}
        }
    }

    /// Removes the text of a call's arguments. Returns `None` if the call was sent as a whole, or ended with other arguments.
    pub(super) fn take(&mut self, call: &CallId) -> Option<String> {
        self.calls.remove(call).filter(|text| !text.is_empty())
    }
}
