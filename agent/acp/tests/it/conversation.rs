//! Prompts, cancellation, load and the end of a connection.

use agent::Turn;
use serde_json::json;

use crate::editor::{Editor, choosing, silent, within};
use crate::program::{Program, calling, root};

fn reading() -> Program {
    Program::new([
        calling("read", json!({"path": "notes.md"})),
        Turn::answer("It is read."),
    ])
}

#[tokio::test]
async fn a_prompt_shows_its_call_and_its_answer_and_ends_once() {
    let program = reading();
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    assert_eq!(editor.prompt(&session, "Read the notes.").await, "end_turn");
    assert_eq!(
        editor.updates(&session),
        [
            "tool_call in_progress",
            "tool_call_update completed",
            "agent_message_chunk It is read."
        ]
    );
    let call = editor.wait_for("\"tool_call\"").await;
    let call = &call["params"]["update"];
    assert_eq!(call["kind"], "read");
    assert_eq!(call["title"], "read notes.md");
    assert_eq!(call["locations"][0]["path"], format!("{}/notes.md", root()));
    editor.end().await;
}

#[tokio::test]
async fn a_loaded_session_shows_the_same_as_its_runs_did_and_a_resumed_one_nothing() {
    let program = reading();
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    editor.prompt(&session, "Read the notes.").await;
    let closed = editor
        .request("session/close", json!({"sessionId": session}))
        .await;
    assert!(closed["result"].is_object(), "{closed}");
    editor.end().await;

    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let params = json!({"sessionId": session, "cwd": root(), "mcpServers": []});
    let loaded = editor.request("session/load", params.clone()).await;
    assert!(loaded["result"].is_object(), "{loaded}");
    assert_eq!(
        editor.updates(&session),
        [
            "user_message_chunk Read the notes.",
            "tool_call pending",
            "tool_call_update completed",
            "agent_message_chunk It is read."
        ]
    );
    let again = editor.request("session/load", params.clone()).await;
    assert_eq!(again["error"]["code"], -32602, "{again}");
    editor.close().await;

    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let resumed = editor.request("session/resume", params).await;
    assert!(resumed["result"].is_object(), "{resumed}");
    assert_eq!(editor.updates(&session), Vec::<String>::new());
    let listed = editor.request("session/list", json!({"cwd": root()})).await;
    assert_eq!(
        listed["result"]["sessions"][0]["sessionId"],
        session.as_str()
    );
    editor.end().await;
}

#[tokio::test]
async fn an_unknown_session_is_not_found_and_no_other_folder_has_it() {
    let program = reading();
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    for method in ["session/load", "session/resume"] {
        let params = json!({"sessionId": "none", "cwd": root(), "mcpServers": []});
        let answer = editor.request(method, params).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    let session = editor.new_session().await;
    editor.prompt(&session, "Read.").await;
    editor
        .request("session/close", json!({"sessionId": session}))
        .await;
    let params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
    let answer = editor.request("session/load", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let prompt = json!([{"type": "text", "text": "x"}]);
    let params = json!({"sessionId": session, "prompt": prompt});
    let answer = editor.request("session/prompt", params).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let params = json!({"cwd": "relative", "mcpServers": []});
    let answer = editor.request("session/new", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    editor.end().await;
}

#[tokio::test]
async fn a_cancelled_prompt_and_those_behind_it_end_with_cancelled_and_the_session_goes_on() {
    let program = Program::new([calling("wait", json!({})), Turn::answer("Done.")]);
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let first = editor.begin_prompt(&session, "Wait.").await;
    let second = editor.begin_prompt(&session, "And more.").await;
    editor.wait_for("in_progress").await;
    editor
        .notify("session/cancel", json!({"sessionId": session}))
        .await;
    for answer in [first, second] {
        let answer = within(answer).await.unwrap();
        assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    }
    assert_eq!(editor.prompt(&session, "Go on.").await, "end_turn");
    editor.end().await;
}

#[tokio::test]
async fn prompts_of_one_session_wait_for_each_other_and_each_has_its_answer() {
    let program = Program::new([Turn::answer("One."), Turn::answer("Two.")]);
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let first = editor.begin_prompt(&session, "1").await;
    let second = editor.begin_prompt(&session, "2").await;
    for answer in [first, second] {
        let answer = within(answer).await.unwrap();
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    }
    let texts = ["agent_message_chunk One.", "agent_message_chunk Two."];
    assert_eq!(editor.updates(&session), texts);
    editor.end().await;
}

#[tokio::test]
async fn a_closed_connection_ends_the_run_and_leaves_a_session_that_can_be_loaded() {
    let program = Program::new([calling("wait", json!({})), Turn::answer("Done.")]);
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let _prompt = editor.begin_prompt(&session, "Wait.").await;
    editor.wait_for("in_progress").await;
    editor.close().await;
    let cancelled = editor.wait_for("stopReason").await;
    assert_eq!(cancelled["result"]["stopReason"], "cancelled");

    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let params = json!({"sessionId": session, "cwd": root(), "mcpServers": []});
    let loaded = editor.request("session/load", params).await;
    assert!(loaded["result"].is_object(), "{loaded}");
    assert_eq!(editor.prompt(&session, "Go on.").await, "end_turn");
    editor.end().await;
}

#[tokio::test]
async fn a_message_to_a_running_prompt_is_injected_and_a_late_one_is_not() {
    let program = Program::new([
        calling("write", json!({"path": "x"})),
        Turn::answer("Both are done."),
    ]);
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let prompt = editor.begin_prompt(&session, "Write.").await;
    let asked = editor.wait_for("request_permission").await;
    let message = json!({"sessionId": session, "prompt": [{"type": "text", "text": "And read."}]});
    let steered = editor.request("_session/steering", message.clone()).await;
    assert_eq!(steered["result"]["outcome"], "injected", "{steered}");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "once"}}});
    editor.line(&answer.to_string()).await;
    within(prompt).await.unwrap();
    let updates = editor.updates(&session);
    assert!(
        updates.contains(&"user_message_chunk And read.".to_owned()),
        "{updates:?}"
    );
    let late = editor.request("_session/steering", message).await;
    assert_eq!(late["result"]["outcome"], "promptRequired", "{late}");
    editor.end().await;
}

