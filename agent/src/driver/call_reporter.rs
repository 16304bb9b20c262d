//! [`CallReporter`]: sends the events of one call in the order that [`Event`] guarantees.

use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use tools::call::PersonClock;
use tools::{
    ErrorCode, IgnorePoison as _, Json, Progress, ProgressSink, ProtectedFile, Target, ToolCall,
    ToolContext, ToolResult,
};

use super::guarded_sink::GuardedSink;
use crate::budget::Budget;
use crate::consent::ApprovalRequest;
use crate::event::Event;
use crate::run::PendingCall;
use crate::tool_set::ToolSet;

/// The reporter of one call, which is also its progress sink.
pub(super) struct CallReporter {
    id: String,
    name: String,
    is_refused: bool,
    started: Instant,
    pub(super) person_clock: Arc<PersonClock>,
    sink: Arc<GuardedSink>,
    /// False after the result. Locked while an event is sent, because a thread that outlives its call can report progress at any
    /// time.
    is_open: Mutex<bool>,
}

impl CallReporter {
    /// Sends the start of the call. Returns `None` if the sink is not active.
    pub(super) fn start(
        pending: &PendingCall,
        tools: &ToolSet,
        cx: &ToolContext,
        sink: &Arc<GuardedSink>,
        budget: &Budget,
    ) -> Option<Arc<Self>> {
        if !sink.is_active() {
            return None;
        }
        let PendingCall { call, refused, .. } = pending;
        let id = call.id.clone();
        let name = call.name.clone();
        let (targets, mut rulings) = judge_call(call, tools, cx).unwrap_or_default();
        if refused.is_some() {
            // Nothing was decided about a call that is not run.
            rulings.clear();
        }
        let arguments = tools.masked_arguments(call);
        sink.send(|| Event::CallStarted {
            id: id.clone(),
            name: name.clone(),
            arguments,
            targets,
            rulings,
        });
        let of_run = budget.person_clock().clone();
        Some(Arc::new(Self {
            id,
            name,
            is_refused: refused.is_some(),
            started: Instant::now(),
            person_clock: Arc::new(PersonClock::default().with_outer(of_run)),
            sink: sink.clone(),
            is_open: Mutex::new(true),
        }))
    }

    /// Sends that the call is abandoned. `abandoned` is the number of abandoned calls, including this one.
    pub(super) fn abandon(&self, abandoned: usize) {
        let is_open = self.is_open.lock().ignore_poison();
        if *is_open {
            self.sink.send(|| Event::Abandoned {
                id: self.id.clone(),
                name: self.name.clone(),
                abandoned,
            });
        }
    }

    /// Sends that the call waits for an approval, and closes the reporter.
    pub(super) fn defer(&self, request: &ApprovalRequest) {
        let mut is_open = self.is_open.lock().ignore_poison();
        if std::mem::replace(&mut *is_open, false) {
            self.sink.send(|| Event::ApprovalDeferred {
                id: self.id.clone(),
                request: request.clone(),
            });
        }
    }

    /// Sends the result and closes the reporter: later events of this call are dropped.
    pub(super) fn finish(&self, result: &ToolResult) {
        let mut is_open = self.is_open.lock().ignore_poison();
        if std::mem::replace(&mut *is_open, false) {
            let elapsed = self.started.elapsed();
            let duration = elapsed.saturating_sub(self.person_clock.total());
            let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
            let refused = self.is_refused.then_some(ErrorCode::Refused);
            self.sink.send(|| Event::Result {
                id: self.id.clone(),
                name: self.name.clone(),
                result: result.clone(),
                error: refused.or(result.error_code()),
                duration_ms,
            });
        }
    }

    /// Returns the name of the running tool, which may be nested in the call.
    fn name_tool(&self, cx: &ToolContext) -> String {
        cx.tool()
            .map_or_else(|| self.name.clone(), ToString::to_string)
    }
}

impl ProgressSink for CallReporter {
    fn report(&self, cx: &ToolContext, progress: Progress) {
        let is_open = self.is_open.lock().ignore_poison();
        if *is_open {
            self.sink.send(|| Event::Progress {
                id: self.id.clone(),
                name: self.name_tool(cx),
                progress,
            });
        }
    }

    fn protected_files(&self, cx: &ToolContext, files: &[ProtectedFile]) -> bool {
        let is_open = self.is_open.lock().ignore_poison();
        if *is_open {
            self.sink.send(|| Event::ProtectedFiles {
                id: self.id.clone(),
                name: self.name_tool(cx),
                files: files.to_vec(),
            });
        }
        *is_open && self.sink.is_active()
    }
}

/// Returns the targets of the call and the decisions about them. Returns `None` if the targets cannot be derived; the pipeline derives
/// them again and reports errors.
fn judge_call(
    call: &ToolCall,
    tools: &ToolSet,
    cx: &ToolContext,
) -> Option<(Vec<Target>, Vec<Json>)> {
    let (entry, targets) = tools.targets(call, cx)?;
    // Serializing a ruling does not fail: its keys are texts.
    let rulings = cx
        .rulings(entry.tool(), &targets)
        .filter_map(|ruling| Json::from_serialize(&ruling).ok())
        .collect();
    Some((targets, rulings))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tools::Host;

    #[test]
    fn no_event_is_sent_after_the_result() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = events.clone();
        let sink = GuardedSink::new(Some(Arc::new(move |event: Event| {
            log.lock().unwrap().push(event)
        })));
        let pending = PendingCall {
            call: ToolCall::new("a", "x", json!({})),
            index: 0,
            refused: None,
        };
        let reporter = CallReporter::start(
            &pending,
            &ToolSet::default(),
            &Host::new(),
            &Arc::new(sink),
            &Budget::default(),
        )
        .unwrap();
        let progress = || reporter.report(&Host::new(), Progress::message("on my way"));
        progress();
        reporter.finish(&ToolResult::text("done"));
        progress();
        reporter.finish(&ToolResult::text("done again"));
        let events = events.lock().unwrap();
        assert!(
            matches!(
                &events[..],
                [
                    Event::CallStarted { .. },
                    Event::Progress { .. },
                    Event::Result { .. }
                ]
            ),
            "{events:?}"
        );
    }
}
