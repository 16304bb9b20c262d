//! [`Event`]: what a run tells while it is under way.

use serde::{Deserialize, Serialize};
use tools::{ErrorCode, Json, Progress, Target, ToolResult};

use crate::Summary;

/// Something that happened in a run. As JSON, an object with a `type`.
///
/// The order is this, and nothing else is promised:
/// - a turn's texts come before the starts of its calls, and those in the order of the calls;
/// - of one call, the start comes first, then any progress, then, where it is abandoned, that, then exactly one
///   result, then nothing;
/// - all results of a turn come before anything of the next one; between calls that run side by side there is no order;
/// - `Done` comes last, once, however the run ends. A run whose future is dropped tells no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The model says something.
    Text {
        /// The next piece of its text.
        text: String,
    },
    /// A call is handed to the counter.
    CallStarted {
        /// The call, unique in its conversation.
        id: String,
        /// The tool asked for.
        name: String,
        /// The arguments as they came, but for [secrets](crate::ToolSet::masked_arguments).
        arguments: Json,
        /// What the call would touch; empty where the arguments do not say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<Target>,
    },
    /// A call has come so far.
    Progress {
        /// The call.
        id: String,
        /// The tool that says so: the one called, or one that it called in turn.
        name: String,
        /// How far.
        progress: Progress,
    },
    /// A call is waited for no longer: its deadline has passed or its run was cancelled, and its tool does not yield. It holds a
    /// thread until it ends. A host that sees this has a tool to mend.
    Abandoned {
        /// The call.
        id: String,
        /// The tool asked for.
        name: String,
        /// How many calls are abandoned on this runtime, with this one.
        abandoned: usize,
    },
    /// A call has its result.
    Result {
        /// The call.
        id: String,
        /// The tool asked for.
        name: String,
        /// What it gave.
        result: ToolResult,
        /// Why it failed; absent if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorCode>,
        /// The time since its start, in milliseconds.
        duration_ms: u64,
    },
    /// The run is over.
    Done(Summary),
}

/// Receives events. Closures `Fn(Event)` are sinks.
pub trait EventSink: Send + Sync {
    /// Takes one event. Called from the run and from running tools, so it must not block. A sink that panics is not called
    /// again in that run.
    fn send(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn send(&self, event: Event) {
        self(event);
    }
}
