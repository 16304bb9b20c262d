//! A session with tasks that end when a test says so.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::watch;
use tools::tasks::{TaskFuture, TaskState};
use tools::{Host, Json, Services, Task, Tasks, ToolContext, ToolError, ToolResult};

/// Work that ends when the test says so, or when it is cancelled or dropped.
pub(super) struct Work {
    pub(super) title: String,
    pub(super) state: watch::Sender<TaskState>,
    result: Mutex<ToolResult>,
    cancelled: Arc<Mutex<Vec<String>>>,
    is_stored: bool,
}

impl Work {
    pub(super) fn end(&self, result: ToolResult) {
        *self.result.lock().unwrap() = result;
        self.state.send_replace(TaskState::Ended("done".to_owned()));
    }
}

impl Task for Work {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn state(&self) -> TaskState {
        self.state.borrow().clone()
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        Box::pin(async {
            drop(
                self.state
                    .subscribe()
                    .wait_for(TaskState::has_ended)
                    .await
                    .unwrap(),
            )
        })
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(self.result.lock().unwrap().clone()) })
    }

    fn cancel(&self) {
        self.cancelled.lock().unwrap().push(self.title.clone());
    }

    fn to_stored(&self) -> Option<Json> {
        self.is_stored.then(|| json!({"work": self.title}).into())
    }
}

/// Another kind of task, which has ended.
pub(super) struct Other;

impl Task for Other {
    fn title(&self) -> String {
        "other".to_owned()
    }

    fn state(&self) -> TaskState {
        TaskState::Ended("over".to_owned())
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolResult::text("other"))))
    }

    fn cancel(&self) {}
}

/// A session, and the titles of the tasks that were told to end.
pub(super) struct Session {
    pub(super) cx: Host,
    pub(super) cancelled: Arc<Mutex<Vec<String>>>,
}

impl Session {
    pub(super) fn new() -> Self {
        let mut services = Services::new();
        Tasks::offer(&mut services);
        Self {
            cx: Host::new().with_services(services),
            cancelled: Arc::default(),
        }
    }

    pub(super) fn tasks(&self) -> Arc<Tasks> {
        self.cx.service::<Tasks>().unwrap()
    }

    pub(super) fn sub_agent(&self) -> Self {
        let services = self.cx.services().for_sub_agent();
        Self {
            cx: self.cx.clone().with_services(services),
            cancelled: self.cancelled.clone(),
        }
    }

    pub(super) fn work(&self, title: &str) -> Arc<Work> {
        self.work_kept(title, false)
    }

    pub(super) fn work_kept(&self, title: &str, is_stored: bool) -> Arc<Work> {
        let state = watch::Sender::new(TaskState::Running("runs".to_owned()));
        let cancelled = self.cancelled.clone();
        Arc::new(Work {
            title: title.to_owned(),
            state,
            result: Mutex::default(),
            cancelled,
            is_stored,
        })
    }

    pub(super) fn start(&self, title: &str) -> (String, Arc<Work>) {
        let work = self.work(title);
        (self.tasks().insert(&self.cx, work.clone()).unwrap(), work)
    }

    pub(super) fn cancelled(&self) -> Vec<String> {
        self.cancelled.lock().unwrap().clone()
    }

    pub(super) fn handles(&self) -> Vec<String> {
        self.tasks()
            .list()
            .into_iter()
            .map(|info| info.handle)
            .collect()
    }
}
