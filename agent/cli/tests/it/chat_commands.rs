//! The commands, the completion and the programs of a chat.

use serde_json::Value;

use crate::Crib;
use crate::chat_terminal::{READS, chat, leave, type_in};
use crate::model::{ANSWER, serve};
use crate::terminal::{QUESTION, say};

/// A reply to a request of many tokens.
const COUNTED: &str = concat!(
    "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Short.\"},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"id\":\"y\",\"choices\":[],\"usage\":{\"prompt_tokens\":20000,\"completion_tokens\":3,\"total_tokens\":20003}}\n\n",
    "data: [DONE]\n\n",
);
const MAY_WRITE: [&str; 2] = ["--allow", "fs:write:**"];

fn openai<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let own = ["--provider", "openai", "--model", "one", "--base-url", url];
    [&own[..], more].concat()
}

#[test]
fn tab_completes_commands_and_paths_of_the_workspace() {
    let crib = Crib::new();
    let root = crib.root();
    std::fs::create_dir_all(root.join(".hidden")).unwrap();
    std::fs::write(root.join(".hidden/inner.txt"), "hidden\n").unwrap();
    std::os::unix::fs::symlink("..", root.join("outside")).unwrap();
    let mut session = chat(&crib, &[]);
    type_in(&mut session, "/too\t\r");
    session.exp_string("fs.list").unwrap();
    session.exp_string(READS).unwrap();
    type_in(&mut session, "fs.read path=su\tin\t\r");
    session.exp_string("fs:read:sub/inner.txt").unwrap();
    // Nothing is completed outside of the workspace and in hidden folders.
    for (start, whole) in [
        ("outs", "path=outside"),
        (".hid", "path=.hidden"),
        (".hidden/in", "path=.hidden/inner"),
        ("../sec", "path=../secret"),
        ("outside/sec", "path=outside/secret"),
        ("/et", "path=/etc"),
    ] {
        session.exp_string(READS).unwrap();
        type_in(&mut session, &format!("fs.read path={start}\t\r"));
        let shown = session.exp_string("summary").unwrap();
        assert!(!shown.contains(whole), "{start}: {shown}");
    }
    leave(session);
}

#[test]
fn a_mentioned_file_is_completed_and_added() {
    let (url, requests) = serve([Some(ANSWER)]);
    let crib = Crib::new();
    let mut session = chat(&crib, &openai(&url, &[]));
    type_in(&mut session, "see @REA\t\r");
    session.exp_string("attached README.md").unwrap();
    session.exp_string("summary").unwrap();
    leave(session);
    let request = requests.recv().unwrap();
    assert!(
        request.contains("see @README.md") && request.contains("# Hello"),
        "{request}"
    );
}

#[test]
fn pasted_lines_are_one_prompt_whatever_they_begin_with() {
    let (url, requests) = serve([Some(ANSWER)]);
    let crib = Crib::new();
    let mut session = chat(&crib, &openai(&url, &[]));
    type_in(
        &mut session,
        "\u{1b}[200~one\r\n\r\n  /clear\r\n!two\tx\u{1b}[201~",
    );
    type_in(&mut session, "\r");
    session.exp_string("summary").unwrap();
    leave(session);
    let request: Value = serde_json::from_str(&requests.recv().unwrap()).unwrap();
    let messages = request["messages"].as_array().unwrap();
    let prompts: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .collect();
    assert_eq!(prompts.len(), 1, "{request}");
    let text = prompts[0]["content"].to_string();
    assert!(text.contains(r"one\n\n  /clear\n!two"), "{text}");
}

#[test]
fn another_model_goes_on_with_the_conversation() {
    let (url, requests) = serve([Some(ANSWER), Some(ANSWER)]);
    let crib = Crib::new();
    let mut session = chat(&crib, &openai(&url, &[]));
    say(&mut session, "first", &["summary", READS]);
    say(&mut session, "/model", &["the model is openai/one", READS]);
    say(
        &mut session,
        "/model two",
        &["openai/two goes on for openai/one", READS],
    );
    say(&mut session, "second", &["summary", READS]);
    say(
        &mut session,
        "/cost",
        &["2 steps, 0 calls, 24 tokens in", "6 out", READS],
    );
    say(
        &mut session,
        "/model nobody/x/y",
        &["openai/nobody/x/y goes on"],
    );
    leave(session);
    let requests: Vec<Value> = requests
        .iter()
        .map(|body| serde_json::from_str(&body).unwrap())
        .collect();
    assert_eq!(
        [&requests[0]["model"], &requests[1]["model"]],
        ["one", "two"]
    );
    let text = requests[1]["messages"].to_string();
    assert!(
        text.contains("first") && text.contains("It says hello."),
        "{text}"
    );
}

