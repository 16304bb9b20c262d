//! [`Tasks`]: the tasks of an agent.

use std::any::Any;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use protocol::ToolResult;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::table::{SESSION, Table};
use super::{Lost, StoredTask, StoredTasks, Task, TaskEntry, TaskInfo, TaskStore, Told};
use crate::call::in_time;
use crate::context::{Services, ToolContext};
use crate::entry::Entry;
use crate::sync::IgnorePoison as _;
use crate::tool_error::ToolError;

/// The longest time for the check of a result.
const CHECK: Duration = Duration::from_secs(30);

/// The end of a task that no other party keeps, in a later process.
const ENDED: &str = "it ended with the process that ran it";

/// The tasks of an agent: a service of `task.list`, `task.result` and `task.cancel`, and of the tools that start tasks.
///
/// A host [offers](Self::offer) it to each session. Each sub-agent has tasks of its own, which end with it: no agent reads or cancels
/// those of another one. Together they run at most eight at a time, and each keeps the newest eight that have ended.
pub struct Tasks {
    table: Arc<Mutex<Table>>,
    /// Changes when a task is added or removed.
    changed: Arc<watch::Sender<()>>,
    agent: u64,
    reach: Reach,
}

/// The calls that can reach a task after the one that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The later calls of its agent.
    Session,
    /// The calls of a client of a server, which knows nothing of tasks.
    Server,
    None,
}

impl Tasks {
    /// Offers tasks to one session.
    pub fn offer(services: &mut Services) {
        services.insert_per_agent(Self::new(Reach::Session), Self::for_sub_agent);
    }

    /// Offers tasks to a call without a session. They end with the process.
    pub fn offer_for_one_call(services: &mut Services) {
        services.insert_per_agent(Self::new(Reach::None), Self::for_sub_agent);
    }

    /// Offers tasks to the calls of a server. Give each session of a client those [of a sub-agent](Services::for_sub_agent). A tool that has a choice [does not](Self::continues_calls)
    /// answer a call with a handle, because the client expects the result.
    pub fn offer_to_clients(services: &mut Services) {
        services.insert_per_agent(Self::new(Reach::Server), Self::for_sub_agent);
    }

    fn new(reach: Reach) -> Self {
        Self {
            table: Arc::default(),
            changed: Arc::default(),
            agent: SESSION,
            reach,
        }
    }

    fn for_sub_agent(&self) -> Self {
        let mut table = self.lock();
        table.agents += 1;
        Self {
            table: self.table.clone(),
            changed: self.changed.clone(),
            agent: table.agents,
            reach: self.reach,
        }
    }

    /// Returns true if no later call can reach the tasks.
    pub fn is_for_one_call(&self) -> bool {
        self.reach == Reach::None
    }

    /// Returns true if a call that takes long may be answered with the handle of a task.
    pub fn continues_calls(&self) -> bool {
        self.reach == Reach::Session
    }

    /// Saves the tasks of the session, now and after each change. Those that other parties keep go on when the session ends.
    pub fn set_store(&self, store: impl TaskStore + 'static) {
        let mut table = self.lock();
        table.store = Some(Arc::new(store));
        table.save();
    }

    /// Adds the tasks of an earlier process. `find` returns a task that another party keeps, and the tool that started it. The tasks
    /// that ended with their process are [`Lost`].
    pub fn restore(
        &self,
        stored: StoredTasks,
        mut find: impl FnMut(&StoredTask) -> (Arc<dyn Task>, Option<Arc<Entry>>),
    ) {
        let entries = stored.tasks.into_iter().map(|stored| {
            let (task, entry) = if stored.is_kept() {
                find(&stored)
            } else {
                let lost = Arc::new(Lost::new(&*stored.title, ENDED));
                (lost as Arc<dyn Task>, None)
            };
            let StoredTask { handle, tool, .. } = stored;
            TaskEntry {
                agent: self.agent,
                handle,
                tool,
                entry,
                task,
                is_reported: false,
                told: Told::Running,
            }
        });
        let entries: Vec<_> = entries.collect();
        let mut table = self.lock();
        // A handle in the conversation must not name another task later.
        table.started = table.started.max(stored.started);
        table.entries.extend(entries);
        drop(table);
        self.changed.send_replace(());
    }

