//! Work that goes on after the call that started it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tools::protocol::Limits;
use tools::tasks::{StoredTasks, TaskFuture, TaskState};
use tools::{
    CancellationToken, Catalog, Effects, ErrorCode, Grant, Json, Progress, ProgressSink, Services, Task, Tasks, Tool,
    ToolContext, ToolError, ToolResult,
};

/// Work that ends when the test says so, or when it is cancelled or dropped.
struct Work {
    title: String,
    state: watch::Sender<TaskState>,
    result: Mutex<ToolResult>,
    cancelled: Arc<Mutex<Vec<String>>>,
    is_stored: bool,
}

impl Work {
    fn end(&self, result: ToolResult) {
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

    fn ended(&self) -> TaskFuture<'_, ()> {
        Box::pin(async { drop(self.state.subscribe().wait_for(TaskState::has_ended).await.unwrap()) })
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(self.result.lock().unwrap().clone()) })
    }

    fn cancel(&self) {
        self.cancelled.lock().unwrap().push(self.title.clone());
    }

    fn stored(&self) -> Option<Json> {
        self.is_stored.then(|| json!({"work": self.title}).into())
    }
}

/// Another kind of task, which has ended.
struct Other;

impl Task for Other {
    fn title(&self) -> String {
        "other".to_owned()
    }

    fn state(&self) -> TaskState {
        TaskState::Ended("over".to_owned())
    }

    fn ended(&self) -> TaskFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolResult::text("other"))))
    }

    fn cancel(&self) {}
}

/// A session, and the titles of the tasks that were told to end.
struct Session {
    cx: ToolContext,
    cancelled: Arc<Mutex<Vec<String>>>,
}

impl Session {
    fn new() -> Self {
        let mut services = Services::new();
        Tasks::offer(&mut services);
        Self { cx: ToolContext::new().with_services(services), cancelled: Arc::default() }
    }

    fn tasks(&self) -> Arc<Tasks> {
        self.cx.service::<Tasks>().unwrap()
    }

    fn sub_agent(&self) -> Self {
        let services = self.cx.services().for_sub_agent();
        Self { cx: self.cx.clone().with_services(services), cancelled: self.cancelled.clone() }
    }

    fn work(&self, title: &str) -> Arc<Work> {
        self.work_kept(title, false)
    }

    fn work_kept(&self, title: &str, is_stored: bool) -> Arc<Work> {
        let state = watch::Sender::new(TaskState::Running("runs".to_owned()));
        let cancelled = self.cancelled.clone();
        Arc::new(Work { title: title.to_owned(), state, result: Mutex::default(), cancelled, is_stored })
    }

    fn start(&self, title: &str) -> (String, Arc<Work>) {
        let work = self.work(title);
        (self.tasks().insert(&self.cx, work.clone()).unwrap(), work)
    }

    fn cancelled(&self) -> Vec<String> {
        self.cancelled.lock().unwrap().clone()
    }

    fn handles(&self) -> Vec<String> {
        self.tasks().list().into_iter().map(|info| info.handle).collect()
    }
}

#[test]
fn agents_reach_their_own_tasks_alone() {
    let session = Session::new();
    let child = session.sub_agent();
    let handles = [session.start("a").0, child.start("b").0, session.start("c").0];
    assert_eq!(handles, ["t1", "t2", "t3"]);
    assert_eq!((session.handles(), child.handles()), (vec!["t1".into(), "t3".into()], vec!["t2".into()]));
    let Err(error) = session.tasks().find("t2") else { panic!() };
    assert!(error.to_string().ends_with("choose from t1, t3"), "{error}");
    child.tasks().remove("t1");
    child.tasks().set_told("t1");
    assert_eq!(session.handles(), ["t1", "t3"]);
}

#[test]
fn a_task_is_found_by_its_kind() {
    let session = Session::new();
    let tasks = session.tasks();
    session.start("a");
    tasks.insert(&session.cx, Arc::new(Other)).unwrap();
    assert_eq!(tasks.find_as::<Work>("t1", "work").unwrap().title, "a");
    let Err(error) = tasks.find_as::<Work>("t2", "work") else { panic!() };
    assert!(error.to_string().contains("no work \"t2\"") && error.to_string().ends_with("choose from t1"), "{error}");
    assert_eq!(tasks.list_as::<Other>().len(), 1);
}

