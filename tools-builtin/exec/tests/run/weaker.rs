//! Machines with weaker walls, or none.

use libtest_mimic::{Completion, Trial};
use serde_json::{Value, json};
use tools::{Answer, Decision, ErrorCode};
use tools_exec::Sandbox;
use tools_exec::walls::{Bubblewrap, Confinement, Layers};
use tools_testkit::{RecordingApprover, RecordingPerson, TempWorkspace};

use crate::setup::{ALL, call, host_with, run, sh, text, trial};

const SCRIPT: &str = "echo new > file; mkdir -p sub/.git/hooks; echo new > sub/.git/hooks/x";

/// A test without bubblewrap, which is left out, with the reason, if this machine has not enough of Landlock.
fn alone(name: &str, test: fn(&Layers)) -> Trial {
    Trial::ignorable_test(name, move || {
        let layers = Layers::probe().without_bubblewrap();
        match layers.confinement() {
            Ok(Confinement::LandlockAlone) => test(&layers),
            other => return Ok(Completion::ignored_with(format!("{other:?}"))),
        }
        Ok(Completion::Completed)
    })
}

/// Returns a sandbox with these layers.
fn behind(layers: &Layers) -> Sandbox {
    Sandbox {
        layers: layers.clone().into(),
        ..Sandbox::default()
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        alone(
            "with_landlock_alone_the_person_is_asked_before_a_program_writes",
            |layers| {
                let sandbox = || behind(layers);
                for (answer, is_written) in
                    [(Some(true), true), (Some(false), false), (None, false)]
                {
                    let workspace = TempWorkspace::from_files([("file", "old"), ("sub/a", "")]);
                    let person = RecordingPerson::new(answer.map(Answer::Confirmation));
                    let host = host_with(&workspace, &ALL, sandbox());
                    let host = if answer.is_some() {
                        host.with_person(person.clone())
                    } else {
                        host
                    };
                    let result = sh(&host, SCRIPT);
                    assert_eq!(
                        workspace.read("file") == "new\n",
                        is_written,
                        "{answer:?} {result}"
                    );
                    assert_eq!(
                        result.contains("have changed: sub/.git"),
                        is_written,
                        "the result names the hook: {result}"
                    );
                    assert_eq!(result.contains("read-only"), !is_written, "{result}");
                    assert_eq!(person.questions().len(), usize::from(answer.is_some()));
                }
                let workspace = TempWorkspace::from_files([("sub/a", "")]);
                for writable in [
                    &[][..],
                    &["fs:write:missing/**"],
                    &["fs:write:sub"],
                    &["fs:write:sub/*"],
                ] {
                    let person = RecordingPerson::new([]);
                    let grant = [&["fs:read:**", "exec:write:**"], writable].concat();
                    let answer = sh(
                        &host_with(&workspace, &grant, sandbox()).with_person(person.clone()),
                        "true",
                    );
                    assert!(
                        person.questions().is_empty(),
                        "nothing can be written, so nothing is asked: {writable:?}"
                    );
                    assert!(!answer.contains("read-only"), "{answer}");
                }
            },
        ),
        alone(
            "the_question_shows_all_that_the_program_is_told",
            |layers| {
                let workspace = TempWorkspace::from_files([("sub/a", "")]);
                let asked = |tool: &str, arguments: Value| {
                    let person = RecordingPerson::new([Answer::Confirmation(false)]);
                    let host = host_with(&workspace, &ALL, behind(layers));
                    let host = host
                        .with_approver(RecordingApprover::new(Decision::Allow))
                        .with_person(person.clone());
                    call(&host, tool, arguments).unwrap();
                    let [question] = &person.questions()[..] else {
                        panic!("one question")
                    };
                    question.text().split_once('\n').unwrap().1.to_owned()
                };
                let diff = "--- .git/hooks/a\n+++ b\u{202e}\n";
                for (tool, arguments, shown) in [
                    (
                        "exec.run",
                        json!({"program": "sh", "args": ["-c", "echo a\nrm -r \u{202e}b", "--"], "env": ["A=b c"]}),
                        "runs: env 'A=b c' sh -c $'echo a\\nrm -r \\u202eb' --",
                    ),
                    (
                        "exec.run",
                        json!({"program": "cat", "cwd": "sub", "stdin": diff}),
                        "runs: cat\nin: sub\nstandard input: $'--- .git/hooks/a\\n+++ b\\u202e\\n'",
                    ),
                    (
                        "exec.shell",
                        json!({"script": "echo 'a  b' && cat\n\u{202e}x", "env": ["A=b c"], "stdin": "c", "cwd": "sub"}),
                        "runs by bash:\n  | echo 'a  b' && cat\n  | \\u{202e}x\nvariable: 'A=b c'\nin: sub\nstandard input: c",
                    ),
                ] {
                    assert_eq!(asked(tool, arguments), shown);
                }
            },
        ),
        alone(
            "a_program_that_no_question_can_show_whole_reads_only",
            |layers| {
                let workspace = TempWorkspace::from_files([("file", "old")]);
                for (tool, arguments) in [
                    (
                        "exec.run",
                        json!({"program": "sh", "args": ["-c", format!("#{}\necho new > file", "a".repeat(2000))]}),
                    ),
                    (
                        "exec.run",
                        json!({"program": "tee", "args": ["file"], "stdin": "new".repeat(700)}),
                    ),
                    (
                        "exec.shell",
                        json!({"script": format!("#{}\necho new > file", "a".repeat(2000))}),
                    ),
                ] {
                    let person = RecordingPerson::new([Answer::Confirmation(true)]);
                    let host = host_with(&workspace, &ALL, behind(layers));
                    let answer =
                        text(call(&host.with_person(person.clone()), tool, arguments).unwrap());
                    assert_eq!(
                        (person.questions().len(), &*workspace.read("file")),
                        (0, "old"),
                        "{tool} {answer}"
                    );
                    assert!(
                        answer.contains("too long for a question") && answer.contains("read-only"),
                        "{answer}"
                    );
                }
            },
        ),
        alone(
            "nobody_is_asked_about_a_program_that_cannot_start",
            |layers| {
                let workspace = TempWorkspace::from_files([("sub/a", "")]);
                for (program, cwd, grant) in [
                    ("no-such-program", ".", &ALL[..]),
                    (
                        "true",
                        "other",
                        &["fs:read:sub/**", "fs:write:sub/**", "exec:write:**"],
                    ),
                ] {
                    let person = RecordingPerson::new([Answer::Confirmation(true)]);
                    let host = host_with(&workspace, grant, behind(layers));
                    let arguments = json!({"program": program, "cwd": cwd});
                    run(&host.with_person(person.clone()), arguments).unwrap_err();
                    assert_eq!(person.questions(), [], "{program} {cwd}");
                }
            },
        ),
        alone("a_fault_of_the_host_at_the_question_is_told", |layers| {
            let workspace = TempWorkspace::from_files([("file", "old")]);
            let person = RecordingPerson::new([Answer::Text("yes".to_owned())]);
            let host = host_with(&workspace, &ALL, behind(layers)).with_person(person);
            let answer = sh(&host, "echo new > file");
            assert!(
                answer.contains("the host failed to ask") && answer.contains("read-only"),
                "{answer}"
            );
            assert_eq!(workspace.read("file"), "old");
        }),
        alone(
            "a_preview_announces_a_question_only_if_there_is_one",
            |layers| {
                let workspace = TempWorkspace::from_files([("sub/a", "")]);
                for (folder, is_asked) in [("sub", true), ("missing", false)] {
                    let approver = RecordingApprover::new(Decision::Allow);
                    let grant = ["fs:read:**".to_owned(), format!("fs:write:{folder}/**")];
                    let sandbox = behind(layers);
                    let host =
                        host_with(&workspace, &grant.each_ref().map(String::as_str), sandbox);
                    sh(&host.with_approver(approver.clone()), "true");
                    let preview = approver.requests().remove(0).preview.unwrap().unwrap();
                    assert_eq!(
                        preview.text().contains("after one more question"),
                        is_asked,
                        "{}",
                        preview.text()
                    );
                }
            },
        ),
        trial(
            "without_walls_programs_run_only_if_the_user_says_so",
            || {
                let layers = Layers {
                    landlock: None,
                    seccomp: false,
                    bubblewrap: Bubblewrap::Missing,
                };
                let workspace = TempWorkspace::new();
                let outside = TempWorkspace::from_files([("file", "outside")]);
                let script = format!("cat {}", outside.join("file").display());
                let arguments = json!({"program": "sh", "args": ["-c", script]});
                let sandbox = || behind(&layers);
                let refused =
                    run(&host_with(&workspace, &ALL, sandbox()), arguments.clone()).unwrap_err();
                assert_eq!(refused.code(), ErrorCode::Unavailable);
                let answer = run(
                    &host_with(
                        &workspace,
                        &ALL,
                        Sandbox {
                            may_run_unconfined: true,
                            ..sandbox()
                        },
                    ),
                    arguments,
                )
                .unwrap();
                assert!(
                    answer.to_text().contains("outside")
                        && answer.to_text().contains("without walls"),
                    "{answer:?}"
                );
            },
        ),
    ]
}
