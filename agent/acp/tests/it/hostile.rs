//! Editors that break the rules: no prompt hangs, and no call runs without a yes.

use std::time::Duration;

use agent::Turn;
use serde_json::{Value, json};

use crate::editor::{Answers, Editor, choosing, within};
use crate::program::{Program, calling};

/// The number of runs of each editor. `.ci/long` has 10,000 in all.
fn runs() -> usize {
    let set = std::env::var("ACP_RUNS").ok();
    set.and_then(|runs| runs.parse().ok()).unwrap_or(20)
}

fn writing() -> Program {
    Program::new([
        calling("write", json!({"path": "notes.md"})),
        Turn::answer("It is over."),
    ])
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// Runs a prompt to its end, which is cancelled if no answer to the question comes.
async fn run(answers: Answers, is_cancelled: bool, allows: bool) {
    let program = writing();
    let mut editor = Editor::start(&program, json!({}), answers).await;
    let session = editor.new_session().await;
    let prompt = editor.begin_prompt(&session, "Write.").await;
    if is_cancelled {
        editor.wait_for("request_permission").await;
        editor
            .notify("session/cancel", json!({"sessionId": session}))
            .await;
    }
    let answer = within(prompt).await.unwrap();
    assert!(answer["result"]["stopReason"].is_string(), "{answer}");
    assert_eq!(program.ran().len(), usize::from(allows));
    editor.end().await;
}

#[tokio::test]
async fn an_editor_that_never_answers_gets_its_prompt_back_when_it_cancels() {
    for _ in 0..runs() {
        run(Box::new(|_| None), true, false).await;
    }
}

#[tokio::test]
async fn an_editor_that_answers_rightly_gets_its_answer() {
    for _ in 0..runs() {
        run(choosing("once"), false, true).await;
    }
}

#[tokio::test]
async fn an_editor_that_drops_unknown_methods_denies() {
    for _ in 0..runs() {
        let unknown: Answers = Box::new(|_| Some(Err(json!({"code": -32601, "message": ""}))));
        run(unknown, false, false).await;
    }
}

#[tokio::test]
async fn answers_that_are_late_or_twice_or_have_a_wrong_id_count_not_or_once() {
    for _ in 0..runs() {
        let program = writing();
        let mut editor = Editor::start(&program, json!({}), Box::new(|_| None)).await;
        let session = editor.new_session().await;
        let prompt = editor.begin_prompt(&session, "Write.").await;
        let asked = editor.wait_for("request_permission").await;
        let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": selected("once")});
        for id in [json!("1"), json!(77), json!(null), json!(-1)] {
            editor.line(&answer(&id).to_string()).await;
        }
        assert_eq!(program.ran(), Vec::<String>::new());
        editor
            .notify("session/cancel", json!({"sessionId": session}))
            .await;
        let ended = within(prompt).await.unwrap();
        assert_eq!(ended["result"]["stopReason"], "cancelled", "{ended}");
        for _ in 0..2 {
            editor.line(&answer(&asked["id"]).to_string()).await;
        }
        let prompt = editor.begin_prompt(&session, "Again.").await;
        let ended = within(prompt).await.unwrap();
        assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
        assert_eq!(program.ran(), Vec::<String>::new());
        editor.end().await;
    }
}

#[tokio::test]
async fn an_editor_that_closes_in_the_middle_leaves_no_server_and_no_call() {
    for step in 0..runs() {
        let program = writing();
        let mut editor = Editor::start(&program, json!({}), Box::new(|_| None)).await;
        let session = editor.new_session().await;
        let _prompt = editor.begin_prompt(&session, "Write.").await;
        if step % 2 == 0 {
            editor.wait_for("request_permission").await;
        } else {
            tokio::time::sleep(Duration::from_micros(100 * step as u64)).await;
        }
        editor.close().await;
        editor.wait_for("stopReason").await;
        assert_eq!(program.ran(), Vec::<String>::new());
    }
}