#[tokio::test]
async fn other_messages_have_an_error_or_are_ignored() {
    let program = reading();
    let mut editor = Editor::connect(&program, choosing("once"));
    let early = editor.request("session/list", json!({})).await;
    assert_eq!(early["error"]["code"], -32600, "{early}");
    editor
        .request("initialize", json!({"protocolVersion": 7}))
        .await;
    for method in ["session/fork", "fs/read_text_file", "authenticate"] {
        let answer = editor.request(method, json!({})).await;
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }
    editor.notify("session/nothing", json!({})).await;
    editor
        .notify("session/cancel", json!({"sessionId": "none"}))
        .await;
    editor.line("no message").await;
    editor.line("[]").await;
    editor.line("").await;
    editor
        .line(r#"{"jsonrpc": "2.0", "id": 99, "result": {}}"#)
        .await;
    editor.wait_for("-32700").await;
    let session = editor.new_session().await;
    let audio = json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]);
    let params = json!({"sessionId": session, "prompt": audio});
    let answer = editor.request("session/prompt", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(editor.prompt(&session, "Read.").await, "end_turn");
    editor.end().await;
}

#[tokio::test]
async fn long_results_and_long_lines_stay_within_their_bounds() {
    let program = Program::new([calling("big", json!({})), Turn::answer("x".repeat(200_000))]);
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let text = "y".repeat(10 * 1024 * 1024);
    assert_eq!(editor.prompt(&session, &text).await, "end_turn");
    let texts = editor.updates(&session);
    let texts = texts
        .iter()
        .filter_map(|text| text.strip_prefix("agent_message_chunk "));
    assert_eq!(texts.map(str::len).sum::<usize>(), 200_000);
    editor.line(&"z".repeat(40 * 1024 * 1024)).await;
    editor.wait_for("-32600").await;
    editor.end().await;
}

#[tokio::test]
async fn a_session_has_the_command_that_compacts_its_conversation_and_a_prompt_of_that_name_is_it()
{
    let turns = ["One.", "Two.", "Three.", "A summary.", "Four."];
    let program = Program::new(turns.map(|text| Turn::answer(text.repeat(5_000))));
    let mut editor = Editor::start(&program, json!({}), silent()).await;
    let session = editor.new_session().await;
    let commands = editor.wait_for("available_commands_update").await;
    let commands = &commands["params"]["update"]["availableCommands"];
    assert_eq!(commands[0]["name"], "compact", "{commands}");
    for _ in 0..3 {
        assert_eq!(editor.prompt(&session, "Go on.").await, "end_turn");
    }
    assert_eq!(editor.prompt(&session, "/compact").await, "end_turn");
    let updates = editor.updates(&session);
    let last = updates.last().map(String::as_str).unwrap_or_default();
    assert!(last.contains("left out of requests"), "{last}");
    assert_eq!(editor.prompt(&session, "Go on.").await, "end_turn");
    editor.end().await;
}
