//! Tasks that a later process finds again.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tools::ToolResult;
use tools::tasks::StoredTasks;

use super::session::Session;

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
    session
        .tasks()
        .set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    drop(child.cx);
    assert_eq!(session.cancelled(), ["child true", "child false"]);
    let cancelled = session.cancelled.clone();
    drop(session.cx);
    assert_eq!(
        *cancelled.lock().unwrap(),
        ["child true", "child false", "session false"]
    );
    let saved = saved.lock().unwrap();
    let titles: Vec<_> = saved
        .tasks
        .iter()
        .map(|task| (&*task.title, task.is_kept()))
        .collect();
    assert_eq!(
        (titles, saved.started),
        (vec![("session true", true), ("session false", false)], 4)
    );
}

#[test]
fn without_a_store_all_tasks_end_with_the_session() {
    let session = Session::new();
    session
        .tasks()
        .insert(&session.cx, session.work_kept("kept", true))
        .unwrap();
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
    session
        .tasks()
        .set_store(move |tasks: &StoredTasks| store.lock().unwrap().push(tasks.clone()));
    assert_eq!(session.start("next").0, "t8");
    let info = &session.tasks().list()[0];
    assert_eq!(
        (&*info.handle, &*info.tool, &*info.title),
        ("t3", "a.b", "first")
    );
    session.tasks().remove("t3");
    let counts: Vec<_> = saved
        .lock()
        .unwrap()
        .iter()
        .map(|saved| (saved.started, saved.tasks.len()))
        .collect();
    assert_eq!(counts, [(7, 1), (8, 2), (8, 1)]);
}

#[tokio::test]
async fn a_later_process_knows_the_tasks_that_ended_with_theirs_until_it_has_told_so() {
    let session = Session::new();
    let saved = Arc::new(Mutex::new(StoredTasks::default()));
    let store = saved.clone();
    session
        .tasks()
        .set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    let handles = || {
        saved
            .lock()
            .unwrap()
            .tasks
            .iter()
            .map(|task| task.handle.clone())
            .collect::<Vec<_>>()
    };
    session.start("runs");
    let (_, read) = session.start("was read");
    assert_eq!(handles(), ["t1", "t2"]);
    read.end(ToolResult::text("x"));
    session.tasks().result(&session.cx, "t2").await.unwrap();
    assert_eq!(handles(), ["t1"]);
    let stored: StoredTasks =
        serde_json::from_value(serde_json::to_value(&*saved.lock().unwrap()).unwrap()).unwrap();

    let later = Session::new();
    let tasks = later.tasks();
    tasks.restore(stored, |stored| panic!("{stored:?} is not kept"));
    let store = saved.clone();
    tasks.set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    assert_eq!(handles(), ["t1"], "another process could follow");
    assert_eq!(
        tasks.next_ended().await.state.to_string(),
        "lost: it ended with the process that ran it"
    );
    assert_eq!(tasks.take_untold().len(), 1);
    assert!(handles().is_empty());
    let error = tasks.result(&later.cx, "t1").await.unwrap_err().to_string();
    assert!(
        error.contains("it ended with the process that ran it: runs"),
        "{error}"
    );
    assert_eq!(later.start("next").0, "t3");
}
