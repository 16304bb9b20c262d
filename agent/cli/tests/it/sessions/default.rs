use super::{folder, ids, interrupted, listed, whole};
use crate::Crib;
use crate::config::write_user;

#[test]
fn every_session_is_listed_with_its_prompt_and_state() {
    let crib = Crib::new();
    assert!(listed(&crib).is_empty());
    crib.run(&["run", "time.now"]).expect(0);
    interrupted(&crib);
    crib.run_with_input(&["chat"], b"time.now\nfs.list\n")
        .expect(0);
    let sessions = listed(&crib);
    let facts: Vec<_> = sessions
        .iter()
        .map(|session| {
            (
                session["prompt"].as_str().unwrap(),
                session["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            ("time.now", "finished"),
            ("write it", "interrupted"),
            ("time.now", "finished")
        ]
    );
    let root = crib.root().canonicalize().unwrap();
    assert!(
        sessions
            .iter()
            .all(|session| session["workspace"] == root.to_str().unwrap()
                && session["bytes"].as_u64() > Some(0))
    );

    let page = crib.run(&["sessions"]).expect(0).stdout;
    let mut lines: Vec<_> = page.lines().collect();
    let headings: Vec<_> = lines.remove(0).split_whitespace().collect();
    assert_eq!(headings, ["ID", "STATE", "AGE", "SIZE", "PROMPT"]);
    assert_eq!(lines.len(), 3, "{page}");
    assert!(
        lines[1].starts_with(sessions[1]["id"].as_str().unwrap())
            && lines[1].contains("interrupted"),
        "{page}"
    );
    assert!(
        lines[1].ends_with("write it") && !page.contains(root.to_str().unwrap()),
        "{page}"
    );
}

#[test]
fn a_mistake_in_the_options_begins_no_session() {
    let crib = Crib::new();
    let mistakes = [
        ["--provider", "typo"],
        ["--select", "{"],
        ["--script", "missing.json"],
    ];
    for mistake in mistakes {
        for flags in [&["--journal", "calls.journal", "--session", "s"][..], &[]] {
            let ended = crib.run(&[&["run", "time.now"], &mistake[..], flags].concat());
            assert_ne!(ended.code, Some(0), "{ended:#?}");
        }
        assert!(
            !crib.root().join("calls.journal").exists() && !folder(&crib).exists(),
            "{mistake:?}"
        );
    }
    crib.run(&["run", "time.now"]).expect(0);
    write_user(&crib, "[sessions]\nmax_age = '1s'");
    for mistake in mistakes {
        crib.run(&[&["run", "time.now"], &mistake[..]].concat());
    }
    assert_eq!(listed(&crib).len(), 1, "nothing was pruned");
}

#[test]
fn a_session_belongs_to_its_workspace() {
    let crib = Crib::new();
    crib.run(&["run", "time.now"]).expect(0);
    let other = ["--root", "sub"];
    let ended = crib.run(&[&["sessions"], &other[..]].concat()).expect(0);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("sessions --all"),
        "{ended:#?}"
    );
    crib.run(&[&["run", "fs.list"], &other[..]].concat())
        .expect(0);
    assert_eq!(listed(&crib).len(), 1);
    assert_eq!(
        crib.run(&["sessions", "--all", "--json"])
            .expect(0)
            .documents()
            .len(),
        2
    );
    let page = crib.run(&["sessions", "--all"]).expect(0).stdout;
    assert!(
        page.contains("root/sub") && page.contains("WORKSPACE"),
        "{page}"
    );
}

#[test]
fn without_a_session_the_list_says_so() {
    let crib = Crib::new();
    for flags in [
        &["sessions"][..],
        &["sessions", "--all"],
        &["sessions", "--json"],
    ] {
        let ended = crib.run(flags).expect(0);
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains("no session is recorded"),
            "{ended:#?}"
        );
    }
}

#[test]
fn a_long_prompt_is_cut_to_the_width() {
    let crib = Crib::new();
    let prompt = format!("time.now{}", " ; time.now".repeat(20));
    crib.run(&["run", &prompt]).expect(0);
    for (columns, width) in [("", 80), ("120", 120)] {
        let page = crate::ended(crib.command(&["sessions"]).env("COLUMNS", columns), b"")
            .expect(0)
            .stdout;
        let widths: Vec<_> = page.lines().map(|line| line.chars().count()).collect();
        assert!(
            widths.len() == 2
                && widths[1] <= width
                && widths[1] > width - 3
                && page.ends_with("…\n"),
            "{page}"
        );
    }
    assert_eq!(listed(&crib)[0]["prompt"], prompt);
}

#[test]
fn nothing_is_recorded_where_that_is_turned_off_or_named_elsewhere() {
    let crib = Crib::new();
    crib.run(&["run", "time.now", "--no-journal"]).expect(0);
    crib.run(&[
        "run",
        "time.now",
        "--journal",
        "../other.journal",
        "--session",
        "s",
    ])
    .expect(0);
    crib.run(&["call", "time.now"]).expect(0);
    crib.run(&["system"]).expect(0);
    assert!(!folder(&crib).exists());
    crib.run(&["run", "--resume", "--no-journal"]).expect(2);
}