    /// Returns an error if too many tasks run for another one.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) in that case.
    pub fn check_room(&self) -> Result<(), ToolError> {
        self.lock().check_room()
    }

    /// Returns the context for the work of a task of the running call, which has the permissions and the depth of the call. Its calls are
    /// recorded below the call.
    ///
    /// The work is cancelled when the token is. Make it a child of the token of the session, and cancel it in [`Task::cancel`]: dropped
    /// `Tasks` do that with each task. The time limit of the call's tool starts anew for the work.
    pub fn context(&self, cx: &ToolContext, token: CancellationToken) -> ToolContext {
        let mut services = cx.services().clone();
        // The work must not keep the tasks of its agent, whose end is its own.
        services.insert_per_agent(self.for_sub_agent(), Self::for_sub_agent);
        cx.detach(token, &services)
    }

    /// Adds a task of the running call, and returns its handle. The call should answer with the handle in [`ToolResult::task`] or in
    /// its text.
    ///
    /// # Errors
    /// Returns the error of [`check_room`](Self::check_room).
    pub fn insert(&self, cx: &ToolContext, task: Arc<dyn Task>) -> Result<String, ToolError> {
        let mut table = self.lock();
        table.check_room()?;
        table.started += 1;
        let handle = format!("t{}", table.started);
        let entry = cx.call().map(|call| call.entry.clone());
        let tool = entry
            .as_ref()
            .map(|entry| entry.name().to_string())
            .unwrap_or_default();
        let told = Told::from(&task.state());
        table.entries.push(TaskEntry {
            agent: self.agent,
            handle: handle.clone(),
            tool,
            entry,
            task,
            is_reported: false,
            told,
        });
        let forgotten = table.take_oldest_ended(self.agent);
        table.keep_ends(&forgotten);
        table.save();
        drop(table);
        // A dropped task ends its work, which can take a while.
        drop(forgotten);
        self.changed.send_replace(());
        Ok(handle)
    }

    /// Returns the task of this agent with the handle.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) if there is none.
    pub fn find(&self, handle: &str) -> Result<Arc<dyn Task>, ToolError> {
        Ok(self.entry(handle)?.task)
    }

    /// Returns the task of this agent with the handle and of type `T`, which `kind` names.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) if there is none.
    pub fn find_as<T: Task>(&self, handle: &str, kind: &str) -> Result<Arc<T>, ToolError> {
        let own = self.list_as::<T>();
        let found = own
            .iter()
            .find(|(own, _)| own == handle)
            .map(|(_, task)| task.clone());
        found.ok_or_else(|| none(handle, kind, own.iter().map(|(handle, _)| handle.as_str())))
    }

    /// Returns the tasks of this agent, the oldest first.
    pub fn list(&self) -> Vec<TaskInfo> {
        self.entries().iter().map(TaskEntry::info).collect()
    }

    /// Returns the tasks of this agent that are of type `T`, with their handles, the oldest first.
    pub fn list_as<T: Task>(&self) -> Vec<(String, Arc<T>)> {
        let entries = self.entries().into_iter().filter_map(|entry| {
            let task = (entry.task as Arc<dyn Any + Send + Sync>).downcast().ok()?;
            Some((entry.handle, task))
        });
        entries.collect()
    }

    /// Returns the result of a task that has ended. It fits the output schema of the tool that started the task.
    ///
    /// # Errors
    /// - Returns the error of [`find`](Self::find) or of the task.
    /// - Returns [`ToolErrorKind::InvalidOutput`](crate::ToolErrorKind::InvalidOutput) if the result does not fit.
    pub async fn result(&self, cx: &ToolContext, handle: &str) -> Result<ToolResult, ToolError> {
        let TaskEntry { task, entry, .. } = self.entry(handle)?;
        self.set_told(handle);
        let mut result = task.result(cx).await?;
        if let Some(entry) = entry.filter(|entry| !result.is_error && entry.tool().output.is_some())
        {
            let deadline = cx.deadline_within(CHECK);
            in_time(deadline, || entry.check_output(&mut result))?;
        }
        Ok(result)
    }

