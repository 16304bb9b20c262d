//! [`RepeatGuard`]: notices a model that repeats a call without effect.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher};
use std::time::Duration;

use foldhash::quality::RandomState;
use serde::{Deserialize, Serialize};
use tools::protocol::json::{Kind, Node};
use tools::{Content, Json, OutputStore, ToolCall, ToolResult};

/// The time from which on a call counts as a wait.
const WAIT: Duration = Duration::from_secs(10);

/// The numbers of equal calls with equal results after which a run reacts. `None` means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatLimits {
    /// The number from which on the result has a hint.
    pub hint: Option<u32>,
    /// The number that ends the run.
    pub end: Option<u32>,
}

/// A call that ended a run because it was repeated with the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The name of the called tool.
    pub tool: String,
    /// The number of equal calls.
    pub times: u32,
}

/// Counts the equal calls of a run that have equal results.
///
/// - Equal calls of one turn count once, because the model has not seen their results.
/// - Another result starts the count anew.
/// - Another successful call that has an effect starts the count anew, because the world has changed. Only rounds go on to count: turns
///   whose calls were all made before, each with the result that it had the last time. So calls that alternate are noticed too.
/// - A successful call that [waits](Self::is_wait) gets hints but does not end the run. It starts all other counts anew, because time
///   has passed.
#[derive(Debug)]
pub(crate) struct RepeatGuard {
    limits: RepeatLimits,
    /// The last results of the calls, by the hash of the tool's name and the arguments.
    calls: HashMap<u64, LastResult>,
    /// The number of times that all counts of [`LastResult::times`] started anew.
    times_resets: u64,
    /// The number of times that all counts of [`LastResult::rounds`] started anew.
    rounds_resets: u64,
    hasher: RandomState,
    /// The version of the conversation's compaction.
    compaction: u64,
}

#[derive(Debug)]
struct LastResult {
    hash: u64,
    /// The number of turns with this call and result since another call had an effect.
    times: Count,
    /// The number of turns with this call and result since another call was new or had another result than before.
    rounds: Count,
    /// The number of the last turn with this call.
    turn: u64,
}

/// A count that is 0 once all counts of its kind have started anew. A visit of each count would make long runs quadratic.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    number: u32,
    /// The number of resets when it was counted.
    resets: u64,
}

impl Count {
    fn since(self, resets: u64) -> u32 {
        if self.resets == resets {
            self.number
        } else {
            0
        }
    }
}

/// The consequences of a call for the results of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallEffect {
    /// True if the call succeeded and may have changed the world.
    pub(crate) is_write: bool,
    /// True if the call [waited](RepeatGuard::is_wait).
    pub(crate) is_wait: bool,
}

impl Default for RepeatLimits {
    fn default() -> Self {
        Self {
            hint: Some(3),
            end: Some(5),
        }
    }
}

impl RepeatGuard {
    pub(crate) fn new(limits: RepeatLimits) -> Self {
        Self {
            limits,
            calls: HashMap::new(),
            times_resets: 0,
            rounds_resets: 0,
            hasher: RandomState::default(),
            compaction: 0,
        }
    }

    /// Starts all counts anew if requests leave out more than before, because the model has to repeat calls whose results it no longer
    /// sees.
    pub(crate) fn notice_compaction(&mut self, version: u64) {
        if self.compaction != version {
            self.compaction = version;
            self.calls.clear();
        }
    }

    /// Records the result of a call of this turn. Returns the number of turns that made the call with this result.
    pub(crate) fn record(
        &mut self,
        turn: u64,
        call: &ToolCall,
        result: &ToolResult,
        effect: CallEffect,
    ) -> u32 {
        if self.limits.hint.or(self.limits.end).is_none() {
            return 1;
        }
        let hash = self.hash(result);
        let mut hasher = self.hasher.build_hasher();
        call.name.hash(&mut hasher);
        self.hash_value((&call.arguments).into(), &mut hasher);
        let call = hasher.finish();
        // A result that changes is progress, so a tool may be polled.
        let last = self.calls.get(&call).filter(|last| last.hash == hash);
        let counted = last.is_none_or(|last| last.turn != turn);
        let mut times = last.map_or(0, |last| last.times.since(self.times_resets));
        let mut rounds = last.map_or(0, |last| last.rounds.since(self.rounds_resets));
        // Equal calls of one turn were made without a look at each other's results.
        if counted {
            times = times.saturating_add(1);
            rounds = rounds.saturating_add(1);
        }
        // The counts of this call alone go on: the call may have changed what the others read.
        self.times_resets += u64::from(effect.is_write || effect.is_wait);
        self.rounds_resets += u64::from(last.is_none() || effect.is_wait);
        let last = LastResult {
            hash,
            times: Count {
                number: times,
                resets: self.times_resets,
            },
            rounds: Count {
                number: rounds,
                resets: self.rounds_resets,
            },
            turn,
        };
        self.calls.insert(call, last);
        times.max(rounds).max(1)
    }

