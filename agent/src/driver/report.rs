//! [`Report`]: what one call tells, in the order that [`Event`] promises.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tools::{Progress, ProgressSink, Target, ToolCall, ToolContext, ToolResult};

use crate::{Event, EventSink, ToolSet};

pub(super) struct Report {
    id: String,
    name: String,
    started: Instant,
    events: Arc<dyn EventSink>,
    /// Held while an event is sent: a thread that outlives its call reports at any moment, also between the result's being
    /// there and its being told.
    is_open: Mutex<bool>,
}

impl Report {
    /// Tells that the call starts.
    pub(super) fn start(call: &ToolCall, tools: &ToolSet, events: Arc<dyn EventSink>) -> Self {
        let ToolCall { id, name, arguments } = call.clone();
        events.send(Event::CallStarted { id, name, targets: targets(call, tools), arguments });
        let (id, name) = (call.id.clone(), call.name.clone());
        Self { id, name, started: Instant::now(), events, is_open: Mutex::new(true) }
    }

    /// Tells the result; nothing of this call is told after it.
    pub(super) fn finish(&self, result: &ToolResult) {
        let mut is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *is_open, false) {
            let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let (id, name, result) = (self.id.clone(), self.name.clone(), result.clone());
            self.events.send(Event::Result { id, name, result, duration_ms });
        }
    }
}

impl ProgressSink for Report {
    fn report(&self, cx: &ToolContext, progress: Progress) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_open {
            let name = cx.tool().map_or_else(|| self.name.clone(), ToString::to_string);
            self.events.send(Event::Progress { id: self.id.clone(), name, progress });
        }
    }
}

/// What the call would touch. The counter works it out again, and says what is wrong where it cannot.
fn targets(call: &ToolCall, tools: &ToolSet) -> Vec<Target> {
    let targets = || {
        let entry = tools.get(&call.name).ok()?;
        let tool = entry.tool();
        tool.effects.targets(&tool.name, &tool.parameters, &call.arguments).ok()
    };
    targets().unwrap_or_default()
}