    /// Forgets a task of this agent. It ends unless somebody still uses it.
    pub fn remove(&self, handle: &str) {
        let mut table = self.lock();
        let removed = table.take(|entry| entry.agent == self.agent && entry.handle == handle);
        table.keep_ends(&removed);
        table.save();
        drop(table);
        drop(removed);
        self.changed.send_replace(());
    }

    /// Records that the model knows the present state of a task, from the answer of a call.
    pub fn set_told(&self, handle: &str) {
        let mut table = self.lock();
        let own = table
            .entries
            .iter_mut()
            .find(|entry| entry.agent == self.agent && entry.handle == handle);
        let is_new = own.is_some_and(|entry| {
            let told = Told::from(&entry.task.state());
            std::mem::replace(&mut entry.told, told) != told
        });
        if is_new {
            table.save();
        }
    }

    /// Takes the tasks of this agent that have ended, or wait for a call, and whose model does not know it. Each state is returned once.
    pub fn take_untold(&self) -> Vec<TaskInfo> {
        let mut table = self.lock();
        let own = table
            .entries
            .iter_mut()
            .filter(|entry| entry.agent == self.agent);
        let untold = own.filter_map(|entry| {
            let info = entry.info();
            let told = Told::from(&info.state);
            (std::mem::replace(&mut entry.told, told) < told).then_some(info)
        });
        let untold: Vec<_> = untold.collect();
        if !untold.is_empty() {
            table.save();
        }
        untold
    }

    /// Waits for the end of a task of this agent, and returns each once, also if the task was removed. A dropped future loses none.
    pub async fn next_ended(&self) -> TaskInfo {
        let mut changed = self.changed.subscribe();
        loop {
            // Before the look at the table, so that a task that is added meanwhile wakes this.
            changed.mark_unchanged();
            if let Some(info) = self.lock().take_end(self.agent) {
                return info;
            }
            let open: Vec<_> = self
                .entries()
                .into_iter()
                .filter(|entry| !entry.is_reported)
                .collect();
            let mut ends: Vec<_> = open
                .iter()
                .map(|entry| (entry, entry.task.wait_end()))
                .collect();
            // The sender is in `self`, so the channel is open.
            let mut change = pin!(changed.changed());
            let next = poll_fn(|cx| {
                let ended = ends
                    .iter_mut()
                    .find_map(|(entry, end)| end.as_mut().poll(cx).is_ready().then_some(*entry));
                match ended {
                    None if change.as_mut().poll(cx).is_pending() => Poll::Pending,
                    ended => Poll::Ready(ended),
                }
            });
            if let Some(entry) = next.await.filter(|entry| self.lock().report(&entry.handle)) {
                return entry.info();
            }
        }
    }

    fn entry(&self, handle: &str) -> Result<TaskEntry, ToolError> {
        let own = self.entries();
        let found = own.iter().find(|entry| entry.handle == handle).cloned();
        found.ok_or_else(|| {
            none(
                handle,
                "task",
                own.iter().map(|entry| entry.handle.as_str()),
            )
        })
    }

    fn entries(&self) -> Vec<TaskEntry> {
        self.lock()
            .entries
            .iter()
            .filter(|entry| entry.agent == self.agent)
            .cloned()
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().ignore_poison()
    }
}

fn none<'a>(handle: &str, kind: &str, handles: impl Iterator<Item = &'a str>) -> ToolError {
    let handles: Vec<_> = handles.collect();
    let choice = if handles.is_empty() {
        "start one first".to_owned()
    } else {
        format!("choose from {}", handles.join(", "))
    };
    ToolError::execution_failed(format!(
        "you have no {kind} {handle:?}, or it has ended with its session; {choice}"
    ))
}

impl Drop for Tasks {
    fn drop(&mut self) {
        let mut table = self.lock();
        let own = table.take(|entry| entry.agent == self.agent);
        table.ends.retain(|(agent, _)| *agent != self.agent);
        let is_kept: Vec<_> = own.iter().map(|entry| table.is_kept(entry)).collect();
        drop(table);
        for (entry, is_kept) in own.into_iter().zip(is_kept) {
            if !is_kept {
                entry.task.cancel();
            }
        }
    }
}

crate::debug_fields!(self: Tasks { handles = self.entries().len() });