    /// Returns true if a call with this result took so long that it probably waited for a change, such as the end of a job.
    pub(crate) fn is_wait(result: &ToolResult, time: Duration) -> bool {
        !result.is_error && time >= WAIT
    }

    /// Returns the hint for the result of a call that was repeated so often. Returns `None` if it needs none.
    pub(crate) fn hint(&self, times: u32, is_wait: bool) -> Option<String> {
        self.limits.hint.filter(|hint| times >= *hint)?;
        if is_wait {
            return Some(format!(
                "[this call was made {times} times with the same arguments and the same result]"
            ));
        }
        let end = self.limits.end.filter(|end| times < *end);
        let end = end
            .map(|end| format!(" The run ends when there are {end} such calls."))
            .unwrap_or_default();
        Some(format!(
            "[this call was made {times} times with the same arguments and the same result; repeating it changes nothing, \
             so try something else or answer.{end}]"
        ))
    }

    /// Returns true if a call that was repeated so often ends the run.
    pub(crate) fn is_end(&self, times: u32, is_wait: bool) -> bool {
        !is_wait && self.limits.end.is_some_and(|end| times >= end)
    }

    /// Hashes a value so that equal ones have equal hashes. A canonical text would be written for each call and thrown away.
    fn hash_value(&self, value: Node<'_>, hasher: &mut impl Hasher) {
        let kind = value.kind();
        std::mem::discriminant(&kind).hash(hasher);
        match kind {
            Kind::Null => {}
            Kind::Bool(value) => value.hash(hasher),
            Kind::Unsigned(number) => number.hash(hasher),
            Kind::Negative(number) => number.hash(hasher),
            // Zero equals its negative.
            Kind::Float(number) => (number + 0.0).to_bits().hash(hasher),
            Kind::BigInteger(text) | Kind::String(text) => text.hash(hasher),
            Kind::Array => {
                value.elements().len().hash(hasher);
                value
                    .elements()
                    .for_each(|element| self.hash_value(element, hasher));
            }
            Kind::Object => {
                // The order of members does not count.
                let members = value.members().map(|(key, member)| {
                    let mut hasher = self.hasher.build_hasher();
                    key.hash(&mut hasher);
                    self.hash_value(member, &mut hasher);
                    hasher.finish()
                });
                members.fold(0, u64::wrapping_add).hash(hasher);
            }
        }
    }

    fn hash(&self, result: &ToolResult) -> u64 {
        // Results can be large, so only their hashes are kept.
        let mut hasher = self.hasher.build_hasher();
        result.is_error.hash(&mut hasher);
        for content in &result.content {
            match content.as_text() {
                // Each truncated output has a handle of its own.
                Some(text) => OutputStore::without_handles(text).hash(&mut hasher),
                // Content serializes without errors: its keys are texts.
                None => serde_json::to_string(content)
                    .unwrap_or_default()
                    .hash(&mut hasher),
            }
        }
        // A model reads the structure only if there is no content.
        let structured = result.structured.as_ref();
        let structured = structured.filter(|_| result.content.is_empty());
        structured.map(Json::to_string).hash(&mut hasher);
        hasher.finish()
    }
}

/// Appends a hint to a result. A result without content is structured, and a model reads its text only if there is no content.
pub(crate) fn append(result: &mut ToolResult, hint: String) {
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured) {
        result.content.push(Content::text(structured.to_string()));
    }
    result.content.push(Content::text(hint));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_equal_if_their_arguments_are() {
        let mut guard = RepeatGuard::new(RepeatLimits::default());
        let effect = CallEffect {
            is_write: false,
            is_wait: false,
        };
        let mut record = |turn, arguments: Json| {
            let call = ToolCall::new("1", "look", arguments);
            guard.record(turn, &call, &ToolResult::text("same"), effect)
        };
        let text = |text: &str| Json::parse(text).unwrap();
        let first = json!({"a": {"b": [1, -0.0], "c": "x"}, "d": null});
        assert_eq!(record(1, first.into()), 1);
        // As text, with other orders of members.
        let same = r#"{"d": null, "a": {"c": "x", "b": [1, 0.0]}}"#;
        assert_eq!(record(2, text(same)), 2);
        for other in [
            r#"{"d": null, "a": {"c": "x", "b": [1.0, 0.0]}}"#,
            r#"{"d": null, "a": {"c": "x", "b": [0.0, 1]}}"#,
            r#"{"d": null, "a": {"c": "x"}, "b": [1, 0.0]}"#,
            r#"{"d": "x", "a": {"c": null, "b": [1, 0.0]}}"#,
            r#"{"d": null, "a": {"c": "x", "b": [1], "e": [0.0]}}"#,
        ] {
            assert_eq!(record(3, text(other)), 1, "{other}");
        }
    }
}
