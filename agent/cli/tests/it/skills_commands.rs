//! The commands on skills, and what `doctor` says about them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::json;

use crate::skills::{PLAIN, approve, digest, run, section, write};
use crate::{Crib, Ended};

/// Returns a text with one space between words, whatever the width of the terminal is.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the lines of `doctor` that begin with this word.
fn doctor(crib: &Crib, word: &str) -> String {
    let shown = flat(&run(crib, &["doctor"]).stdout);
    shown[shown.find(word).unwrap_or_else(|| panic!("{shown}"))..].to_owned()
}

#[test]
fn a_full_folder_of_the_project_is_reported_and_the_users_skills_stay() {
    let crib = Crib::new();
    write(&crib, "home/.agents/skills/moon/SKILL.md", PLAIN);
    write(&crib, "root/.agents/skills/.keep", "");
    (0..5_001).for_each(|number| {
        fs::write(crib.root().join(format!(".agents/skills/{number}")), "").unwrap()
    });
    assert!(
        section(&crib, &[])
            .unwrap()
            .contains("- moon (of the user)")
    );
    let listed = run(&crib, &["skills", "--json"]).expect(0);
    assert!(
        flat(&listed.stderr).contains("it has more than 500 skills, 5000 entries or 16 MiB"),
        "{listed:#?}"
    );
    assert_eq!(listed.documents().len(), 1);
    let doctor = run(&crib, &["doctor", "--json"]).expect(8).documents();
    let messages: Vec<_> = doctor
        .iter()
        .filter(|finding| finding["check"] == "skill")
        .collect();
    assert!(
        messages.len() == 1
            && messages[0]["message"]
                .as_str()
                .unwrap()
                .contains("5000 entries"),
        "{doctor:?}"
    );
    fs::remove_dir_all(crib.root().join(".agents")).unwrap();
    // Places that are no skills are named, but not all of them.
    (0..7).for_each(|number| write(&crib, &format!("root/.agents/skills/{number}.md"), ""));
    let listed = run(&crib, &["skills"]).expect(0);
    assert_eq!(
        listed.stderr.matches("a skill is a folder").count(),
        5,
        "{listed:#?}"
    );
    assert!(
        flat(&listed.stderr).contains("2 more places have no usable skill; toolcrib doctor names"),
        "{listed:#?}"
    );
}

#[test]
fn the_files_of_a_folder_are_not_read_before_it_is_approved() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    std::os::unix::fs::symlink("/etc", crib.root().join(".agents/skills/moon/etc")).unwrap();
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    assert!(
        listed.contains("moon (project): waits for approval"),
        "{listed}"
    );
    let refused = run(&crib, &["skills", "approve", "moon"]);
    assert!(
        refused.code != Some(0) && refused.stderr.contains("etc is a link"),
        "{refused:#?}"
    );
    fs::remove_file(crib.root().join(".agents/skills/moon/etc")).unwrap();
    approve(&crib, "moon");
    // Another folder of this name is not the approved one, whatever is in it.
    write(&crib, "root/.claude/skills/moon/SKILL.md", PLAIN);
    std::os::unix::fs::symlink("/etc", crib.root().join(".claude/skills/moon/etc")).unwrap();
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    assert!(listed.contains("moon (project): ready"), "{listed}");
    let namesake = "moon (project): waits for approval; another skill has this name; rename one";
    assert!(
        listed.contains(namesake) && !listed.contains("has changed"),
        "{listed}"
    );
    run(
        &crib,
        &["run", "--provider", "direct", "skill.load name=moon"],
    )
    .expect(0);
    // The approved one is read.
    std::os::unix::fs::symlink("/etc", crib.root().join(".agents/skills/moon/etc")).unwrap();
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    assert!(
        listed.contains("moon (project): unusable: etc is a link"),
        "{listed}"
    );
}

#[test]
fn the_digest_that_show_prints_is_the_one_to_approve() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    write(
        &crib,
        "root/.agents/skills/moon/references/phases.md",
        "four\n",
    );
    let shown = run(&crib, &["skills", "show", "moon"]).expect(0);
    for part in [
        "  file SKILL.md: \"",
        "  file references/phases.md: \"",
        "  folder: \".agents/skills/moon\"",
        "Count the days.",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
    let approved = run(
        &crib,
        &["skills", "approve", "moon", "--digest", &digest(&shown)],
    )
    .expect(0);
    assert!(
        approved.stderr.contains("approved the skill moon"),
        "{approved:#?}"
    );
    assert!(section(&crib, &[]).is_some());
    write(
        &crib,
        "home/.agents/skills/sun/SKILL.md",
        "---\nname: sun\ndescription: Is hot.\n---\nLook away.\n",
    );
    let shown = run(&crib, &["skills", "show", "sun"]).expect(0).stdout;
    assert!(
        shown.contains("  file SKILL.md: \"") && !shown.contains("digest: "),
        "{shown}"
    );
}

