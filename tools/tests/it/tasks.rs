//! Work that goes on after the call that started it.

mod session;
mod stored;
mod work;

use std::sync::Arc;
use std::time::Duration;

use tools::tasks::TaskState;
use tools::{Task as _, ToolResult};

use self::session::{Other, Session, Work};

#[test]
fn agents_reach_their_own_tasks_alone() {
    let session = Session::new();
    let child = session.sub_agent();
    let handles = [
        session.start("a").0,
        child.start("b").0,
        session.start("c").0,
    ];
    assert_eq!(handles, ["t1", "t2", "t3"]);
    assert_eq!(
        (session.handles(), child.handles()),
        (vec!["t1".into(), "t3".into()], vec!["t2".into()])
    );
    let Err(error) = session.tasks().find("t2") else {
        panic!()
    };
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
    let Err(error) = tasks.find_as::<Work>("t2", "work") else {
        panic!()
    };
    assert!(
        error.to_string().contains("no work \"t2\"")
            && error.to_string().ends_with("choose from t1"),
        "{error}"
    );
    assert_eq!(tasks.list_as::<Other>().len(), 1);
}

#[test]
fn at_most_eight_run_at_once_in_a_session_with_its_sub_agents() {
    let session = Session::new();
    let child = session.sub_agent();
    let works: Vec<_> = (0..8)
        .map(|n| {
            if n % 2 == 0 {
                session.start("a")
            } else {
                child.start("b")
            }
        })
        .collect();
    for agent in [&session, &child] {
        let refused = agent
            .tasks()
            .insert(&agent.cx, agent.work("c"))
            .unwrap_err();
        assert!(
            refused.to_string().contains("8 tasks run already"),
            "{refused}"
        );
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
    assert_eq!(
        session.handles(),
        [
            "t1", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13"
        ]
    );
    assert_eq!(child.handles(), ["t2"]);
    assert!(!running.state().has_ended());
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
    assert!(
        tokio::time::timeout(std::time::Duration::ZERO, tasks.next_ended())
            .await
            .is_err()
    );
    third.end(ToolResult::default());
    assert_eq!(tasks.next_ended().await.handle, "t3");
}

#[tokio::test]
async fn a_state_is_told_once_unless_a_call_has_told_it() {
    let session = Session::new();
    let tasks = session.tasks();
    let untold = || {
        tasks
            .take_untold()
            .into_iter()
            .map(|info| format!("{} {}", info.handle, info.state))
    };
    let (_, first) = session.start("first");
    let (read, second) = session.start("second");
    assert_eq!(untold().count(), 0);
    first
        .state
        .send_replace(TaskState::Waiting("asks".to_owned()));
    assert_eq!(untold().collect::<Vec<_>>(), ["t1 asks"]);
    first
        .state
        .send_replace(TaskState::Running("runs".to_owned()));
    assert_eq!(untold().count(), 0);
    first.end(ToolResult::default());
    second.end(ToolResult::default());
    tasks.result(&session.cx, &read).await.unwrap();
    assert_eq!(untold().collect::<Vec<_>>(), ["t1 done"]);
    assert_eq!(untold().count(), 0);
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
    assert!(
        tokio::time::timeout(Duration::ZERO, next.as_mut())
            .await
            .is_err()
    );
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
    assert_eq!(
        ended,
        ["t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12"]
    );
}
