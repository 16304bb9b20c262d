//! [`EffectLog`]: the effects of the calls of a session, for the person at the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use agent::{Event, Spending, Summary, Usage};
use tools::{IgnorePoison as _, Preview, ToolContext};

use crate::original::Originals;

/// The effects of calls that nobody was asked about, and the amounts that runs used.
#[derive(Debug, Default)]
pub(crate) struct EffectLog(Mutex<EffectState>);

#[derive(Debug, Default)]
struct EffectState {
    /// The calls about which a person was asked, who has seen their previews.
    asked: BTreeSet<CallKey>,
    /// The previews of calls without a result.
    previews: BTreeMap<CallKey, Preview>,
    spent: Spent,
    originals: Originals,
}

/// The amounts that the runs of a chat used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) all: Spending,
    /// The tokens of the session's own requests, as the service counted them.
    pub(crate) usage: Usage,
}

/// The path of the sub-agent that makes a call, or an empty text, and the id of the call in its run.
type CallKey = (String, String);

impl EffectLog {
    /// Notes that a person is asked about the call of this context.
    pub(crate) fn note_question(&self, cx: &ToolContext) {
        self.state().asked.insert(key(cx));
    }

    /// Returns true if a person was asked about the call of this context.
    pub(crate) fn was_asked(&self, cx: &ToolContext) -> bool {
        self.state().asked.contains(&key(cx))
    }

    /// Keeps the preview of a call until its result.
    pub(crate) fn keep(&self, cx: &ToolContext, preview: Preview) {
        self.state().previews.insert(key(cx), preview);
    }

    /// Takes the preview of the call that an event ends.
    pub(crate) fn take(&self, event: &Event) -> Option<Preview> {
        let (agent, event) = match event {
            Event::SubAgent { agent, event, .. } => (agent.as_str(), &**event),
            event => ("", event),
        };
        let Event::Result { id, .. } = event else {
            return None;
        };
        let key = (agent.to_owned(), id.clone());
        let mut state = self.state();
        state.asked.remove(&key);
        state.previews.remove(&key)
    }

    /// Adds the amounts of a run.
    pub(crate) fn add(&self, summary: &Summary) {
        let mut state = self.state();
        let spent = &mut state.spent;
        spent.all = spent.all.saturating_add(summary.spent);
        spent.usage += summary.usage.unwrap_or_default();
    }

    /// Returns the amounts of all runs.
    pub(crate) fn spent(&self) -> Spent {
        self.state().spent
    }

    /// Calls `look` with the contents of files before the session changed them.
    pub(crate) fn with_originals<R>(&self, look: impl FnOnce(&mut Originals) -> R) -> R {
        look(&mut self.state().originals)
    }

    fn state(&self) -> MutexGuard<'_, EffectState> {
        self.0.lock().ignore_poison()
    }
}

fn key(cx: &ToolContext) -> CallKey {
    let part = |part: Option<&str>| part.unwrap_or_default().to_owned();
    (part(cx.agent()), part(cx.call_id()))
}