#[test]
fn the_list_says_what_sessions_may_use() {
    let crib = Crib::new();
    let listed = flat(&run(&crib, &["skills"]).expect(0).stdout);
    assert_eq!(
        listed,
        "there are no skills; toolcrib skills --help says where they are looked for"
    );
    assert!(
        run(&crib, &["skills", "--json"])
            .expect(0)
            .documents()
            .is_empty()
    );
    assert!(
        doctor(&crib, "skills: ")
            .starts_with("skills: none; put folders with a SKILL.md below .agents/skills")
    );
    write(&crib, "home/.agents/skills/moon/SKILL.md", PLAIN);
    write(
        &crib,
        "root/.agents/skills/sun/SKILL.md",
        "---\ndescription: Is\u{202e} hot.\n---\nLook away.\n",
    );
    let place = |path: &str| {
        crib.dir
            .path()
            .canonicalize()
            .unwrap()
            .join(path)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let sun = json!({
        "name": "sun", "origin": "project", "path": place("root/.agents/skills/sun"),
        "standing": "waits for approval; run toolcrib skills approve sun", "description": "Is\u{202e} hot.",
        "faults": ["there is no name; that of the folder stands for it"],
    });
    let moon = json!({
        "name": "moon", "origin": "user", "path": crib.dir.path().join("home/.agents/skills/moon").to_str().unwrap(),
        "standing": "ready", "description": "Tells the phase of the moon.", "faults": [],
    });
    assert_eq!(
        run(&crib, &["skills", "list", "--json"])
            .expect(0)
            .documents(),
        [sun, moon]
    );
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    assert!(
        listed.contains("\n  Is<U+202E> hot.\n") && listed.contains("moon (user): ready\n"),
        "{listed}"
    );
    let lines = doctor(&crib, "skills: ");
    assert!(
        lines.starts_with(
            "skills: 1 skill ready of 2 skill sun (of the project): waits for approval; run"
        ) && !lines.contains("skill moon"),
        "{lines}"
    );
    write(&crib, "home/.claude/skills/other/SKILL.md", PLAIN);
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    let conflicts: Vec<_> = listed
        .lines()
        .filter(|line| line.starts_with("moon (user): conflict"))
        .collect();
    let places = ["home/.agents/skills/moon", "home/.claude/skills/other"];
    assert!(
        conflicts.len() == 2 && !listed.contains("ready"),
        "{listed}"
    );
    assert!(
        conflicts
            .iter()
            .all(|line| places.iter().all(|place| line.contains(place))),
        "{listed}"
    );
}

#[test]
fn a_configured_folder_that_is_missing_is_named() {
    let crib = Crib::new();
    let missing = crib.dir.path().join("missing");
    write(
        &crib,
        "config/toolcrib/toolcrib.toml",
        &format!("skills.folders = [{:?}]\n", missing.to_str().unwrap()),
    );
    let findings = run(&crib, &["doctor", "--json"]).expect(8).documents();
    let messages: Vec<_> = findings
        .iter()
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    let expected = format!(
        "{}: there is no such folder; create it, or change skills.folders",
        missing.display()
    );
    assert_eq!(messages, [&*expected]);
    assert!(flat(&run(&crib, &["skills"]).expect(0).stderr).contains("there is no such folder"));
    fs::create_dir(missing).unwrap();
    run(&crib, &["doctor"]).expect(0);
}

#[test]
fn an_approval_names_what_is_new_changed_and_removed() {
    let crib = Crib::new();
    for file in ["SKILL.md", "old.md", "kept.md"] {
        write(&crib, &format!("root/.agents/skills/moon/{file}"), PLAIN);
    }
    let shown = approve(&crib, "moon").stdout;
    assert!(!shown.contains("since the approval"), "{shown}");
    assert_eq!(
        run(&crib, &["skills", "approve", "moon"]).expect(0).stdout,
        "moon: approved\n"
    );
    fs::rename(
        crib.root().join(".agents/skills/moon/old.md"),
        crib.root().join(".agents/skills/moon/new.md"),
    )
    .unwrap();
    write(
        &crib,
        "root/.agents/skills/moon/SKILL.md",
        &PLAIN.replace("days", "nights"),
    );
    let listed = run(&crib, &["skills"]).expect(0).stdout;
    assert!(
        listed.contains("since it was approved (file SKILL.md, file new.md, file old.md); run"),
        "{listed}"
    );
    let shown = approve(&crib, "moon").stdout;
    let line = |file: &str| {
        shown
            .lines()
            .find(|line| line.contains(file))
            .unwrap_or_else(|| panic!("{shown}"))
    };
    assert!(
        line("SKILL.md").ends_with("\" (changed since the approval)"),
        "{shown}"
    );
    assert!(
        line("new.md").ends_with("\" (new since the approval)"),
        "{shown}"
    );
    assert_eq!(line("old.md"), "  file old.md: removed since the approval");
    assert!(
        line("kept.md").ends_with('"') && line("folder").ends_with('"'),
        "{shown}"
    );
    for note in [
        "revoked the approval of the skill moon",
        "there was no approval of the skill moon",
    ] {
        assert!(
            flat(&run(&crib, &["skills", "revoke", "moon"]).expect(0).stderr).contains(note),
            "{note}"
        );
    }
}

#[test]
fn a_list_names_few_of_many_changed_files() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    approve(&crib, "moon");
    (0..12).for_each(|number| {
        write(
            &crib,
            &format!("root/.agents/skills/moon/new{number:02}"),
            "x\n",
        )
    });
    let listed = flat(&run(&crib, &["skills"]).expect(0).stdout);
    assert!(
        listed.contains("(file new00, file new01, file new02, file new03, file new04 and 7 more)"),
        "{listed}"
    );
    // A folder that has moved is named as the change.
    fs::rename(
        crib.root().join(".agents/skills/moon"),
        crib.root().join(".agents/skills/other"),
    )
    .unwrap();
    let listed = flat(&run(&crib, &["skills"]).expect(0).stdout);
    assert!(
        listed.contains("moon (project): has changed since it was approved (folder); run"),
        "{listed}"
    );
}

