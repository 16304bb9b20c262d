//! [`RunState`]: the calls and failures of a run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent::Event;
use agent::refusal::Refusal;
use terminal::Wait;
use tools::{Progress, Target};

use super::CallFailure;
use super::event_line::SHOWN;
use crate::error::Error;
use crate::notice::{STRONG, paint};
use host::fit;
use tools::visible::visible;

/// The minimum time between two progress lines where there are no status lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct RunState {
    /// The number of calls so far.
    calls: usize,
    /// The calls without a result, in order.
    open: Vec<OpenCall>,
    /// The tools of this turn's calls, sorted.
    turn: Vec<String>,
    /// The failed calls, by the index of the call.
    failures: BTreeMap<usize, CallFailure>,
    /// The refused calls.
    pub(super) refusals: Vec<Refusal>,
    /// The protected files that programs created or changed, each as a sentence.
    pub(super) protected: Vec<String>,
    pub(super) started: Instant,
    /// The start of the model's current request, if no call is open.
    request_started: Instant,
    pub(super) is_done: bool,
    /// True if later requests leave out a part of the conversation.
    pub(super) is_compacted: bool,
    /// The time of the last progress line.
    progress_shown: Option<Instant>,
    /// The first error of the output.
    pub(super) output: Option<Error>,
}

/// A call without a result.
pub(super) struct OpenCall {
    index: usize,
    id: String,
    name: String,
    /// The path of the sub-agent that makes the call, or `None` for the session itself.
    agent: Option<String>,
    pub(super) targets: Vec<Target>,
    since: Instant,
    /// The reporting tool and its last report, unless it was written as a line.
    progress: Option<(String, Progress)>,
}

impl RunState {
    /// Records an event of the session or of a sub-agent. Returns the call that it ends.
    pub(super) fn record(&mut self, agent: Option<&str>, event: &Event) -> Option<OpenCall> {
        match event {
            Event::CallStarted {
                id, name, targets, ..
            } => {
                if self.open.is_empty() {
                    self.turn.clear();
                }
                if agent.is_none() {
                    let index = self.turn.partition_point(|other| other <= name);
                    self.turn.insert(index, name.clone());
                }
                let id = id.clone();
                let name = name.clone();
                let targets = targets.clone();
                self.open.push(OpenCall {
                    index: self.calls,
                    id,
                    name,
                    agent: agent.map(str::to_owned),
                    targets,
                    since: Instant::now(),
                    progress: None,
                });
                self.calls += 1;
            }
            Event::Progress { id, name, progress } => {
                if let Some(call) = self.open.iter_mut().find(|call| call.id == *id) {
                    call.progress = Some((name.clone(), progress.clone()));
                }
            }
            Event::Result {
                id,
                name,
                result,
                error,
                ..
            } => {
                let index = self.open.iter().position(|call| call.id == *id);
                let call = index.map(|index| self.open.remove(index));
                if let Some(code) = *error {
                    if agent.is_none() {
                        let failure = CallFailure::new(name, code, result);
                        self.failures
                            .insert(call.as_ref().map_or(self.calls, |call| call.index), failure);
                    }
                    self.refusals.extend(call.as_ref().and_then(|call| {
                        Refusal::from_result(&call.name, &call.targets, code, result)
                    }));
                }
                self.request_started = Instant::now();
                return call;
            }
            Event::ProtectedFiles { files, .. } => {
                self.protected.extend(files.iter().map(ToString::to_string))
            }
            Event::ApprovalDeferred { id, .. } => self.open.retain(|call| call.id != *id),
            Event::Compacted(_) if agent.is_none() => self.is_compacted = true,
            Event::Done(_) if agent.is_none() => self.is_done = true,
            _ => {}
        }
        None
    }

    /// Returns the awaited calls with their progress, or the model. `time_since` measures the waits.
    pub(super) fn waits(&self, time_since: impl Fn(Instant) -> Duration) -> Vec<Wait> {
        if self.is_done || self.output.is_some() {
            return Vec::new();
        }
        if self.open.is_empty() {
            return vec![("the model".to_owned(), time_since(self.request_started))];
        }
        self.open
            .iter()
            .map(|call| (call.text(), time_since(call.since)))
            .collect()
    }

    /// Takes the last progress of a call as a line, unless another line was taken less than a second ago.
    pub(super) fn take_progress(&mut self, id: &str, now: Instant) -> Option<String> {
        let is_due = self
            .progress_shown
            .is_none_or(|shown| now.duration_since(shown) >= PROGRESS_INTERVAL);
        let call = self.open.iter_mut().find(|call| is_due && call.id == id)?;
        self.progress_shown = Some(now);
        call.take_progress()
    }

    /// Returns true if this turn has other calls of the tool, or a sub-agent makes the call.
    pub(super) fn is_one_of_several(&self, call: &OpenCall) -> bool {
        if call.agent.is_some() {
            return true;
        }
        let first = self.turn.partition_point(|name| *name < call.name);
        self.turn
            .get(first + 1)
            .is_some_and(|next| *next == call.name)
    }

    /// Returns the first failed call.
    pub(super) fn first_failure(&self) -> Option<CallFailure> {
        self.failures.values().next().cloned()
    }
}

