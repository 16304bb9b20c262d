//! [`Programs`]: the background programs of a session.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tools::{Services, ToolError};

use super::program::Program;

/// The most programs that run at once in a session.
const MOST_RUNNING: usize = 8;

/// The most programs of an agent that are kept after their end, so that their output can be read.
const MOST_ENDED: usize = 8;

/// The background programs of one agent: the service of `exec.start` and its companions.
///
/// A host [offers](Self::offer) it to each session. The programs end with the session, with all their descendants, also if the process
/// of the host is killed. Each sub-agent has programs of its own, which end with it: no agent reads or writes those of another one.
/// Together they run at most eight at a time.
pub struct Programs {
    table: Arc<Mutex<Table>>,
    agent: u64,
    is_for_one_call: bool,
}

/// The programs of a session with its sub-agents.
#[derive(Default)]
struct Table {
    agents: u64,
    started: u64,
    entries: Vec<Entry>,
}

struct Entry {
    agent: u64,
    handle: String,
    program: Arc<Program>,
}

impl Programs {
    /// Offers background programs to one session.
    pub fn offer(services: &mut Services) {
        services.insert_per_agent(Self::new(false), Self::for_sub_agent);
    }

    /// Offers background programs to a call without a session. They end with the process, and their results say so.
    pub fn offer_for_one_call(services: &mut Services) {
        services.insert_per_agent(Self::new(true), Self::for_sub_agent);
    }

    fn new(is_for_one_call: bool) -> Self {
        Self { table: Arc::default(), agent: 0, is_for_one_call }
    }

    fn for_sub_agent(&self) -> Self {
        let mut table = self.lock();
        table.agents += 1;
        Self { table: self.table.clone(), agent: table.agents, is_for_one_call: self.is_for_one_call }
    }

    /// Returns true if no later call can reach the programs.
    pub(super) fn is_for_one_call(&self) -> bool {
        self.is_for_one_call
    }

    /// Refuses another program if too many run.
    pub(super) fn check_room(&self) -> Result<(), ToolError> {
        self.lock().check_room()
    }

    /// Adds a program and returns its handle.
    pub(super) fn insert(&self, program: Arc<Program>) -> Result<String, ToolError> {
        let mut table = self.lock();
        table.check_room()?;
        table.started += 1;
        let handle = format!("p{}", table.started);
        table.entries.push(Entry { agent: self.agent, handle: handle.clone(), program });
        let forgotten = table.take_oldest_ended(self.agent);
        drop(table);
        drop(forgotten);
        Ok(handle)
    }

    /// Returns the program of this agent with the handle.
    pub(super) fn find(&self, handle: &str) -> Result<Arc<Program>, ToolError> {
        let own = self.list();
        let found = own.iter().find(|(own, _)| own == handle).map(|(_, program)| program.clone());
        found.ok_or_else(|| {
            let handles: Vec<_> = own.iter().map(|(handle, _)| handle.as_str()).collect();
            let choice = match handles.is_empty() {
                true => "start one first".to_owned(),
                false => format!("choose from {}", handles.join(", ")),
            };
            ToolError::execution_failed(format!(
                "you have no program {handle:?}, or it has ended with its session; {choice}"
            ))
        })
    }

    /// Forgets a program of this agent.
    pub(super) fn remove(&self, handle: &str) {
        let removed = self.lock().take(|entry| entry.agent == self.agent && entry.handle == handle);
        drop(removed);
    }

    /// Returns the programs of this agent with their handles, the oldest first.
    pub(super) fn list(&self) -> Vec<(String, Arc<Program>)> {
        let table = self.lock();
        let own = table.entries.iter().filter(|entry| entry.agent == self.agent);
        own.map(|entry| (entry.handle.clone(), entry.program.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let own = self.lock().take(|entry| entry.agent == self.agent);
        drop(own);
    }
}

impl Table {
    fn check_room(&self) -> Result<(), ToolError> {
        let running = self.entries.iter().filter(|entry| entry.program.is_running()).count();
        if running < MOST_RUNNING {
            return Ok(());
        }
        Err(ToolError::execution_failed(format!(
            "{MOST_RUNNING} background programs run already, the most in a session; stop one first"
        )))
    }

    /// Removes entries. Drop them outside of the lock, because that removes their temporary files.
    fn take(&mut self, mut is_taken: impl FnMut(&Entry) -> bool) -> Vec<Entry> {
        let (taken, kept) = std::mem::take(&mut self.entries).into_iter().partition(|entry| is_taken(entry));
        self.entries = kept;
        taken
    }

    /// Removes the oldest programs of an agent that have ended, if it has too many. Those of other agents stay, because it cannot see
    /// them.
    fn take_oldest_ended(&mut self, agent: u64) -> Vec<Entry> {
        let has_ended = |entry: &Entry| entry.agent == agent && !entry.program.is_running();
        let ended = self.entries.iter().filter(|entry| has_ended(entry)).count();
        let mut excess = ended.saturating_sub(MOST_ENDED);
        self.take(|entry| {
            let is_taken = excess > 0 && has_ended(entry);
            excess -= usize::from(is_taken);
            is_taken
        })
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Programs").field("handles", &self.list().len()).finish_non_exhaustive()
    }
}
