//! [`RunState`]: the calls and failures of a run.

use std::collections::BTreeMap;
use std::time::Instant;

use agent::Event;
use agent::refusal::Refusal;
use tools::Target;

use crate::error::Error;
use crate::exit::Exit;

use crate::visible::visible;

/// The maximum number of calls named in the status line.
const NAMED: usize = 3;

pub(super) struct RunState {
    /// The number of calls so far.
    calls: usize,
    /// The calls without a result, in order.
    open: Vec<OpenCall>,
    /// The tools of this turn's calls, sorted.
    turn: Vec<String>,
    /// The exit codes of failed calls, by the index of the call.
    failures: BTreeMap<usize, Exit>,
    /// The refused calls.
    pub(super) refusals: Vec<Refusal>,
    /// True if the last text did not end its line.
    pub(super) is_line_open: bool,
    pub(super) started: Instant,
    /// The start of the model's current request, if no call is open.
    request_started: Instant,
    is_done: bool,
    /// The first error of the output.
    pub(super) output: Option<Error>,
}

/// A call without a result.
pub(super) struct OpenCall {
    index: usize,
    id: String,
    name: String,
    pub(super) targets: Vec<Target>,
    since: Instant,
}

impl RunState {
    /// Records an event. Returns the call that it ends.
    pub(super) fn record(&mut self, event: &Event) -> Option<OpenCall> {
        match event {
            Event::CallStarted { id, name, targets, .. } => {
                if self.open.is_empty() {
                    self.turn.clear();
                }
                let index = self.turn.partition_point(|other| other <= name);
                self.turn.insert(index, name.clone());
                let (id, name, targets) = (id.clone(), name.clone(), targets.clone());
                self.open.push(OpenCall { index: self.calls, id, name, targets, since: Instant::now() });
                self.calls += 1;
            }
            Event::Result { id, result, error, .. } => {
                let call = self.open.iter().position(|call| call.id == *id).map(|index| self.open.remove(index));
                if let Some(code) = *error {
                    self.failures.insert(call.as_ref().map_or(self.calls, |call| call.index), code.into());
                    let refusal = |call: &OpenCall| Refusal::from_result(&call.name, &call.targets, code, result);
                    self.refusals.extend(call.as_ref().and_then(refusal));
                }
                self.request_started = Instant::now();
                return call;
            }
            Event::Done(_) => self.is_done = true,
            _ => {}
        }
        None
    }

    /// Returns the awaited calls, or the model, and the start of the wait. Returns `None` if no status line may be shown.
    pub(super) fn status(&self) -> Option<(String, Instant)> {
        if self.is_done || self.is_line_open || self.output.is_some() {
            return None;
        }
        let Some(oldest) = self.open.first() else { return Some(("the model".to_owned(), self.request_started)) };
        let named = self.open.iter().take(NAMED).map(|call| visible(&call.name).into_owned()).collect::<Vec<_>>();
        let more = self.open.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some((named.join(", ") + &more, oldest.since))
    }

    /// Returns true if this turn has other calls of the tool.
    pub(super) fn is_one_of_several(&self, call: &OpenCall) -> bool {
        let first = self.turn.partition_point(|name| *name < call.name);
        self.turn.get(first + 1).is_some_and(|next| *next == call.name)
    }

    /// Returns the exit code of the first failed call.
    pub(super) fn first_failure(&self) -> Option<Exit> {
        self.failures.values().next().copied()
    }
}

impl Default for RunState {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            calls: 0,
            open: Vec::new(),
            turn: Vec::new(),
            failures: BTreeMap::new(),
            refusals: Vec::new(),
            is_line_open: false,
            started: now,
            request_started: now,
            is_done: false,
            output: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ToolResult;

    use super::*;

    fn started(id: &str, name: &str) -> Event {
        Event::CallStarted {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: json!({}).into(),
            targets: Vec::new(),
            rulings: Vec::new(),
        }
    }

    fn ended(id: &str, name: &str) -> Event {
        let result = ToolResult::text("x");
        Event::Result { id: id.to_owned(), name: name.to_owned(), result, error: None, duration_ms: 1 }
    }

    fn status(state: &RunState) -> Option<String> {
        state.status().map(|(text, _)| text)
    }

    #[test]
    fn the_status_names_the_open_calls_and_then_the_model() {
        let mut state = RunState::default();
        assert_eq!(status(&state).as_deref(), Some("the model"));
        for (id, name) in [("1", "a"), ("2", "b"), ("3", "b"), ("4", "c")] {
            state.record(&started(id, name));
        }
        assert_eq!(status(&state).as_deref(), Some("a, b, b and 1 more"));
        for (id, name) in [("1", "a"), ("2", "b"), ("3", "b")] {
            state.record(&ended(id, name));
        }
        assert_eq!(status(&state).as_deref(), Some("c"));
        state.record(&ended("4", "c"));
        assert_eq!(status(&state).as_deref(), Some("the model"));
        state.is_line_open = true;
        assert_eq!(status(&state), None);
    }

    #[test]
    fn calls_of_one_tool_in_one_turn_are_distinguished() {
        let mut state = RunState::default();
        for (id, name) in [("1", "b"), ("2", "a"), ("3", "b")] {
            state.record(&started(id, name));
        }
        let several = ["1", "2", "3"].map(|id| {
            let call = state.record(&ended(id, "b")).unwrap();
            state.is_one_of_several(&call)
        });
        assert_eq!(several, [true, false, true]);
        state.record(&started("4", "b"));
        let call = state.record(&ended("4", "b")).unwrap();
        assert!(!state.is_one_of_several(&call));
    }
}
