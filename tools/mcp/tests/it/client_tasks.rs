//! Calls that a server goes on with as tasks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::task_manager::{TaskExit, TaskOptions};
use serde_json::json;
use tools::tasks::{StoredTask, StoredTasks};
use tools::{
    CancellationToken, ErrorCode, Progress, ProgressSink, Services, Tasks, ToolContext,
    ToolErrorKind,
};
use tools_mcp::client::Servers;

use crate::scripted::{cx, defined, imported};
use crate::tasked::{Tasked, keeping, tasks, text, working};

#[tokio::test(start_paused = true)]
async fn a_quick_task_is_the_result_of_its_call() {
    let server = Tasked::new(|_| async { Ok(text("quick")) });
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let cx = keeping();
    let result = catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    assert_eq!((result.to_text().as_str(), result.task), ("quick", None));
    assert!(tasks(&cx).list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_long_task_goes_on_after_its_call_with_a_handle() {
    let (server, end) = Tasked::until_told(text("late"));
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let cx = keeping();
    let result = catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    assert_eq!(result.task.as_deref(), Some("t1"));
    let told =
        "[t1: the MCP server s goes on with this call as a task; task.result reads its result]";
    assert_eq!(result.to_text(), told);
    let info = &tasks(&cx).list()[0];
    assert_eq!(
        (&*info.tool, &*info.title, &*info.state.to_string()),
        ("mcp:s/t", "at the MCP server s", "runs")
    );
    end.send_replace(true);
    assert_eq!(tasks(&cx).next_ended().await.state.to_string(), "completed");
    for _ in 0..2 {
        assert_eq!(
            tasks(&cx).result(&cx, "t1").await.unwrap().to_text(),
            "late"
        );
    }
    assert_eq!(*server.cancelled.borrow(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_has_the_structure_that_fits_the_output_schema_of_its_tool() {
    let schema =
        json!({"type": "object", "properties": {"c": {"type": "number"}}, "required": ["c"]});
    for (structured, fits) in [
        (Some(json!({"c": 7})), true),
        (Some(json!({"c": "warm"})), false),
        (None, false),
    ] {
        for is_quick in [true, false] {
            let mut result = text("warm");
            result.structured_content = structured.clone();
            let (mut server, end) = Tasked::until_told(result);
            server.tool = defined(json!({"name": "t", "inputSchema": {}, "outputSchema": schema}));
            end.send_replace(is_quick);
            let (catalog, _servers, _) = imported(server.import("s")).await;
            let cx = keeping();
            let called = catalog.execute(&cx, "mcp:s/t", json!({})).await;
            let result = if is_quick {
                called
            } else {
                assert_eq!(called.unwrap().task.as_deref(), Some("t1"));
                end.send_replace(true);
                tasks(&cx).next_ended().await;
                tasks(&cx).result(&cx, "t1").await
            };
            let result = result.unwrap();
            assert_eq!(
                (
                    result.structured.is_some(),
                    result.to_text().contains("has run")
                ),
                (fits, !fits),
                "{structured:?} {is_quick}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_leave_a_task_waits_for_its_end() {
    let [mut for_one_call, mut of_server] = [Services::new(), Services::new()];
    Tasks::offer_for_one_call(&mut for_one_call);
    Tasks::offer_to_clients(&mut of_server);
    let full = keeping();
    let (busy, _end) = Tasked::until_told(text("never"));
    let (catalog, _servers, _) = imported(busy.import("s")).await;
    for _ in 0..8 {
        assert!(
            catalog
                .execute(&full, "mcp:s/t", json!({}))
                .await
                .unwrap()
                .task
                .is_some()
        );
    }
    for cx in [
        cx(),
        cx().with_services(for_one_call),
        cx().with_services(of_server),
        full,
    ] {
        let server = Tasked::new(|_| async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok(text("late"))
        });
        let (catalog, _servers, _) = imported(server.import("s")).await;
        let result = catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
        assert_eq!((result.to_text().as_str(), result.task), ("late", None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_before_its_task_cancels_it() {
    let (server, _end) = Tasked::until_told(text("never"));
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let error = catalog
        .execute(
            &cx().with_timeout(Duration::from_secs(5)),
            "mcp:s/t",
            json!({}),
        )
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    server.cancelled(1).await;
    for cx in [cx(), keeping()] {
        let before = *server.cancelled.borrow();
        let token = CancellationToken::new();
        let call = tokio::spawn(catalog.execute(
            &cx.with_cancellation(token.clone()),
            "mcp:s/t",
            json!({}),
        ));
        tokio::time::sleep(Duration::from_millis(1500)).await;
        token.cancel();
        assert_eq!(
            call.await.unwrap().unwrap_err().code(),
            ErrorCode::Cancelled
        );
        server.cancelled(before + 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn failures_of_a_task_are_those_of_its_call() {
    let error = |kind: ToolErrorKind| kind.to_string();
    for (exit, state, reason) in [
        (
            Ok(CallToolResult::error(vec![ContentBlock::text("no city")])),
            "failed",
            "no city",
        ),
        (Err(("no\u{202e} way", false)), "failed", "no<U+202E> way"),
        (Err(("", true)), "cancelled", "was cancelled"),
    ] {
        let server = Tasked::new(move |_| {
            let exit = exit.clone();
            async move {
                tokio::time::sleep(Duration::from_secs(9)).await;
                exit.map_err(|(message, is_cancelled): (&str, bool)| {
                    if is_cancelled {
                        TaskExit::Cancelled
                    } else {
                        ErrorData::internal_error(message, None).into()
                    }
                })
            }
        });
        let (catalog, _servers, _) = imported(server.import("s")).await;
        let text = match catalog.execute(&cx(), "mcp:s/t", json!({})).await {
            Ok(result) => {
                assert!(result.is_error);
                result.to_text()
            }
            Err(failed) => error(failed.kind().clone()),
        };
        assert!(text.contains(reason), "{text}");
        let cx = keeping();
        catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
        assert_eq!(tasks(&cx).next_ended().await.state.to_string(), state);
        let again = match tasks(&cx).result(&cx, "t1").await {
            Ok(result) => result.to_text(),
            Err(failed) => error(failed.kind().clone()),
        };
        assert_eq!(again, text);
    }
}

#[tokio::test(start_paused = true)]
async fn the_id_and_the_interval_of_a_server_have_limits() {
    let mut server = Tasked::hostile(|id| Ok(working(id, 0)));
    server.id = Some("x".repeat(1_000_000));
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let error = catalog
        .execute(&keeping(), "mcp:s/t", json!({}))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("an id of 1000000 bytes; at most 1024"),
        "{error}"
    );
    assert_eq!(server.polls.load(Ordering::SeqCst), 0);
    for (interval, most, least) in [(0, 1010, 900), (u64::MAX, 5, 3)] {
        let mut server = Tasked::hostile(move |id| Ok(working(id, interval)));
        server.options = TaskOptions::new().with_poll_interval_ms(interval);
        let (catalog, _servers, _) = imported(server.import("s")).await;
        let cx = cx().with_timeout(Duration::from_secs(100));
        let error = catalog
            .execute(&cx, "mcp:s/t", json!({}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout);
        let polls = server.polls.load(Ordering::SeqCst);
        assert!(
            (least..=most).contains(&polls),
            "{polls} polls every {interval} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_its_server_does_not_know_is_lost() {
    let unknown = |_: &str| Err(ErrorData::invalid_params("unknown task", None));
    let confused = |_: &str| Ok(working("another", 100));
    let broken = |_: &str| Err(ErrorData::internal_error("on\u{202e} fire", None));
    for (server, reason) in [
        (
            Tasked::hostile(unknown),
            "the MCP server s does not know the task any more",
        ),
        (
            Tasked::hostile(confused),
            "does not tell its state: it answered with another task",
        ),
        (
            Tasked::hostile(broken),
            "does not tell its state: on<U+202E> fire",
        ),
    ] {
        let (catalog, _servers, _) = imported(server.import("s")).await;
        let cx = cx().with_timeout(Duration::from_secs(1000));
        let error = catalog
            .execute(&cx, "mcp:s/t", json!({}))
            .await
            .unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_outlives_its_connection_until_its_time_is_over() {
    let (mut server, end) = Tasked::until_told(text("late"));
    server.options = TaskOptions::new().with_ttl_ms(600_000);
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let cx = keeping();
    for _ in 0..2 {
        catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
        let cut = server.kill.lock().unwrap().pop().unwrap();
        cut.abort();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    end.send_replace(true);
    tasks(&cx).next_ended().await;
    tasks(&cx).next_ended().await;
    assert_eq!(
        tasks(&cx).result(&cx, "t2").await.unwrap().to_text(),
        "late"
    );
    end.send_replace(false);
    catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    server.is_gone.store(true, Ordering::SeqCst);
    server.kill.lock().unwrap().pop().unwrap().abort();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let state = tasks(&cx).find("t3").unwrap().state();
    assert!(
        state
            .to_string()
            .starts_with("runs: its state is unknown: the MCP server s is not connected"),
        "{state}"
    );
    let state = tasks(&cx).next_ended().await.state.to_string();
    assert!(
        state.contains("because its time is over, and cannot be reached"),
        "{state}"
    );
}

/// Keeps the messages of progress.
#[derive(Default)]
struct Messages(Mutex<Vec<String>>);

impl ProgressSink for Messages {
    fn report(&self, _: &ToolContext, progress: Progress) {
        self.0.lock().unwrap().extend(progress.message);
    }
}

#[tokio::test(start_paused = true)]
async fn the_messages_of_a_task_are_progress_of_the_call_and_its_state() {
    let server = Tasked::new(|context| async move {
        for step in ["one", "t\u{202e}wo", "three"] {
            context.set_status_message(step);
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        Ok(text("done"))
    });
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let messages = Arc::new(Messages::default());
    let waiting = cx()
        .with_progress(messages.clone())
        .with_timeout(Duration::from_secs(100));
    catalog
        .execute(&waiting, "mcp:s/t", json!({}))
        .await
        .unwrap();
    assert_eq!(*messages.0.lock().unwrap(), ["one", "t<U+202E>wo", "three"]);
    let cx = keeping();
    catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    assert_eq!(
        tasks(&cx).find("t1").unwrap().state().to_string(),
        "runs: one"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_ends_with_its_session_unless_it_is_stored_and_found_again() {
    let (server, end) = Tasked::until_told(text("late"));
    let (catalog, servers, _) = imported(server.import("s")).await;
    let cx = keeping();
    catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    drop(cx);
    server.cancelled(1).await;

    let cx = keeping();
    let saved = Arc::new(Mutex::new(StoredTasks::default()));
    let store = saved.clone();
    tasks(&cx).set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
    catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    drop(cx);
    end.send_replace(true);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(*server.cancelled.borrow(), 1);

    let stored = serde_json::to_string(&*saved.lock().unwrap()).unwrap();
    let restored = |servers: &Servers| {
        let cx = keeping();
        let find = |stored: &StoredTask| (servers.restore(stored), catalog.get(&stored.tool).ok());
        tasks(&cx).restore(serde_json::from_str(&stored).unwrap(), find);
        cx
    };
    let cx = restored(&servers);
    assert_eq!(tasks(&cx).next_ended().await.state.to_string(), "completed");
    assert_eq!(
        tasks(&cx).result(&cx, "t1").await.unwrap().to_text(),
        "late"
    );
    // A server that has forgotten it, and a session without the server.
    let (forgetful, _) = Tasked::until_told(text("other"));
    let (_catalog, others, _) = imported(forgetful.import("s")).await;
    let (_catalog, none, _) = imported(forgetful.import("other")).await;
    for (servers, is_stored, reason) in [
        (
            others,
            false,
            "lost: the MCP server s does not know the task any more",
        ),
        (
            none,
            true,
            "lost: the MCP server \"s\" is not one of this session any more",
        ),
    ] {
        let cx = restored(&servers);
        assert_eq!(tasks(&cx).next_ended().await.state.to_string(), reason);
        assert!(
            tasks(&cx)
                .result(&cx, "t1")
                .await
                .unwrap_err()
                .to_string()
                .contains(&reason[6..])
        );
        // A server that is not attached now may be one of a later process.
        let store = saved.clone();
        tasks(&cx).set_store(move |tasks: &StoredTasks| *store.lock().unwrap() = tasks.clone());
        assert_eq!(!saved.lock().unwrap().tasks.is_empty(), is_stored);
    }
}
