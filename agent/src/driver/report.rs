//! [`Report`]: what one call tells, in the order that [`Event`] promises.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tools::{ErrorCode, Progress, ProgressSink, Target, ToolCall, ToolContext, ToolResult};

use super::listener::Listener;
use crate::{Event, PendingCall, ToolSet};

pub(super) struct Report {
    id: String,
    name: String,
    is_refused: bool,
    started: Instant,
    listener: Arc<Listener>,
    /// Held while an event is sent: a thread that outlives its call reports at any moment, also between the result's being
    /// there and its being told.
    is_open: Mutex<bool>,
}

impl Report {
    /// Tells that the call starts. Returns `None` if nobody listens.
    pub(super) fn start(pending: &PendingCall, tools: &ToolSet, listener: &Arc<Listener>) -> Option<Arc<Self>> {
        if !listener.is_listening() {
            return None;
        }
        let PendingCall { call, refused, .. } = pending;
        let (id, name) = (call.id.clone(), call.name.clone());
        let (targets, arguments) = (targets(call, tools), tools.masked_arguments(call));
        listener.tell(|| Event::CallStarted { id: id.clone(), name: name.clone(), targets, arguments });
        let (is_refused, started, listener) = (refused.is_some(), Instant::now(), listener.clone());
        Some(Arc::new(Self { id, name, is_refused, started, listener, is_open: Mutex::new(true) }))
    }

    /// Tells that the call is waited for no longer, the last of so many.
    pub(super) fn abandon(&self, abandoned: usize) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_open {
            self.listener.tell(|| Event::Abandoned { id: self.id.clone(), name: self.name.clone(), abandoned });
        }
    }

    /// Tells the result; nothing of this call is told after it.
    pub(super) fn finish(&self, result: &ToolResult) {
        let mut is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *is_open, false) {
            let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let error = if self.is_refused { Some(ErrorCode::Refused) } else { result.error_code() };
            let (id, name, result) = (self.id.clone(), self.name.clone(), result.clone());
            self.listener.tell(|| Event::Result { id, name, result, error, duration_ms });
        }
    }
}

impl ProgressSink for Report {
    fn report(&self, cx: &ToolContext, progress: Progress) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_open {
            let name = cx.tool().map_or_else(|| self.name.clone(), ToString::to_string);
            self.listener.tell(|| Event::Progress { id: self.id.clone(), name, progress });
        }
    }
}

/// What the call would touch. The counter works it out again, and says what is wrong where it cannot.
fn targets(call: &ToolCall, tools: &ToolSet) -> Vec<Target> {
    let targets = || {
        let entry = tools.get(&call.name).ok()?;
        entry.targets(&call.arguments).ok()
    };
    targets().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_told_after_the_result() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = told.clone();
        let listener = Listener::new(Some(Arc::new(move |event: Event| hears.lock().unwrap().push(event))));
        let pending = PendingCall { call: ToolCall::new("a", "x", json!({})), index: 0, refused: None };
        let report = Report::start(&pending, &ToolSet::default(), &Arc::new(listener)).unwrap();
        let progress = || report.report(&ToolContext::new(), Progress::message("on my way"));
        progress();
        report.finish(&ToolResult::text("done"));
        progress();
        report.finish(&ToolResult::text("done again"));
        let told = told.lock().unwrap();
        assert!(
            matches!(&told[..], [Event::CallStarted { .. }, Event::Progress { .. }, Event::Result { .. }]),
            "{told:?}"
        );
    }
}