#[test]
fn all_changes_and_the_last_call_are_shown() {
    let crib = Crib::new();
    let mut session = chat(&crib, &MAY_WRITE);
    say(&mut session, "/last", &["no call yet", READS]);
    say(
        &mut session,
        "fs.edit path=README.md old=Hello new=Bye",
        &["summary", READS],
    );
    say(
        &mut session,
        "fs.edit path=README.md old=Bye new=Good",
        &["summary", READS],
    );
    say(
        &mut session,
        "fs.write path=sub/new.txt content=n",
        &["summary", READS],
    );
    let last = say(&mut session, "/last", &["result:", READS]);
    assert!(last.contains("sub/new.txt"), "{last}");
    session.send_line("/diff").unwrap();
    session.exp_string("--- README.md").unwrap();
    let shown = session.exp_string("+++ sub/new.txt").unwrap();
    assert!(
        shown.contains("-# Hello") && shown.contains("+# Good") && !shown.contains("Bye"),
        "{shown}"
    );
    leave(session);
}

#[cfg(target_os = "linux")]
#[test]
fn a_typed_program_runs_under_the_rules_of_the_model_which_reads_its_output() {
    let (url, requests) = serve([Some(ANSWER)]);
    let crib = Crib::new();
    let allow = ["--allow", "exec:write:seq **"];
    let mut session = chat(&crib, &openai(&url, &allow));
    let shown = say(
        &mut session,
        "!seq 3 5",
        &["| [exit code 0", "summary", READS],
    );
    assert!(!shown.contains(QUESTION), "{shown}");
    say(&mut session, "!printf %s a", &[QUESTION]);
    say(&mut session, "n", &["denied it", READS]);
    say(&mut session, "!seq 7 | tac", &[QUESTION]);
    say(&mut session, "y", &["| 1\r\n", READS]);
    say(&mut session, "!", &["name a program", READS]);
    say(&mut session, "what was it?", &["It says hello."]);
    leave(session);
    let requests: Vec<_> = requests.iter().collect();
    let [request] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert!(
        request.contains(r"3\n4\n5") && request.contains("!seq 3 5"),
        "{request}"
    );
}

#[test]
fn a_conversation_is_compacted_on_request_and_another_one_is_resumed() {
    let (url, requests) = serve([
        Some(COUNTED),
        Some(COUNTED),
        Some(COUNTED),
        Some(COUNTED),
        Some(COUNTED),
    ]);
    let crib = Crib::new();
    let long = "word ".repeat(800);
    let input = format!("/compact\none\n{long}\nthree\n/compact\nfour\n");
    let arguments = [&["chat"], &openai(&url, &[])[..]].concat();
    let ended = crib.run_with_input(&arguments, input.as_bytes()).expect(0);
    assert!(
        ended.stderr.contains("there is no conversation yet"),
        "{ended:#?}"
    );
    assert!(
        ended.stderr.contains("messages summarised; from about"),
        "{ended:#?}"
    );
    let requests: Vec<_> = requests.iter().collect();
    assert!(
        requests[3].contains("word word"),
        "the summary is of it: {}",
        requests[3]
    );
    assert!(
        !requests[4].contains(&long) && requests[4].contains("four"),
        "{}",
        requests[4]
    );

    let sessions = crib.run(&["sessions", "--json"]).expect(0).document();
    let id = sessions["id"].as_str().unwrap();
    let input = format!("time.now zone=UTC\n/resume nothing\n/resume {id}\n/last\n");
    let ended = crib.run_with_input(&["chat", "--provider", "direct"], input.as_bytes());
    assert!(
        ended.stderr.contains("the session is already answered"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("no call yet"), "{ended:#?}");
}
