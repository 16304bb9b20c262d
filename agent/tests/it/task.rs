//! Work that goes on after the call that started it.

use std::sync::Arc;
use std::time::Duration;

use agent::{Selection, Session};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::tasks::{TaskFuture, TaskState};
use tools::{Catalog, Effects, ErrorCode, Grant, Services, Task, Tasks, Tool, ToolContext, ToolError, ToolResult};

use crate::workshop::tool;

/// Work that ends when the test says so.
pub(crate) struct Work {
    state: watch::Sender<TaskState>,
}

impl Work {
    pub(crate) fn end(&self, state: &str) {
        self.state.send_replace(TaskState::Ended(state.to_owned()));
    }

    pub(crate) fn ask(&self) {
        self.state.send_replace(TaskState::Waiting("has a question".to_owned()));
    }
}

impl Task for Work {
    fn title(&self) -> String {
        "long work".to_owned()
    }

    fn state(&self) -> TaskState {
        self.state.borrow().clone()
    }

    fn ended(&self) -> TaskFuture<'_, ()> {
        Box::pin(async { drop(self.state.subscribe().wait_for(TaskState::has_ended).await.unwrap()) })
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        let state = self.state().to_string();
        let failed = |state| Err(ToolError::execution_failed(state));
        Box::pin(async move { if state == "done" { Ok(ToolResult::text("the answer")) } else { failed(state) } })
    }

    fn cancel(&self) {
        // Work of another party may go on.
        if !matches!(self.state(), TaskState::Waiting(_)) {
            self.end("cancelled");
        }
    }
}

/// A session with the tool `work`, each call of which starts a task, and these tasks in order.
pub(crate) fn working() -> (Session, watch::Receiver<Vec<Arc<Work>>>) {
    let (started, works) = watch::channel(Vec::new());
    let started = Arc::new(started);
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let work = move |cx: ToolContext, _: Value| {
        let started = started.clone();
        async move {
            let work = Arc::new(Work { state: watch::Sender::new(TaskState::Running("runs".to_owned())) });
            let handle = cx.need::<Tasks>()?.insert(&cx, work.clone())?;
            started.send_modify(|works| works.push(work));
            Ok::<_, ToolError>(ToolResult::text(format!("it goes on as {handle}")).with_task(handle))
        }
    };
    let work_tool: Tool = tool("work").with_effects(Effects::Pure);
    catalog.register(work_tool, work).unwrap();
    let mut services = Services::new();
    Tasks::offer(&mut services);
    let grant = Grant::parse(["task:*:**", "agent:write:**"]).unwrap();
    let cx = ToolContext::new().with_services(services).with_grant(grant);
    (Session::new(catalog.list(), Selection::new(), cx), works)
}

async fn call(session: &Session, tool: &str, arguments: Value) -> String {
    let result = session.execute(tool, arguments).await.unwrap();
    assert!(!result.is_error, "{result:?}");
    result.to_text()
}

#[tokio::test]
async fn a_result_is_read_again_and_again_once_the_task_has_ended() {
    let (session, works) = working();
    assert_eq!(call(&session, "task.list", json!({})).await, "[no tasks]");
    call(&session, "work", json!({})).await;
    assert_eq!(call(&session, "task.list", json!({})).await, "t1: runs: work: long work");
    assert_eq!(call(&session, "task.result", json!({"task": "t1"})).await, "[t1: runs]");
    works.borrow()[0].end("done");
    for _ in 0..2 {
        assert_eq!(call(&session, "task.result", json!({"task": "t1"})).await, "[t1: done]\nthe answer");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_is_waited_for_up_to_the_given_time() {
    let (session, works) = working();
    call(&session, "work", json!({})).await;
    assert_eq!(call(&session, "task.result", json!({"task": "t1", "wait": 250})).await, "[t1: runs]");
    let works = works.borrow().clone();
    let end = async {
        tokio::time::sleep(Duration::from_secs(200)).await;
        works[0].end("done");
    };
    let (text, ()) = tokio::join!(call(&session, "task.result", json!({"task": "t1", "wait": 250})), end);
    assert_eq!(text, "[t1: done]\nthe answer");
    let error = session.execute("task.result", json!({"task": "t1", "wait": 301})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn a_failed_task_is_an_error_with_its_reason() {
    let (session, works) = working();
    call(&session, "work", json!({})).await;
    works.borrow()[0].end("it broke");
    let error = session.execute("task.result", json!({"task": "t1"})).await.unwrap_err();
    assert!(error.to_string().contains("it broke"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_ends_and_its_handle_is_gone() {
    let (session, works) = working();
    for _ in 0..3 {
        call(&session, "work", json!({})).await;
    }
    assert_eq!(call(&session, "task.cancel", json!({"task": "t1"})).await, "[t1: cancelled]");
    // Another party may take its time.
    works.borrow()[1].ask();
    assert_eq!(call(&session, "task.cancel", json!({"task": "t2"})).await, "[t2: has a question]");
    let error = session.execute("task.result", json!({"task": "t1"})).await.unwrap_err();
    assert!(error.to_string().ends_with("choose from t3"), "{error}");
}

#[tokio::test]
async fn the_tools_need_a_grant_and_the_service() {
    let (session, _) = working();
    let mut other = session.clone();
    other.set_grant(Grant::parse(["task:read:**"]).unwrap());
    call(&other, "work", json!({})).await;
    call(&other, "task.result", json!({"task": "t1"})).await;
    let error = other.execute("task.cancel", json!({"task": "t1"})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let without = Session::new(catalog.list(), Selection::new(), ToolContext::new());
    assert!(!without.tools().list().iter().any(|entry| entry.name().as_str().starts_with("task.")));
}