#[test]
fn a_setting_turns_recording_off_except_where_it_is_asked_for() {
    let crib = Crib::new();
    interrupted(&crib);
    write_user(&crib, "sessions.record = false");
    crib.run(&["run", "time.now"]).expect(0);
    assert_eq!(listed(&crib).len(), 1, "the one from before");
    let ended = crib
        .run(&["run", "time.now", "--journal-arguments"])
        .expect(2);
    assert!(
        ended.stderr.contains("toolcrib.toml:1") && ended.stderr.contains("sessions.record"),
        "{ended:#?}"
    );

    crib.run(&["run", "--resume", "--script", &whole(&crib)])
        .expect(0);
    assert_eq!(listed(&crib)[0]["state"], "finished");
    crib.run(&["run", "time.now", "--journal", "../other.journal"])
        .expect(0);
    assert!(crib.dir.path().join("other.journal").exists());

    let command = |value| {
        crib.command(&["run", "time.now"])
            .env("TOOLCRIB_SESSIONS_RECORD", value)
            .output()
            .unwrap()
    };
    assert!(command("true").status.success());
    assert_eq!(listed(&crib).len(), 2, "a variable goes before the file");
}

#[test]
fn a_chat_without_a_prompt_leaves_no_session() {
    let crib = Crib::new();
    crib.run_with_input(&["chat"], b"/help\n").expect(0);
    crib.run(&["run", "x", "--script", "missing.json"])
        .expect(2);
    let left: Vec<_> = std::fs::read_dir(folder(&crib)).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_prompt_that_cannot_be_read_is_not_a_session() {
    let crib = Crib::new();
    let direct = ["--provider", "direct"];
    interrupted(&crib);
    for (prompt, code) in [("nonsense(", 2), ("fs.read path=a start=x", 4)] {
        let ended = crib
            .run(&[&["run", prompt][..], &direct].concat())
            .expect(code);
        assert!(!ended.stderr.contains("to continue it"), "{ended:#?}");
    }
    crib.run_with_input(&[&["chat"][..], &direct].concat(), b"nonsense(\n")
        .expect(2);
    assert_eq!(
        ids(&crib).len(),
        1,
        "the interrupted session is the newest one to resume"
    );

    let ended = crib
        .run_with_input(
            &[&["chat"][..], &direct].concat(),
            b"nonsense(\ntime.now\nnonsense(\n",
        )
        .expect(2);
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:#?}");
    assert_eq!(
        (listed(&crib).len(), &listed(&crib)[0]["state"]),
        (2, &"finished".into())
    );

    let file = ["--journal", "../one.journal", "--session", "s"];
    crib.run(&[&["run", "nonsense("], &direct[..], &file].concat())
        .expect(2);
    crib.run(&[&["run", "time.now"], &direct[..], &file].concat())
        .expect(0);
}

#[test]
fn a_session_that_cannot_be_recorded_ends_unless_a_person_says_that_it_need_not_be() {
    let crib = Crib::new();
    let file = crib.write("file", "");
    let without_state = |arguments: &[&str]| -> crate::Ended {
        crib.command(arguments)
            .env("XDG_STATE_HOME", format!("{file}/state"))
            .output()
            .unwrap()
            .into()
    };
    let ended = without_state(&[
        "run",
        "fs.write path=a content=x",
        "--provider",
        "direct",
        "--allow",
        "fs:write:**",
    ]);
    let ended = ended.expect(2);
    assert!(
        ended.stderr.contains("--no-journal") && !crib.root().join("a").exists(),
        "{ended:#?}"
    );
    for off in [
        &["--no-journal"][..],
        &[
            "--config",
            &crib.write("c.toml", "[sessions]\nrecord = false\n"),
        ],
    ] {
        let ended =
            without_state(&[&["run", "time.now", "--provider", "direct"], off].concat()).expect(0);
        assert!(!ended.stderr.contains("warning"), "{ended:#?}");
    }
    without_state(&["run", "--resume"]).expect(2);
    without_state(&["run", "time.now", "--journal", &format!("{file}/x")]).expect(2);
}

/// Fills the journal's folder while a chat runs.
#[cfg(target_os = "linux")]
#[test]
fn a_chat_ends_when_it_can_no_longer_be_recorded() {
    let crib = Crib::new();
    let program = env!("CARGO_BIN_EXE_toolcrib");
    // A file of more than 512 KiB cannot be written, as on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1024; exec '{program}' chat --provider direct --allow 'fs:write:**'"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(crib.root());
    crate::cleared(&mut command).env("XDG_STATE_HOME", crib.dir.path().join("state"));
    command.env("XDG_CONFIG_HOME", crib.dir.path().join("config"));
    let long = "x".repeat(20_000);
    let lines: String = (0..60)
        .map(|at| format!("fs.write path=f{at} content={long}\n"))
        .collect();
    let ended = crate::ended(&mut command, lines.as_bytes());
    let written = (0..60)
        .filter(|at| crib.root().join(format!("f{at}")).exists())
        .count();
    assert!(
        ended.code != Some(0) && ended.stderr.contains("journal"),
        "{written} {ended:#?}"
    );
    assert!((1..60).contains(&written), "{written}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:#?}");
}

#[test]
fn audits_take_the_id_of_a_session() {
    let crib = Crib::new();
    crib.run(&["run", "time.now ; fs.list"]).expect(0);
    let id = &ids(&crib)[0];
    let head = crib.run(&["audit", "verify", id]).expect(0).stdout;
    assert!(head.starts_with("4:"), "{head}");
    assert_eq!(
        crib.run(&["audit", "show", &id[..6], "--json"])
            .expect(0)
            .documents()
            .len(),
        4
    );
    crib.run(&["audit", "show", "zzzzzzz"]).expect(2);
    // A file has precedence.
    std::fs::write(crib.root().join(id), "").unwrap();
    crib.run(&["audit", "verify", id]).expect(2);
}
