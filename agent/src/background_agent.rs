//! [`BackgroundAgent`]: a sub-agent that goes on beside the calls of its agent.

use std::future::Future;

use tokio::sync::watch;
use tools::call::{Isolated, Panic};
use tools::tasks::{TaskFuture, TaskState};
use tools::{CancellationToken, Task, ToolContext, ToolError, ToolResult, counted};

use crate::budget::Budget;

/// The characters of a task in a title.
const TITLE_CHARS: usize = 80;

/// A sub-agent that goes on beside the calls of its agent. A drop ends it.
pub(crate) struct BackgroundAgent {
    title: String,
    token: CancellationToken,
    /// The amounts that it and its own sub-agents use.
    budget: Budget,
    end: watch::Receiver<Option<ToolResult>>,
}

/// Keeps the result of a [`BackgroundAgent`].
pub(crate) struct AgentEnd {
    name: String,
    token: CancellationToken,
    end: watch::Sender<Option<ToolResult>>,
}

impl BackgroundAgent {
    /// Creates a sub-agent whose work the token cancels.
    pub(crate) fn new(
        name: &str,
        task: &str,
        token: CancellationToken,
        budget: Budget,
    ) -> (Self, AgentEnd) {
        let (end, ended) = watch::channel(None);
        let end = AgentEnd {
            name: name.to_owned(),
            token: token.clone(),
            end,
        };
        let line = task.lines().next().unwrap_or_default();
        let line: String = line.chars().take(TITLE_CHARS).collect();
        let has_more = line.len() < task.trim_end().len();
        let agent = Self {
            title: format!("{name}: {line}{}", if has_more { "…" } else { "" }),
            token,
            budget,
            end: ended,
        };
        (agent, end)
    }

    fn describe_use(&self) -> String {
        let spent = self.budget.spent();
        format!(
            "{}, {}",
            counted(spent.steps, "step"),
            counted(spent.calls, "call")
        )
    }
}

impl AgentEnd {
    /// Runs the work to its end, and keeps its result.
    pub(crate) async fn after<F: Future<Output = ToolResult> + Send>(self, work: F) {
        let Self { name, token, end } = self;
        // Ends whatever the last call has left, also if the runtime drops this.
        let stop = token.drop_guard();
        let result = Isolated::new(|| Box::pin(work)).await;
        drop(stop);
        let panicked =
            |Panic(message)| ToolResult::error(format!("the sub-agent {name} panicked: {message}"));
        end.send_replace(Some(result.unwrap_or_else(panicked)));
    }
}

impl Task for BackgroundAgent {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn state(&self) -> TaskState {
        let used = self.describe_use();
        match &*self.end.borrow() {
            Some(result) if result.is_error => TaskState::Ended(format!("failed: {used}")),
            Some(_) => TaskState::Ended(format!("answered: {used}")),
            // The runtime dropped the work, so that no result will come.
            None if self.end.has_changed().is_err() => TaskState::Ended(format!("dropped: {used}")),
            None => TaskState::Running(format!("runs: {used}")),
        }
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        // Without a sender it has ended too.
        Box::pin(async { drop(self.end.clone().wait_for(Option::is_some).await) })
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        let result = self.end.borrow().clone();
        let dropped =
            || ToolError::execution_failed("the runtime dropped the sub-agent; start it again");
        Box::pin(std::future::ready(result.ok_or_else(dropped)))
    }

    fn cancel(&self) {
        self.token.cancel();
    }
}

impl Drop for BackgroundAgent {
    fn drop(&mut self) {
        self.token.cancel();
    }
}