#[test]
fn at_most_eight_run_at_once_in_a_session_with_its_sub_agents() {
    let session = Session::new();
    let child = session.sub_agent();
    let works: Vec<_> = (0..8).map(|n| if n % 2 == 0 { session.start("a") } else { child.start("b") }).collect();
    for agent in [&session, &child] {
        let refused = agent.tasks().insert(&agent.cx, agent.work("c")).unwrap_err();
        assert!(refused.to_string().contains("8 tasks run already"), "{refused}");
    }
    works[0].1.end(ToolResult::text("x"));
    child.start("c");
}

#[test]
fn the_oldest_ended_tasks_of_an_agent_are_forgotten() {
    let session = Session::new();
    let child = session.sub_agent();
    let (_, running) = session.start("running");
    child.start("of the child").1.end(ToolResult::default());
    for _ in 0..10 {
        session.start("short").1.end(ToolResult::default());
    }
    session.start("last");
    assert_eq!(session.handles(), ["t1", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13"]);
    assert_eq!(child.handles(), ["t2"]);
    assert!(!running.state().has_ended());
}

#[test]
fn tasks_end_with_their_agent_unless_another_party_keeps_them_for_the_session() {
    let session = Session::new();
    let saved = Arc::new(Mutex::new(StoredTasks::default()));
    let child = session.sub_agent();
    for (agent, name) in [(&session, "session"), (&child, "child")] {
        for is_stored in [true, false] {
            let work = agent.work_kept(&format!("{name} {is_stored}"), is_stored);
            agent.tasks().insert(&agent.cx, work).unwrap();
        }
    }
    let store = saved.clone();
    session.tasks().set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    drop(child.cx);
    assert_eq!(session.cancelled(), ["child true", "child false"]);
    let cancelled = session.cancelled.clone();
    drop(session.cx);
    assert_eq!(*cancelled.lock().unwrap(), ["child true", "child false", "session false"]);
    let saved = saved.lock().unwrap();
    let titles: Vec<_> = saved.tasks.iter().map(|task| (&*task.title, task.is_kept())).collect();
    assert_eq!((titles, saved.started), (vec![("session true", true), ("session false", false)], 4));
}

#[test]
fn without_a_store_all_tasks_end_with_the_session() {
    let session = Session::new();
    session.tasks().insert(&session.cx, session.work_kept("kept", true)).unwrap();
    drop(session.cx);
    assert_eq!(*session.cancelled.lock().unwrap(), ["kept"]);
}

#[test]
fn restored_tasks_keep_their_handles() {
    let stored: StoredTasks = serde_json::from_value(json!({
        "started": 7, "tasks": [{"handle": "t3", "tool": "a.b", "title": "first", "data": {"work": 1}}]
    }))
    .unwrap();
    let session = Session::new();
    let saved = Arc::new(Mutex::new(Vec::new()));
    session.tasks().restore(stored, |stored| {
        assert_eq!(stored.data.value(), &json!({"work": 1}));
        (session.work_kept(&stored.title, true), None)
    });
    let store = saved.clone();
    session.tasks().set_store(move |tasks: &StoredTasks| store.lock().unwrap().push(tasks.clone()));
    assert_eq!(session.start("next").0, "t8");
    let info = &session.tasks().list()[0];
    assert_eq!((&*info.handle, &*info.tool, &*info.title), ("t3", "a.b", "first"));
    session.tasks().remove("t3");
    let counts: Vec<_> = saved.lock().unwrap().iter().map(|saved| (saved.started, saved.tasks.len())).collect();
    assert_eq!(counts, [(7, 1), (8, 2), (8, 1)]);
}

#[tokio::test]
async fn each_end_is_reported_once_whenever_the_task_was_added() {
    let session = Session::new();
    let tasks = session.tasks();
    let (_, first) = session.start("first");
    let next = tokio::spawn({
        let tasks = tasks.clone();
        async move { [tasks.next_ended().await, tasks.next_ended().await].map(|info| info.handle) }
    });
    tokio::task::yield_now().await;
    let (_, second) = session.start("second");
    tokio::task::yield_now().await;
    second.end(ToolResult::default());
    tokio::task::yield_now().await;
    first.end(ToolResult::default());
    assert_eq!(next.await.unwrap(), ["t2", "t1"]);
    // A future that is dropped takes nothing.
    let (_, third) = session.start("third");
    assert!(tokio::time::timeout(std::time::Duration::ZERO, tasks.next_ended()).await.is_err());
    third.end(ToolResult::default());
    assert_eq!(tasks.next_ended().await.handle, "t3");
}

#[tokio::test]
async fn a_state_is_told_once_unless_a_call_has_told_it() {
    let session = Session::new();
    let tasks = session.tasks();
    let untold = || tasks.take_untold().into_iter().map(|info| format!("{} {}", info.handle, info.state));
    let (_, first) = session.start("first");
    let (read, second) = session.start("second");
    assert_eq!(untold().count(), 0);
    first.state.send_replace(TaskState::Waiting("asks".to_owned()));
    assert_eq!(untold().collect::<Vec<_>>(), ["t1 asks"]);
    first.state.send_replace(TaskState::Running("runs".to_owned()));
    assert_eq!(untold().count(), 0);
    first.end(ToolResult::default());
    second.end(ToolResult::default());
    tasks.result(&session.cx, &read).await.unwrap();
    assert_eq!(untold().collect::<Vec<_>>(), ["t1 done"]);
    assert_eq!(untold().count(), 0);
}

/// A catalog with a tool whose schema requires a number, and whose calls go on as tasks.
fn slow(work: Arc<Work>) -> Catalog {
    let mut catalog = Catalog::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let tool = Tool::new("slow", "Takes long.", json!({"type": "object"})).unwrap().with_output(schema);
    let run = move |cx: ToolContext, arguments: Value| {
        let work = work.clone();
        async move {
            let handle = cx.need::<Tasks>()?.insert(&cx, work)?;
            let mut result = ToolResult::text(format!("it goes on as {handle}")).with_task(handle);
            result.structured = arguments.get("structured").cloned().map(Json::from);
            Ok::<_, ToolError>(result)
        }
    };
    catalog.register(tool.with_effects(Effects::Pure), run).unwrap();
    catalog
}

#[tokio::test]
async fn a_handle_need_not_fit_the_output_schema_but_the_result_of_the_task_does() {
    let session = Session::new();
    let work = session.work("slow");
    let catalog = slow(work.clone());
    let result = catalog.execute(&session.cx, "slow", json!({})).await.unwrap();
    assert_eq!(result.task.as_deref(), Some("t1"));
    let error = catalog.execute(&session.cx, "slow", json!({"structured": {"n": "x"}})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidOutput);
    let tasks = session.tasks();
    for (structured, fits) in [(Some(json!({"n": 1})), true), (Some(json!({"n": "1"})), false), (None, false)] {
        work.end(ToolResult { structured: structured.map(Json::from), ..ToolResult::text("x") });
        for _ in 0..2 {
            let read = tasks.result(&session.cx, "t1").await;
            assert_eq!(read.map_err(|error| error.code()).err(), (!fits).then_some(ErrorCode::InvalidOutput));
        }
    }
    work.end(ToolResult::error("it broke"));
    assert!(tasks.result(&session.cx, "t1").await.unwrap().is_error);
}

/// A call whose work outlives it, and the context of the work.
async fn detached(cx: &ToolContext, catalog: &mut Catalog, token: &CancellationToken) -> ToolContext {
    let (token, made) = (token.clone(), Arc::new(Mutex::new(None)));
    let slot = made.clone();
    let starts = move |cx: ToolContext, _: Value| {
        *slot.lock().unwrap() = cx.service::<Tasks>().map(|tasks| tasks.context(&cx, token.clone()));
        async { "started" }
    };
    let starts_tool = Tool::new("starts", "Starts.", json!({"type": "object"})).unwrap();
    let limits = Limits { timeout_ms: Some(3_600_000), ..Limits::default() };
    let narrow = async |cx: ToolContext, _: Value| {
        let inner = cx.narrowed(["fs:read:**".parse().unwrap()]).with_progress(Arc::new(NoProgress));
        inner.execute("starts", json!({})).await
    };
    catalog.register(starts_tool.with_effects(Effects::Pure).with_limits(limits), starts).unwrap();
    let outer = Tool::new("outer", "Calls.", json!({"type": "object"})).unwrap();
    catalog.register(outer.with_effects(Effects::Pure), narrow).unwrap();
    catalog.execute(cx, "outer", json!({})).await.unwrap();
    let made = made.lock().unwrap().take();
    made.unwrap()
}

/// A sink for the progress of running calls.
struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, cx: &ToolContext, _: Progress) {
        panic!("{cx:?} has ended");
    }
}

