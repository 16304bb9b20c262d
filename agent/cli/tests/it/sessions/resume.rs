use super::{ids, interrupted, is_unchanged, listed, unfinished, whole};
use crate::{Crib, Ended};

#[test]
fn the_newest_session_of_the_workspace_is_resumed() {
    let crib = Crib::new();
    let script = whole(&crib);
    let ended = crib.run(&["run", "--resume"]).expect(2);
    assert!(ended.stderr.contains("sessions --all"), "{ended:#?}");
    interrupted(&crib);
    crib.run(&["run", "fs.list", "--root", "sub"]).expect(0);
    let ended = crib
        .run(&["run", "--resume", "--script", &script])
        .expect(0);
    assert_eq!(ended.stdout, "Written.\n");
    assert!(ended.stderr.contains(&ids(&crib)[0]), "{ended:#?}");
    is_unchanged(&crib);
    assert_eq!(
        (listed(&crib).len(), &listed(&crib)[0]["state"]),
        (1, &"finished".into())
    );
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let crib = Crib::new();
    interrupted(&crib);
    let id = ids(&crib).remove(0);
    // The next ID differs in its last digits.
    crib.run(&["run", "time.now"]).expect(0);
    assert!(ids(&crib)[0] > id);
    let ended = crib.run(&["run", "--resume", &id[..3]]).expect(2);
    assert!(
        ended.stderr.contains("type more of it") && ended.stderr.contains(&id),
        "{ended:#?}"
    );
    crib.run(&["run", "--resume", "uuu"]).expect(2);
    crib.run(&["run", "--resume", ""]).expect(2);
    let ended = crib
        .run(&[
            "run",
            "--resume",
            &id.to_uppercase(),
            "--script",
            &whole(&crib),
        ])
        .expect(0);
    assert_eq!(ended.stdout, "Written.\n");
    is_unchanged(&crib);
}

#[test]
fn a_session_is_resumed_in_its_own_workspace_only() {
    let crib = Crib::new();
    interrupted(&crib);
    let id = ids(&crib).remove(0);
    let ended = crib
        .run(&["run", "--resume", &id, "--root", "sub"])
        .expect(2);
    assert!(
        ended.stderr.contains("belongs to the workspace") && ended.stderr.contains("--root"),
        "{ended:#?}"
    );
    // The root is the same by another path.
    crib.run(&[
        "run",
        "--resume",
        &id,
        "--root",
        "sub/..",
        "--script",
        &whole(&crib),
    ])
    .expect(0);
}

#[test]
fn a_resumed_session_never_has_a_wider_grant_than_it_had() {
    let folder = ["--resume"];
    let file = ["--resume", "--journal", "../one.journal", "--session", "s"];
    for (begin, resume) in [(&[][..], &folder[..]), (&file[1..], &file[..])] {
        let crib = Crib::new();
        let calls = r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "1"}},
            {"name": "fs.write", "arguments": {"path": "sub/b.txt", "content": "1"}}]}"#;
        let script = crib.script(&[
            r#"{"calls": [{"name": "time.now"}]}"#,
            calls,
            r#"{"text": "Tried."}"#,
        ]);
        let run =
            |arguments: &[&str]| crib.run(&[&["run", "--script", &script][..], arguments].concat());
        run(&[
            &["go", "--max-steps", "1", "--grant", "fs:write:sub/**"],
            begin,
        ]
        .concat())
        .expect(7);
        let wider = [
            "--allow",
            "*:*:**",
            "--grant",
            "fs:write:**",
            "--grant",
            "fs:write:b.txt",
        ];
        let ended = run(&[resume, &wider].concat()).expect(0);
        assert!(ended.stderr.contains("keeps to the grant"), "{ended:#?}");
        assert!(
            !crib.root().join("b.txt").exists() && crib.root().join("sub/b.txt").exists(),
            "{ended:#?}"
        );
        let flags = words_after(&ended, "start a new one with ");
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        run(&[&["go", "--no-journal"], &flags[..]].concat()).expect(0);
        assert!(crib.root().join("b.txt").exists());
    }
}

#[test]
fn a_resumed_session_has_no_more_than_the_grant_of_today() {
    let crib = Crib::new();
    let script = crib.script(&[
        r#"{"calls": [{"name": "time.now"}]}"#,
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "1"}}]}"#,
        r#"{"text": "Tried."}"#,
    ]);
    crib.run(&[
        "run",
        "go",
        "--script",
        &script,
        "--max-steps",
        "1",
        "--grant",
        "fs:write:**",
    ])
    .expect(7);
    let ended = crib
        .run(&["run", "--resume", "--script", &script])
        .expect(0);
    assert!(!crib.root().join("b.txt").exists());

    // The session is answered, so that only a chat goes on with it: another prompt with the flag that was missing.
    let again = words_after(&ended, "in a chat: toolcrib ");
    let turns = std::fs::read_to_string(&script).unwrap();
    let call =
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "2"}}]}"#;
    let longer = format!(
        r#"{}, {call}, {{"text": "Done."}}]"#,
        turns.trim_end().trim_end_matches(']')
    );
    std::fs::write(&script, longer).unwrap();
    let resumed = crib
        .run(&["run", "--resume", "--script", &script])
        .expect(0);
    let chat = words_after(&resumed, "in a chat: toolcrib ");
    assert_eq!(chat[..], again[..chat.len()]);
    let again: Vec<_> = again.iter().map(String::as_str).collect();
    let ended = crib.run_with_input(&again, b"again\n").expect(0);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("b.txt")).unwrap(),
        "2",
        "{ended:#?}"
    );
}

