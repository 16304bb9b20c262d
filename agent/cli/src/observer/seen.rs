//! [`Seen`]: what an observer remembers of a run.

use std::collections::BTreeMap;
use std::time::Instant;

use agent::Event;
use tools::Target;

use crate::error::Error;
use crate::exit::Exit;
use crate::refusal::Refusal;
use crate::visible::visible;

/// How many calls are named while they are waited for.
const NAMED: usize = 3;

pub(super) struct Seen {
    /// How many calls there were.
    calls: usize,
    /// The calls without a result, in their order.
    open: Vec<Call>,
    /// The tools of this turn's calls, sorted.
    turn: Vec<String>,
    /// How calls failed, by their place in the order of all calls.
    failures: BTreeMap<usize, Exit>,
    /// The calls that were refused.
    pub(super) refusals: Vec<Refusal>,
    /// Whether the last text did not end its line.
    pub(super) is_line_open: bool,
    pub(super) begun: Instant,
    /// Since when the model has been at work, if no call is open.
    asked: Instant,
    is_done: bool,
    pub(super) output: Option<Error>,
}

/// A call under way.
pub(super) struct Call {
    place: usize,
    id: String,
    name: String,
    pub(super) targets: Vec<Target>,
    since: Instant,
}

impl Seen {
    /// Takes an event in. Gives the call that has ended with it.
    pub(super) fn note(&mut self, event: &Event) -> Option<Call> {
        match event {
            Event::CallStarted { id, name, targets, .. } => {
                if self.open.is_empty() {
                    self.turn.clear();
                }
                let place = self.turn.partition_point(|other| other <= name);
                self.turn.insert(place, name.clone());
                let (id, name, targets) = (id.clone(), name.clone(), targets.clone());
                self.open.push(Call { place: self.calls, id, name, targets, since: Instant::now() });
                self.calls += 1;
            }
            Event::Result { id, result, error, .. } => {
                let call = self.open.iter().position(|call| call.id == *id).map(|index| self.open.remove(index));
                if let Some(code) = *error {
                    self.failures.insert(call.as_ref().map_or(self.calls, |call| call.place), code.into());
                    let told = |call: &Call| Refusal::told(&call.name, &call.targets, code, result);
                    self.refusals.extend(call.as_ref().and_then(told));
                }
                self.asked = Instant::now();
                return call;
            }
            Event::Done(_) => self.is_done = true,
            _ => {}
        }
        None
    }

    /// What is waited for, and since when.
    pub(super) fn waiting(&self) -> Option<(String, Instant)> {
        if self.is_done || self.is_line_open || self.output.is_some() {
            return None;
        }
        let Some(oldest) = self.open.first() else { return Some(("the model".to_owned(), self.asked)) };
        let named = self.open.iter().take(NAMED).map(|call| visible(&call.name).into_owned()).collect::<Vec<_>>();
        let more = self.open.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some((named.join(", ") + &more, oldest.since))
    }

    /// Whether this turn has other calls of the tool.
    pub(super) fn is_one_of_several(&self, call: &Call) -> bool {
        let first = self.turn.partition_point(|name| *name < call.name);
        self.turn.get(first + 1).is_some_and(|next| *next == call.name)
    }

    /// How the first call that failed did.
    pub(super) fn first_failure(&self) -> Option<Exit> {
        self.failures.values().next().copied()
    }
}

impl Default for Seen {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            calls: 0,
            open: Vec::new(),
            turn: Vec::new(),
            failures: BTreeMap::new(),
            refusals: Vec::new(),
            is_line_open: false,
            begun: now,
            asked: now,
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
        }
    }

    fn ended(id: &str, name: &str) -> Event {
        let result = ToolResult::text("x");
        Event::Result { id: id.to_owned(), name: name.to_owned(), result, error: None, duration_ms: 1 }
    }

    fn waiting(seen: &Seen) -> Option<String> {
        seen.waiting().map(|(what, _)| what)
    }

    #[test]
    fn what_is_waited_for_are_the_open_calls_and_then_the_model() {
        let mut seen = Seen::default();
        assert_eq!(waiting(&seen).as_deref(), Some("the model"));
        for (id, name) in [("1", "a"), ("2", "b"), ("3", "b"), ("4", "c")] {
            seen.note(&started(id, name));
        }
        assert_eq!(waiting(&seen).as_deref(), Some("a, b, b and 1 more"));
        for (id, name) in [("1", "a"), ("2", "b"), ("3", "b")] {
            seen.note(&ended(id, name));
        }
        assert_eq!(waiting(&seen).as_deref(), Some("c"));
        seen.note(&ended("4", "c"));
        assert_eq!(waiting(&seen).as_deref(), Some("the model"));
        seen.is_line_open = true;
        assert_eq!(waiting(&seen), None);
    }

    #[test]
    fn calls_of_one_tool_in_one_turn_are_told_apart() {
        let mut seen = Seen::default();
        for (id, name) in [("1", "b"), ("2", "a"), ("3", "b")] {
            seen.note(&started(id, name));
        }
        let several = ["1", "2", "3"].map(|id| {
            let call = seen.note(&ended(id, "b")).unwrap();
            seen.is_one_of_several(&call)
        });
        assert_eq!(several, [true, false, true]);
        // The next turn begins anew.
        seen.note(&started("4", "b"));
        let call = seen.note(&ended("4", "b")).unwrap();
        assert!(!seen.is_one_of_several(&call));
    }
}