#[tokio::test]
async fn the_work_of_a_task_has_the_permissions_of_its_call_and_outlives_it() {
    let session = Session::new();
    let mut catalog = Catalog::new();
    let looks = async |cx: ToolContext, _: Value| {
        let may = |target: &str| cx.grant().permits(&target.parse().unwrap());
        format!("{} {} {}", cx.depth(), may("fs:read:a"), may("fs:write:a"))
    };
    let looks_tool = Tool::new("looks", "Looks.", json!({"type": "object"})).unwrap();
    catalog.register(looks_tool.with_effects(Effects::Pure), looks).unwrap();
    let token = CancellationToken::new();
    let grant = Grant::parse(["fs:*:**"]).unwrap();
    let cx = detached(&session.cx.clone().with_grant(grant), &mut catalog, &token).await;
    assert!(!cx.is_cancelled() && cx.tool().is_some_and(|tool| *tool == *"starts"));
    // A call with a time limit of 30 s made it.
    let left = cx.deadline().unwrap().saturating_duration_since(Instant::now());
    assert!(left > Duration::from_secs(1800), "{left:?}");
    cx.report(Progress::message("on my way"));
    let wider = cx.clone().with_grant(Grant::all());
    assert_eq!(wider.execute("looks", json!({})).await.unwrap().to_text(), "3 true false");
    token.cancel();
    assert!(cx.is_cancelled() && cx.cancellation().is_cancelled());
    assert_eq!(cx.execute("looks", json!({})).await.unwrap_err().code(), ErrorCode::Cancelled);
}

