//! Scripts that hold a conversation: `run --resume ID PROMPT`.

use serde_json::Value;

use super::{ids, listed, unfinished, whole};
use crate::Crib;

#[test]
fn a_prompt_goes_on_with_a_finished_session() {
    let crib = Crib::new();
    let script = crib.script(&[
        r#"{"text": "one"}"#,
        r#"{"calls": [{"name": "time.now"}]}"#,
        r#"{"text": "two"}"#,
        r#"{"text": "three"}"#,
    ]);
    let run = |arguments: &[&str]| {
        let ended = crib.run(&[&["run"], arguments, &["--script", &script]].concat());
        ended.expect(0).stdout
    };
    assert_eq!(run(&["a"]), "one\n");
    let id = ids(&crib).remove(0);
    assert_eq!(run(&["--resume", &id, "b"]), "two\n");
    // Without an ID, the newest one: the prompt stands before the flag.
    let stream = run(&["c", "--output", "stream-json", "--resume"]);
    let last: Value = serde_json::from_str(stream.lines().last().unwrap()).unwrap();
    assert_eq!(last["text"], "three", "{stream}");
    assert_eq!(listed(&crib).len(), 1);
    let shown = crib
        .run(&["run", "--resume", "--script", &script])
        .expect(0);
    assert_eq!(shown.stdout, "three\n");
}

#[test]
fn a_prompt_of_standard_input_and_a_file_go_on_too() {
    let crib = Crib::new();
    crib.run(&["run", "time.now", "--provider", "direct"])
        .expect(0);
    let ended = crib.run_with_input(
        &["run", "--resume", &ids(&crib)[0], "-"],
        b"fs.read path=README.md",
    );
    assert_eq!(ended.expect(0).stdout, "# Hello\n");
    let ended = crib
        .run(&["run", "--attach", "README.md", "--resume"])
        .expect(2);
    assert!(ended.stderr.contains("README.md"), "{ended:#?}");
}

#[test]
fn a_session_without_its_answer_takes_no_further_prompt() {
    let crib = Crib::new();
    let script = unfinished(&crib);
    crib.run(&[
        "run",
        "write it",
        "--script",
        &script,
        "--grant",
        "fs:write:**",
    ])
    .expect(1);
    std::fs::copy(whole(&crib), &script).unwrap();
    let id = ids(&crib).remove(0);
    let ended = crib
        .run(&["run", "--resume", &id, "next", "--script", &script])
        .expect(2);
    let expected = format!("hint: toolcrib run --script {script} --resume {id}\n");
    assert!(
        ended.stdout.is_empty()
            && ended.stderr.contains("not answered yet")
            && ended.stderr.ends_with(&expected),
        "{ended:#?}"
    );
    let ended = crib
        .run(&["run", "--resume", &id, "--script", &script])
        .expect(0);
    assert_eq!(ended.stdout, "Written.\n");
}

#[test]
fn a_prompt_in_the_place_of_the_id_is_explained() {
    let crib = Crib::new();
    crib.run(&["run", "time.now", "--provider", "direct"])
        .expect(0);
    let ended = crib.run(&["run", "--resume", "time.now zone=UTC"]);
    assert!(
        ended.code != Some(0)
            && ended
                .stderr
                .contains("hint: write the ID before the prompt"),
        "{ended:#?}"
    );
}

#[test]
fn the_hint_repeats_every_flag_of_the_session() {
    let crib = Crib::new();
    let script = unfinished(&crib);
    let flags = [
        "--root",
        "sub",
        "--select",
        "fs.*",
        "--script",
        &script,
        "--no-default-grants",
        "--grant",
        "fs:write:**",
        "--max-steps",
        "9",
        "--no-config",
    ];
    let ended = crib
        .run(&[&["run", "write it"], &flags[..]].concat())
        .expect(1);
    let (_, command) = ended
        .stderr
        .trim_end()
        .rsplit_once("to continue it: toolcrib ")
        .unwrap();
    let words = shlex::split(command).unwrap();
    for flag in flags {
        assert!(words.iter().any(|word| word == flag), "{flag}: {command}");
    }
    std::fs::copy(whole(&crib), &script).unwrap();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert_eq!(crib.run(&words).expect(0).stdout, "Written.\n");
    assert!(crib.root().join("sub/a.txt").exists());
}
