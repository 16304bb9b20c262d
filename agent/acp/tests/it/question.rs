//! Questions about calls, and questions of tools.

use agent::Turn;
use serde_json::{Value, json};

use crate::editor::{Answers, Editor, choosing, silent, within};
use crate::program::{Program, calling};

fn writing() -> Program {
    Program::new([
        calling("write", json!({"path": "notes.md"})),
        Turn::answer("It is over."),
        calling("write", json!({"path": "notes.md"})),
        Turn::answer("It is over again."),
    ])
}

/// Runs two prompts, each with the same write. Returns the calls that ran, and the number of questions.
async fn write_twice(answers: Answers) -> (Vec<String>, usize) {
    let program = writing();
    let mut editor = Editor::start(&program, json!({}), answers).await;
    let session = editor.new_session().await;
    for _ in 0..2 {
        assert_eq!(editor.prompt(&session, "Write.").await, "end_turn");
    }
    let log = editor.log().into_iter();
    let asked = log.filter(|message| message["method"] == "session/request_permission");
    let asked = asked.count();
    editor.end().await;
    (program.ran(), asked)
}

#[tokio::test]
async fn a_yes_holds_once_or_for_the_session_and_so_does_a_no() {
    let write = || "write notes.md".to_owned();
    assert_eq!(
        write_twice(choosing("once")).await,
        (vec![write(), write()], 2)
    );
    assert_eq!(
        write_twice(choosing("session")).await,
        (vec![write(), write()], 1)
    );
    assert_eq!(write_twice(choosing("no")).await, (Vec::new(), 2));
    assert_eq!(write_twice(choosing("never")).await, (Vec::new(), 1));
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_a_no_and_an_editor_without_questions_is_asked_once() {
    assert_eq!(write_twice(choosing("always")).await, (Vec::new(), 2));
    let unknown: Answers = Box::new(|_| Some(Err(json!({"code": -32601, "message": "unknown"}))));
    assert_eq!(write_twice(unknown).await, (Vec::new(), 1));
    let broken: Answers = Box::new(|_| Some(Ok(json!("yes"))));
    assert_eq!(write_twice(broken).await, (Vec::new(), 2));
}

#[tokio::test]
async fn a_question_repeats_its_call_and_offers_four_answers() {
    let program = writing();
    let mut editor = Editor::start(&program, json!({}), choosing("once")).await;
    let session = editor.new_session().await;
    editor.prompt(&session, "Write.").await;
    let asked = editor.wait_for("request_permission").await;
    let call = &asked["params"]["toolCall"];
    assert_eq!(call["title"], "write notes.md");
    assert_eq!(call["kind"], "edit");
    let text = call["content"][0]["content"]["text"]
        .as_str()
        .unwrap_or_default();
    assert!(text.contains("fs:write:notes.md"), "{text}");
    let options = asked["params"]["options"].as_array().unwrap();
    let kinds: Vec<_> = options
        .iter()
        .map(|option| option["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["allow_once", "allow_always", "reject_once", "reject_always"]
    );
    let statuses = [
        "tool_call pending",
        "tool_call_update in_progress",
        "tool_call_update completed",
    ];
    assert_eq!(editor.updates(&session)[..3], statuses);
    editor.end().await;
}

#[tokio::test]
async fn an_open_question_blocks_no_other_session_and_ends_with_the_cancellation() {
    let program = writing();
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let [one, other] = [editor.new_session().await, editor.new_session().await];
    let prompt = editor.begin_prompt(&one, "Write.").await;
    editor.wait_for("request_permission").await;
    let listed = editor.request("session/list", json!({})).await;
    assert!(listed["result"].is_object(), "{listed}");
    let of_other = editor.begin_prompt(&other, "Write.").await;
    editor
        .wait_for(&format!("\"sessionId\":\"{other}\",\"toolCall\""))
        .await;
    editor
        .notify("session/cancel", json!({"sessionId": one}))
        .await;
    let answer = within(prompt).await.unwrap();
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    editor.wait_for("$/cancel_request").await;
    let closed = editor
        .request("session/close", json!({"sessionId": other}))
        .await;
    assert!(closed["result"].is_object(), "{closed}");
    let answer = within(of_other).await.unwrap();
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    assert_eq!(program.ran(), Vec::<String>::new());
    editor.close().await;
}

#[tokio::test]
async fn a_question_of_a_tool_is_a_form_if_the_editor_has_forms() {
    let asking = || {
        let options = json!({"question": "Which?", "kind": "choice", "options": ["a", "b"]});
        Program::new([calling("user.ask", options), Turn::answer("Thanks.")])
    };
    let answers = |content: Value| -> Answers {
        Box::new(move |_| Some(Ok(json!({"action": "accept", "content": content}))))
    };
    let forms = json!({"elicitation": {"form": {}}});
    for (content, expected) in [("b", "answered"), ("z", "nobody_there")] {
        let answers = answers(json!({"answer": content}));
        let mut editor = Editor::start(&asking(), forms.clone(), answers).await;
        let session = editor.new_session().await;
        assert_eq!(editor.prompt(&session, "Ask.").await, "end_turn");
        let result = editor.wait_for("completed").await;
        assert!(result.to_string().contains(expected), "{result}");
        editor.end().await;
    }
    let mut editor =
        Editor::start(&asking(), json!({"elicitation": {"form": null}}), silent()).await;
    let session = editor.new_session().await;
    assert_eq!(editor.prompt(&session, "Ask.").await, "end_turn");
    let result = editor.wait_for("\"failed\"").await;
    assert!(result.to_string().contains("user.ask"), "{result}");
    editor.end().await;
}