#[test]
fn only_a_skill_of_the_project_is_approved_and_only_one_of_a_name() {
    let crib = Crib::new();
    write(&crib, "home/.agents/skills/moon/SKILL.md", PLAIN);
    let own = run(&crib, &["skills", "approve", "moon"]).expect(0);
    assert!(
        flat(&own.stderr).contains("the skill moon is yours, and needs no approval"),
        "{own:#?}"
    );
    for command in ["approve", "revoke"] {
        run(&crib, &["skills", command, "sun"]).expect(3);
    }
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    write(&crib, "root/.claude/skills/moon/SKILL.md", PLAIN);
    let clash = run(&crib, &["skills", "approve", "moon"]).expect(2);
    assert!(
        flat(&clash.stderr).contains("several skills of the project are called \"moon\""),
        "{clash:#?}"
    );
    assert_eq!(
        run(&crib, &["skills", "show", "moon"])
            .expect(0)
            .stdout
            .matches("Count the days.")
            .count(),
        3
    );
}

#[test]
fn the_approval_of_a_name_that_another_skill_has_warns_that_neither_is_used_then() {
    let crib = Crib::new();
    write(
        &crib,
        "home/.agents/skills/moon/SKILL.md",
        &PLAIN.replace("name: moon", "name: Moon"),
    );
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    write(
        &crib,
        "root/.agents/skills/sun/SKILL.md",
        &PLAIN.replace("moon", "sun"),
    );
    let asked = run(&crib, &["skills", "approve", "moon"]).expect(5);
    let warning = flat(&asked.stderr).replace("- ", "-");
    assert!(
        warning.contains("warning: the skill Moon at ") && warning.contains("neither is used"),
        "{asked:#?}"
    );
    let approved = run(
        &crib,
        &["skills", "approve", "moon", "--digest", &digest(&asked)],
    )
    .expect(0);
    assert!(
        !flat(&approved.stderr).contains("may use it"),
        "{approved:#?}"
    );
    let asked = run(&crib, &["skills", "approve", "sun"]).expect(5);
    assert!(!asked.stderr.contains("warning"), "{asked:#?}");
    let approved = run(
        &crib,
        &["skills", "approve", "sun", "--digest", &digest(&asked)],
    )
    .expect(0);
    assert!(
        flat(&approved.stderr).contains("may use it"),
        "{approved:#?}"
    );
}

#[test]
fn a_skill_that_changes_during_a_session_names_the_command_that_approves_it() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    approve(&crib, "moon");
    let mut command = crib.command(&["chat", "--provider", "direct"]);
    let command = command.env("HOME", crib.dir.path().join("home"));
    let mut chat = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (
        chat.stdin.take().unwrap(),
        BufReader::new(chat.stdout.take().unwrap()),
    );
    writeln!(input, "skill.load name=moon").unwrap();
    let mut lines = output.lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("Count the days.")));
    write(&crib, "root/.agents/skills/moon/more.md", "x");
    writeln!(input, "skill.load name=moon").unwrap();
    drop(input);
    let ended: Ended = chat.wait_with_output().unwrap().into();
    let text = flat(&ended.stderr);
    assert!(
        text.contains("has changed since this session began (more.md)"),
        "{text}"
    );
    assert!(text.contains("run toolcrib skills approve moon"), "{text}");
}

