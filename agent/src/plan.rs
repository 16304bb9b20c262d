//! [`Plan`]: the steps that a session intends to take.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tools::protocol::{Message, Part};
use tools::{IgnorePoison as _, JsonSchema, join};

use crate::inner_call;

/// The name of the tool that writes the plan.
const PLAN_WRITER: &str = "todo.write";

/// The maximum number of items of a plan.
pub(crate) const MAX_PLAN_ITEMS: usize = 50;

/// The maximum number of characters of an item.
pub(crate) const MAX_ITEM_CHARS: usize = 300;

/// The plan of a session, which the tools `todo.write` and `todo.read` share. Every [`Session`](crate::Session) has one.
///
/// A session that continues an earlier conversation has the plan of the last successful `todo.write` in it.
#[derive(Debug, Default)]
pub struct Plan(Mutex<Vec<PlanItem>>);

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars", inline)]
pub struct PlanItem {
    /// The step, in a few words.
    #[schemars(length(min = 1, max = MAX_ITEM_CHARS))]
    pub text: String,
    /// The status of the step.
    #[serde(default)]
    pub status: PlanStatus,
}

/// The status of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "tools::schemars", inline)]
pub enum PlanStatus {
    /// The step has not begun.
    #[default]
    Open,
    /// The step is being done.
    Active,
    /// The step is done.
    Done,
}

impl Plan {
    /// Creates an empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the items, in order.
    pub fn items(&self) -> Vec<PlanItem> {
        self.lock().clone()
    }

    /// Replaces the items. Returns true if they differ from the former ones.
    pub fn set(&self, items: Vec<PlanItem>) -> bool {
        let mut held = self.lock();
        let is_changed = *held != items;
        *held = items;
        is_changed
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PlanItem>> {
        self.0.lock().ignore_poison()
    }
}

/// Writes a line for each item, such as `[done] Find it`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self
            .items()
            .into_iter()
            .map(|PlanItem { text, status }| format!("[{}] {text}", status.word()));
        f.write_str(&join(lines, "\n"))
    }
}

impl PlanStatus {
    /// Returns the word for the model.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Active => "active",
            Self::Done => "done",
        }
    }
}

/// Returns the plan of a conversation: the items of its last `todo.write` that did not fail. A call without a result counts, because
/// the journal may replay its result without running it.
pub(crate) fn plan_of(messages: &[Message]) -> Vec<PlanItem> {
    #[derive(Deserialize)]
    struct Written {
        items: Vec<PlanItem>,
    }
    let parts = || messages.iter().flat_map(|message| &message.parts);
    let failed: HashSet<&str> = parts()
        .filter_map(|part| match part {
            Part::ToolResult { id, result, .. } if result.is_error => Some(id.as_str()),
            _ => None,
        })
        .collect();
    let calls = messages
        .iter()
        .rev()
        .flat_map(|message| message.calls().collect::<Vec<_>>().into_iter().rev());
    let written = calls
        .filter(|call| inner_call::name(call) == PLAN_WRITER && !failed.contains(call.id.as_str()));
    let written = written.map(|call| inner_call::inner(call).unwrap_or_else(|| call.clone()));
    let items = written.filter_map(|call| call.arguments.deserialize::<Written>().ok());
    items
        .map(|Written { items }| items)
        .next()
        .unwrap_or_default()
}