/// Returns the words of the command that follows a text in the last line with it.
fn words_after(ended: &Ended, text: &str) -> Vec<String> {
    let (_, rest) = ended
        .stderr
        .rsplit_once(text)
        .unwrap_or_else(|| panic!("{text:?} is not in {ended:#?}"));
    shlex::split(rest.lines().next().unwrap()).unwrap()
}

#[test]
fn a_session_without_its_answer_names_the_command_that_continues_it() {
    let file = ["--journal", "../a journal", "--session", "s"];
    for begin in [&[][..], &file] {
        let crib = Crib::new();
        let script = unfinished(&crib);
        let flags = [
            "run",
            "write it",
            "--script",
            &script,
            "--grant",
            "fs:write:**",
        ];
        let ended = crib.run(&[&flags[..], begin].concat()).expect(1);
        let (_, command) = ended
            .stderr
            .trim_end()
            .rsplit_once("to continue it: toolcrib ")
            .unwrap();
        std::fs::copy(whole(&crib), &script).unwrap();
        let words = shlex::split(command).unwrap();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let ended = crib.run(&words).expect(0);
        assert_eq!(ended.stdout, "Written.\n");
        assert!(!ended.stderr.contains("to continue it"), "{ended:#?}");
    }
    let crib = Crib::new();
    for unrecorded in [&["--no-journal"][..], &["--journal", "../calls"]] {
        let ended = crib
            .run(
                &[
                    &["run", "write it", "--script", &unfinished(&crib)],
                    unrecorded,
                ]
                .concat(),
            )
            .expect(1);
        assert!(!ended.stderr.contains("to continue it"), "{ended:#?}");
    }
}

#[test]
fn a_chat_goes_on_where_it_ended() {
    let crib = Crib::new();
    let script = crib.write(
        "turns.json",
        r#"[{"text": "one"}, {"text": "two"}, {"text": "three"}]"#,
    );
    crib.run_with_input(&["chat", "--script", &script], b"a\nb\n")
        .expect(0);
    let ended = crib
        .run_with_input(&["chat", "--resume", "--script", &script], b"c\n")
        .expect(0);
    assert!(ended.stdout.ends_with("three\n"), "{ended:#?}");
    assert_eq!(
        (listed(&crib).len(), &listed(&crib)[0]["prompt"]),
        (1, &"a".into())
    );
}

#[test]
fn a_session_in_a_file_is_resumed_by_its_name_alone() {
    let crib = Crib::new();
    for resume in [&["--resume", "s"][..], &["--resume"]] {
        let arguments = [&["run", "--journal", "../one.journal"], resume].concat();
        let ended = crib.run(&arguments).expect(2);
        assert!(ended.stderr.contains("--session"), "{ended:#?}");
    }
}

#[test]
fn a_damaged_session_is_reported_and_left_alone() {
    let crib = Crib::new();
    interrupted(&crib);
    let id = ids(&crib).remove(0);
    let journal = super::folder(&crib).join(format!("{id}.journal"));
    std::fs::write(&journal, "damaged ".repeat(1000)).unwrap();
    crib.run(&["run", "--resume", &id]).expect(2);
    crib.run(&["run", "--resume"]).expect(2);
    crib.run(&["sessions", "fork", &id]).expect(2);
    let ended = crib.run(&["sessions"]).expect(0);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains(&id),
        "{ended:#?}"
    );
    assert!(journal.exists());
    crib.run(&["sessions", "erase", &id]).expect(0);
    assert!(!journal.exists());
}

#[test]
fn a_damaged_session_that_is_not_resumed_is_named() {
    let crib = Crib::new();
    interrupted(&crib);
    let older = ids(&crib).remove(0);
    crib.run(&["run", "time.now"]).expect(0);
    let damaged = ids(&crib).remove(0);
    std::fs::write(
        super::folder(&crib).join(format!("{damaged}.journal")),
        "damaged ".repeat(1000),
    )
    .unwrap();
    let ended = crib
        .run(&["run", "--resume", "--script", &whole(&crib)])
        .expect(0);
    assert!(
        ended
            .stderr
            .contains(&format!("warning: the session {damaged}")),
        "{ended:#?}"
    );
    assert!(
        ended
            .stderr
            .contains(&format!("resuming the session {older}")),
        "{ended:#?}"
    );
}

#[test]
fn a_replayed_answer_has_the_exit_of_its_run() {
    let crib = Crib::new();
    for (prompt, code) in [
        ("fs.read path=missing", 1),
        ("fs.raed path=README.md", 3),
        ("fs.write path=a content=x", 5),
        ("fs.list path=. ; fs.read path=missing ; fs.raed", 1),
        ("time.now", 0),
    ] {
        let first = crib.run(&["run", prompt]).expect(code);
        let again = crib.run(&["run", "--resume"]).expect(code);
        assert_eq!(first.stdout, again.stdout, "{prompt}");
    }
}

#[test]
fn a_resumed_chat_replays_the_last_answer_and_goes_on() {
    let crib = Crib::new();
    crib.run(&["run", "fs.read path=missing"]).expect(1);
    let ended = crib
        .run_with_input(&["chat", "--resume"], b"time.now\n")
        .expect(0);
    assert!(
        ended.stderr.contains("is already answered\n") && !ended.stderr.contains("in a chat"),
        "{ended:#?}"
    );
}