#[tokio::test]
async fn the_work_of_a_task_does_not_keep_the_tasks_of_its_agent() {
    let session = Session::new();
    session.start("kept");
    let cancelled = session.cancelled.clone();
    let cx = detached(&session.cx, &mut Catalog::new(), &CancellationToken::new()).await;
    assert!(cx.service::<Tasks>().unwrap().list().is_empty(), "it has tasks of its own");
    drop(session);
    assert_eq!(*cancelled.lock().unwrap(), ["kept"]);
}

#[tokio::test]
async fn a_later_process_knows_the_tasks_that_ended_with_theirs_until_it_has_told_so() {
    let session = Session::new();
    let saved = Arc::new(Mutex::new(StoredTasks::default()));
    let store = saved.clone();
    session.tasks().set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    let handles = || saved.lock().unwrap().tasks.iter().map(|task| task.handle.clone()).collect::<Vec<_>>();
    session.start("runs");
    let (_, read) = session.start("was read");
    assert_eq!(handles(), ["t1", "t2"]);
    read.end(ToolResult::text("x"));
    session.tasks().result(&session.cx, "t2").await.unwrap();
    assert_eq!(handles(), ["t1"]);
    let stored: StoredTasks = serde_json::from_value(serde_json::to_value(&*saved.lock().unwrap()).unwrap()).unwrap();

    let later = Session::new();
    let tasks = later.tasks();
    tasks.restore(stored, |stored| panic!("{stored:?} is not kept"));
    let store = saved.clone();
    tasks.set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    assert_eq!(handles(), ["t1"], "another process could follow");
    assert_eq!(tasks.next_ended().await.state.to_string(), "lost: it ended with the process that ran it");
    assert_eq!(tasks.take_untold().len(), 1);
    assert!(handles().is_empty());
    let error = tasks.result(&later.cx, "t1").await.unwrap_err().to_string();
    assert!(error.contains("it ended with the process that ran it: runs"), "{error}");
    assert_eq!(later.start("next").0, "t3");
}

#[tokio::test]
async fn the_end_of_a_removed_task_is_reported_once() {
    let session = Session::new();
    let tasks = session.tasks();
    let (first, work) = session.start("first");
    work.end(ToolResult::default());
    tasks.remove(&first);
    assert_eq!(tasks.next_ended().await.handle, "t1");
    // One is removed between its end and the report, one before its end, and one is pushed out by others.
    let (second, work) = session.start("second");
    let next = tasks.next_ended();
    let mut next = std::pin::pin!(next);
    assert!(tokio::time::timeout(Duration::ZERO, next.as_mut()).await.is_err());
    work.end(ToolResult::default());
    tasks.remove(&second);
    assert_eq!(next.await.handle, "t2");
    let (third, _) = session.start("third");
    tasks.remove(&third);
    for _ in 0..9 {
        session.start("short").1.end(ToolResult::default());
    }
    session.start("running");
    let mut ended = Vec::new();
    while let Ok(info) = tokio::time::timeout(Duration::ZERO, tasks.next_ended()).await {
        ended.push(info.handle);
    }
    assert_eq!(ended, ["t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12"]);
}
