//! Chats from a pipe; `chat_terminal` has those on a terminal.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::Crib;

#[test]
fn each_line_is_a_prompt_or_a_command() {
    let input = b"fs.read path=README.md\n\n/tools -l\n/help\ntime.now zone=UTC\n";
    let ended = Crib::new()
        .run_with_input(&["chat", "--provider", "direct"], input)
        .expect(0);
    assert!(
        ended.stdout.starts_with("# Hello\n") && ended.stdout.lines().count() > 1,
        "{ended:#?}"
    );
    assert!(
        !ended.stdout.contains("fs.list") && !ended.stdout.contains("toolcrib>"),
        "{ended:#?}"
    );
    for part in [
        "-> fs.read path=README.md",
        "-> time.now",
        "fs.list",
        "reads fs:{path}",
        "/grant [CLAUSE…]",
    ] {
        assert!(ended.stderr.contains(part), "{part} is not in {ended:#?}");
    }
    assert_eq!(ended.stderr.matches("summary: ").count(), 2, "{ended:#?}");
    assert!(!ended.stderr.contains("toolcrib>"), "{ended:#?}");
}

#[test]
fn a_chat_goes_on_after_a_failure_which_decides_the_exit() {
    let crib = Crib::new();
    for (line, code, part) in [
        ("fs.read path=missing", 1, "fs.read failed"),
        ("look around", 2, "`look` is no tool of the session"),
        ("fs.raed path=x", 3, "fs.raed"),
        ("/tolls", 2, "did you mean /tools"),
        ("/grant fs", 2, "fs"),
        ("/select [", 2, "glob"),
    ] {
        let input = format!("{line}\nfs.read path=README.md\nfs.read path=../secret.txt\n");
        let ended = crib
            .run_with_input(&["chat"], input.as_bytes())
            .expect(code);
        assert_eq!(
            ended.stdout.matches("# Hello").count(),
            1,
            "{line}: {ended:#?}"
        );
        assert!(ended.stderr.contains(part), "{line}: {ended:#?}");
    }
}

#[test]
fn a_later_grant_applies_from_then_on() {
    let read = "fs.read path=README.md";
    let input =
        format!("{read}\n/grant\n/grant fs:read:README.md\n{read}\nfs.read path=sub/inner.txt\n");
    let ended = Crib::new()
        .run_with_input(&["chat", "--no-default-grants"], input.as_bytes())
        .expect(5);
    assert_eq!(ended.stdout.matches("# Hello").count(), 1, "{ended:#?}");
    for part in [
        "type /grant fs:read:README.md",
        "granted: nothing",
        "granted: fs:read:README.md",
        "/grant fs:read:sub",
    ] {
        assert!(ended.stderr.contains(part), "{part} is not in {ended:#?}");
    }
}

#[test]
fn a_later_grant_is_not_asked_about() {
    let crib = Crib::new();
    let write = "fs.write path=new.txt content=";
    let input = format!("{write}a\n/grant fs:write:new.txt\n{write}b\n");
    crib.run_with_input(&["chat"], input.as_bytes());
    assert_eq!(
        std::fs::read_to_string(crib.root().join("new.txt")).unwrap(),
        "b"
    );
}

#[test]
fn the_way_that_a_refusal_names_is_one() {
    let crib = Crib::new();
    let remove = b"fs.remove path=README.md\n";
    let ended = crib.run_with_input(&["chat"], remove).expect(5);
    assert!(
        ended
            .stderr
            .contains("restart the chat with --allow fs:destroy:README.md"),
        "{ended:#?}"
    );
    crib.run_with_input(&["chat", "--allow", "fs:destroy:README.md"], remove)
        .expect(0);
}

#[test]
fn tools_are_picked_anew() {
    let input =
        b"/select time.* tmie.*\nfs.read path=README.md\n/select *\nfs.read path=README.md\n";
    let ended = Crib::new().run_with_input(&["chat"], input).expect(3);
    assert_eq!(ended.stdout.matches("# Hello").count(), 1, "{ended:#?}");
    for part in [
        "tools selected by time.* tmie.*: 1",
        "no tool matches tmie.*",
        "tools selected by *: ",
    ] {
        assert!(ended.stderr.contains(part), "{part} is not in {ended:#?}");
    }
}

/// The provider direct numbers calls across the whole conversation.
#[test]
fn a_conversation_is_remembered_until_it_is_cleared() {
    let input = b"time.now\ntime.now\n/clear\ntime.now\n/quit\ntime.now\n";
    let ended = Crib::new()
        .run_with_input(&["chat", "--output", "stream-json"], input)
        .expect(0);
    let events = ended.documents();
    let calls: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "call_started")
        .map(|event| &event["id"])
        .collect();
    assert_eq!(calls, ["call_1", "call_2", "call_1"]);
    assert_eq!(
        events
            .iter()
            .filter(|event| event["type"] == "outcome")
            .count(),
        3
    );
    assert!(
        ended.stderr.contains("messages removed: 8") && !ended.stderr.contains("summary"),
        "{ended:#?}"
    );
}

#[test]
fn a_prompt_may_begin_with_a_slash() {
    let crib = Crib::new();
    let script = crib.write("turns.json", r#"[{"text": "one"}, {"text": "two"}]"#);
    let ended = crib.run_with_input(
        &["chat", "--script", &script],
        b"//etc is what?\n /etc is what?\n",
    );
    assert_eq!(ended.expect(0).stdout, "one\ntwo\n");
}

#[test]
fn a_line_that_is_no_text_ends_the_chat() {
    let ended = Crib::new()
        .run_with_input(&["chat"], b"time.now\n\xff\ntime.now\n")
        .expect(2);
    assert!(ended.stderr.contains("UTF-8"), "{ended:#?}");
    assert_eq!(ended.stderr.matches("-> time.now").count(), 1, "{ended:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_chat_ends_when_nothing_can_be_written() {
    let crib = Crib::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = crib.command(&["chat"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"time.now\ntime.now\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), stderr.matches("-> time.now").count()),
        (Some(9), 1),
        "{stderr}"
    );
}

/// Without a terminal, no person could decide how to continue.
#[test]
fn an_interrupt_ends_a_chat_without_a_person() {
    let crib = Crib::new();
    let script = crib.endless();
    let mut command = crib.command(&[
        "chat",
        "--output",
        "stream-json",
        "--max-steps",
        "100000",
        "--script",
        &script,
    ]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .as_ref()
        .unwrap()
        .write_all(b"one\ntwo\n")
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    crate::interrupt::interrupt(&child);
    let events: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(
        events
            .iter()
            .filter(|event| event["type"] == "outcome")
            .count(),
        1
    );
    assert_eq!(events.last().unwrap()["outcome"], "cancelled");
}

#[test]
fn a_chat_says_that_other_tools_make_another_prompt() {
    let crib = Crib::new();
    let input = b"time.now\n/select fs.read time.*\ntime.now\n";
    let ended = crib
        .run_with_input(&["chat", "--output", "stream-json"], input)
        .expect(0);
    let changes: Vec<_> = ended
        .documents()
        .into_iter()
        .filter(|line| line["type"] == "prefix_changed")
        .collect();
    let [change] = &changes[..] else {
        panic!("{ended:#?}")
    };
    let removed = change["removed"].as_array().unwrap();
    assert!(
        removed.contains(&"fs.list".into()) && !removed.contains(&"fs.read".into()),
        "{change}"
    );
    assert_eq!(
        (change["added"].as_array().unwrap().len(), &change["format"]),
        (0, &false.into())
    );
}