/// Returns the text of the error that a model would read, and standard error.
fn refused(crib: &Crib, call: &[&str]) -> [String; 2] {
    let ended = run(crib, &[&["call", "--json"], call].concat());
    assert!(ended.code != Some(0), "{ended:#?}");
    [ended.documents()[0].to_string(), flat(&ended.stderr)]
}

#[test]
fn a_skill_that_waits_or_has_changed_is_not_called_unknown_and_none_of_its_text_is_shown() {
    let crib = Crib::new();
    write(
        &crib,
        "home/.agents/skills/sun/SKILL.md",
        &PLAIN.replace("moon", "sun"),
    );
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    let states = [
        "it waits for approval",
        "it has changed since it was approved",
    ];
    for state in states {
        for call in [
            &["skill.load", "name=moon"][..],
            &["skill.read", "name=moon", "path=SKILL.md"],
        ] {
            let [text, _] = refused(&crib, call);
            assert!(
                text.contains(state) && text.contains("run toolcrib skills approve moon"),
                "{text}"
            );
            assert!(
                ["Tells", "Count", "obey.md"]
                    .iter()
                    .all(|part| !text.contains(part)),
                "{text}"
            );
        }
        // A model that does not know the name does not learn it.
        let [text, _] = refused(&crib, &["skill.load", "name=mooon"]);
        assert!(
            text.contains("there is no skill") && !text.contains("moon"),
            "{text}"
        );
        approve(&crib, "moon");
        run(&crib, &["call", "skill.load", "name=moon"]).expect(0);
        write(&crib, "root/.agents/skills/moon/obey.md", "x\n");
    }
    std::os::unix::fs::symlink("/etc", crib.root().join(".agents/skills/moon/etc")).unwrap();
    let [text, _] = refused(&crib, &["skill.load", "name=moon"]);
    assert!(
        text.contains("it cannot be used") && !text.contains("etc is a link"),
        "{text}"
    );
    // Without any skill, the tools are missing.
    fs::remove_dir_all(crib.dir.path().join("home/.agents")).unwrap();
    let [text, _] = refused(&crib, &["skill.load", "name=moon"]);
    assert!(
        text.contains("wait for approval") && text.contains("toolcrib skills"),
        "{text}"
    );
}

#[test]
fn a_call_of_a_skill_tool_warns_as_a_session_does() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    let warning = "warning: the skill moon of the project waits for approval; run toolcrib skills approve moon";
    let session = flat(
        &run(&crib, &["run", "--provider", "direct", "time.now"])
            .expect(0)
            .stderr,
    );
    assert!(session.contains(warning), "{session}");
    let [_, call] = refused(&crib, &["skill.load", "name=moon"]);
    assert!(call.contains(warning), "{call}");
    assert_eq!(run(&crib, &["call", "time.now"]).expect(0).stderr, "");
}

#[test]
fn a_session_warns_of_the_skills_that_it_does_not_have() {
    let crib = Crib::new();
    let warnings = |count: usize| {
        (0..count).for_each(|number| {
            write(
                &crib,
                &format!("root/.agents/skills/s{number}/SKILL.md"),
                "",
            )
        });
        flat(
            &run(&crib, &["run", "--provider", "direct", "time.now"])
                .expect(0)
                .stderr,
        )
    };
    let three = warnings(3);
    assert!(
        (0..3).all(|number| three.contains(&format!(
            "the skill s{number} of the project waits for approval"
        ))),
        "{three}"
    );
    let four = warnings(4);
    assert!(
        four.contains("4 skills of the project are not used; toolcrib skills says why"),
        "{four}"
    );
    assert!(!four.contains("waits for approval"), "{four}");
}

#[cfg(feature = "default")]
#[test]
fn a_channel_whose_file_is_a_folder_around_the_root_takes_no_skill_away() {
    let crib = Crib::new();
    write(&crib, "root/.agents/skills/moon/SKILL.md", PLAIN);
    approve(&crib, "moon");
    for folder in [crib.root(), crib.dir.path().to_owned()] {
        let channel = format!(
            "[channels.log]\ntype = 'file'\npath = '{}'\n",
            folder.display()
        );
        write(&crib, "config/toolcrib/toolcrib.toml", &channel);
        assert!(
            run(&crib, &["skills"])
                .expect(0)
                .stdout
                .contains("moon (project): ready")
        );
        assert!(section(&crib, &[]).is_some_and(|text| text.contains("moon")));
    }
}