impl OpenCall {
    /// Takes the last progress as a line, if it was not written yet.
    pub(super) fn take_progress(&mut self) -> Option<String> {
        let (tool, progress) = self.progress.take()?;
        Some(format!(
            "   {} {}",
            paint(STRONG, visible(&tool)),
            progress_text(&last_line(progress))
        ))
    }

    fn text(&self) -> String {
        let agent = self
            .agent
            .as_ref()
            .map(|agent| format!("{}: ", visible(agent)))
            .unwrap_or_default();
        let name = format!("{agent}{}", visible(&self.name));
        // The lines of a program stand below its name.
        if let Some((
            _,
            Progress {
                message: Some(message),
                ..
            },
        )) = &self.progress
            && message.contains('\n')
        {
            let lines = message
                .lines()
                .map(|line| format!("\n{}", fit::cut(&visible(line), SHOWN)));
            return name + &lines.collect::<String>();
        }
        match &self.progress {
            Some((tool, progress)) if *tool == self.name => {
                format!("{name} {}", progress_text(progress))
            }
            Some((tool, progress)) => {
                format!("{name} {} {}", visible(tool), progress_text(progress))
            }
            None => name,
        }
    }
}

/// Returns a progress report with the last line of its message.
fn last_line(mut progress: Progress) -> Progress {
    let message = progress.message.take();
    progress.message = message.map(|text| text.lines().last().unwrap_or_default().to_owned());
    progress
}

/// Returns a progress report as visible text, such as `3 of 10: moving files`, cut to [`SHOWN`].
fn progress_text(progress: &Progress) -> String {
    let mut parts = Vec::new();
    parts.extend(match (progress.done, progress.total) {
        (Some(done), Some(total)) => Some(format!("{done} of {total}")),
        (Some(done), None) => Some(done.to_string()),
        _ => None,
    });
    parts.extend(
        progress
            .message
            .as_deref()
            .map(|message| visible(message).into_owned()),
    );
    fit::cut(&parts.join(": "), SHOWN)
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
            protected: Vec::new(),
            started: now,
            request_started: now,
            is_done: false,
            is_compacted: false,
            progress_shown: None,
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
        Event::Result {
            id: id.to_owned(),
            name: name.to_owned(),
            result,
            error: None,
            duration_ms: 1,
        }
    }

    fn waits(state: &RunState) -> Vec<String> {
        state
            .waits(|start| start.elapsed())
            .into_iter()
            .map(|(text, _)| text)
            .collect()
    }

    #[test]
    fn each_open_call_has_one_line_with_its_last_progress() {
        let mut state = RunState::default();
        assert_eq!(waits(&state), ["the model"]);
        state.record(None, &started("1", "a"));
        state.record(None, &started("2", "b"));
        for (id, name, progress) in [
            ("1", "a", Progress::new(1.0, 3.0)),
            (
                "1",
                "a",
                Progress {
                    message: Some("x\u{1b}".to_owned()),
                    ..Progress::new(2.0, 3.0)
                },
            ),
            ("2", "inner", Progress::message("deep")),
        ] {
            state.record(
                None,
                &Event::Progress {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    progress,
                },
            );
        }
        assert_eq!(waits(&state), [r"a 2 of 3: x\u{1b}", "b inner deep"]);
        state.record(None, &ended("1", "a"));
        assert_eq!(waits(&state), ["b inner deep"]);
        state.record(None, &ended("2", "b"));
        assert_eq!(waits(&state), ["the model"]);
        state.is_done = true;
        assert!(waits(&state).is_empty());
    }

    #[test]
    fn progress_is_written_once_a_second() {
        let (mut state, start) = (RunState::default(), Instant::now());
        state.record(None, &started("1", "a"));
        let is_taken = |ms: &u64| {
            let progress = Progress::new(*ms as f64, 3000.0);
            state.record(
                None,
                &Event::Progress {
                    id: "1".to_owned(),
                    name: "a".to_owned(),
                    progress,
                },
            );
            let line = state.take_progress("1", start + Duration::from_millis(*ms));
            line.is_some_and(|line| line.contains(&format!("{ms} of 3000")))
        };
        assert_eq!(
            (0..3000).filter(is_taken).collect::<Vec<_>>(),
            [0, 1000, 2000]
        );
        let mut call = state.record(None, &ended("1", "a")).unwrap();
        assert!(
            call.take_progress().unwrap().contains("2999 of 3000"),
            "the last one is left for a failure"
        );
        assert_eq!(call.take_progress(), None);
    }

    #[test]
    fn calls_of_one_tool_in_one_turn_are_distinguished() {
        let mut state = RunState::default();
        for (id, name) in [("1", "b"), ("2", "a"), ("3", "b")] {
            state.record(None, &started(id, name));
        }
        let several = ["1", "2", "3"].map(|id| {
            let call = state.record(None, &ended(id, "b")).unwrap();
            state.is_one_of_several(&call)
        });
        assert_eq!(several, [true, false, true]);
        state.record(None, &started("4", "b"));
        let call = state.record(None, &ended("4", "b")).unwrap();
        assert!(!state.is_one_of_several(&call));
    }
}
