//! [`Table`]: the tasks of a session with its sub-agents.

use std::sync::Arc;

use super::{StoredTasks, TaskEntry, TaskInfo, TaskStore};
use crate::tool_error::ToolError;

/// The most tasks that run at once in a session.
const MAX_RUNNING: usize = 8;

/// The most tasks of an agent that are kept after their end, so that their results can be read.
const MAX_ENDED: usize = 8;

/// The agent of the session, which no sub-agent is.
pub(super) const SESSION: u64 = 0;

/// The tasks of a session with its sub-agents.
#[derive(Default)]
pub(super) struct Table {
    pub(super) agents: u64,
    pub(super) started: u64,
    pub(super) entries: Vec<TaskEntry>,
    /// The ends of removed tasks that are not reported, with the agents of the tasks.
    pub(super) ends: Vec<(u64, TaskInfo)>,
    pub(super) store: Option<Arc<dyn TaskStore>>,
}

impl Table {
    pub(super) fn check_room(&self) -> Result<(), ToolError> {
        let running = self
            .entries
            .iter()
            .filter(|entry| !entry.task.state().has_ended())
            .count();
        if running < MAX_RUNNING {
            return Ok(());
        }
        Err(ToolError::execution_failed(format!(
            "{MAX_RUNNING} tasks run already, the most in a session; stop one first, or wait for its end"
        )))
    }

    /// Removes entries. Drop them outside of the lock, because that can take a while.
    pub(super) fn take(&mut self, mut is_taken: impl FnMut(&TaskEntry) -> bool) -> Vec<TaskEntry> {
        let (taken, kept) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| is_taken(entry));
        self.entries = kept;
        taken
    }

    /// Keeps the ends of removed tasks until they are reported.
    pub(super) fn keep_ends(&mut self, removed: &[TaskEntry]) {
        let open = removed
            .iter()
            .filter(|entry| !entry.is_reported)
            .map(|entry| (entry.agent, entry.info()));
        self.ends
            .extend(open.filter(|(_, info)| info.state.has_ended()));
    }

    /// Marks the end of a task as reported. Returns false if it was reported before, or the task was removed before it ended.
    pub(super) fn report(&mut self, handle: &str) -> bool {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.handle == handle) {
            return !std::mem::replace(&mut entry.is_reported, true);
        }
        let removed = self.ends.iter().position(|(_, info)| info.handle == handle);
        removed.map(|position| self.ends.remove(position)).is_some()
    }

    /// Takes the oldest end of a removed task of an agent.
    pub(super) fn take_end(&mut self, agent: u64) -> Option<TaskInfo> {
        let position = self.ends.iter().position(|(of, _)| *of == agent)?;
        Some(self.ends.remove(position).1)
    }

    /// Removes the oldest tasks of an agent that have ended, if it has too many. Those of other agents stay, because it cannot see them.
    pub(super) fn take_oldest_ended(&mut self, agent: u64) -> Vec<TaskEntry> {
        let has_ended = |entry: &TaskEntry| entry.agent == agent && entry.task.state().has_ended();
        let ended = self.entries.iter().filter(|entry| has_ended(entry)).count();
        let mut excess = ended.saturating_sub(MAX_ENDED);
        self.take(|entry| {
            let is_taken = excess > 0 && has_ended(entry);
            excess -= usize::from(is_taken);
            is_taken
        })
    }

    /// Saves the tasks of the session. Those of a sub-agent end with it.
    pub(super) fn save(&self) {
        let Some(store) = &self.store else { return };
        let own = self.entries.iter().filter(|entry| entry.agent == SESSION);
        store.save(&StoredTasks {
            started: self.started,
            tasks: own.filter_map(TaskEntry::to_stored).collect(),
        });
    }

    /// Returns true if a later process can find the task again.
    pub(super) fn is_kept(&self, entry: &TaskEntry) -> bool {
        self.store.is_some() && entry.agent == SESSION && entry.task.to_stored().is_some()
    }
}
