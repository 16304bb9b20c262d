//! Machines with weaker walls, or none.

use libtest_mimic::{Completion, Trial};
use serde_json::json;
use tools::{Answer, ErrorCode};
use tools_exec::Sandbox;
use tools_exec::walls::{Bubblewrap, Confinement, Layers};
use tools_testkit::{RecordingPerson, TempWorkspace};

use crate::setup::{ALL, host_with, run, sh, trial};

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

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        alone("with_landlock_alone_the_person_is_asked_before_a_program_writes", |layers| {
            let sandbox = || Sandbox::new().with_layers(layers.clone());
            for (answer, is_written) in [(Some(true), true), (Some(false), false), (None, false)] {
                let workspace = TempWorkspace::from_files([("file", "old"), ("sub/a", "")]);
                let person = RecordingPerson::new(answer.map(Answer::Confirmation));
                let host = host_with(&workspace, &ALL, sandbox());
                let host = if answer.is_some() { host.with_person(person.clone()) } else { host };
                let result = sh(&host, SCRIPT);
                assert_eq!(workspace.read("file") == "new\n", is_written, "{answer:?} {result}");
                assert_eq!(
                    result.contains("have changed: sub/.git"),
                    is_written,
                    "the result names the hook: {result}"
                );
                assert_eq!(result.contains("read-only"), !is_written, "{result}");
                assert_eq!(person.questions().len(), usize::from(answer.is_some()));
            }
            let workspace = TempWorkspace::from_files([("sub/a", "")]);
            for writable in [&[][..], &["fs:write:missing/**"], &["fs:write:sub"], &["fs:write:sub/*"]] {
                let person = RecordingPerson::new([]);
                let grant = [&["fs:read:**", "exec:write:**"], writable].concat();
                let answer = sh(&host_with(&workspace, &grant, sandbox()).with_person(person.clone()), "true");
                assert!(person.questions().is_empty(), "nothing can be written, so nothing is asked: {writable:?}");
                assert!(!answer.contains("read-only"), "{answer}");
            }
        }),
        alone("the_question_shows_the_command_line", |layers| {
            let workspace = TempWorkspace::new();
            let asked = |program: &str, args: &[&str]| {
                let person = RecordingPerson::new([Answer::Confirmation(false)]);
                let host = host_with(&workspace, &ALL, Sandbox::new().with_layers(layers.clone()));
                let arguments = json!({"program": program, "args": args, "env": ["A=b c"]});
                run(&host.with_person(person.clone()), arguments).unwrap();
                let [question] = &person.questions()[..] else { panic!("one question") };
                question.text().to_owned()
            };
            let shown = asked("sh", &["-c", "echo a\nrm -r \u{202e}b", "--"]);
            assert!(shown.ends_with("\nenv 'A=b c' sh -c $'echo a\\nrm -r \\u202eb' --"), "{shown}");
            let shown = asked("true", &["x".repeat(970).as_str(), "é".repeat(990).as_str()]);
            assert!(shown.ends_with("… and 980 more characters") && shown.contains("xxx 'é"), "{shown}");
        }),
        trial("without_walls_programs_run_only_if_the_user_says_so", || {
            let layers = Layers { landlock: None, seccomp: false, bubblewrap: Bubblewrap::Missing };
            let workspace = TempWorkspace::new();
            let outside = TempWorkspace::from_files([("file", "outside")]);
            let script = format!("cat {}", outside.join("file").display());
            let arguments = json!({"program": "sh", "args": ["-c", script]});
            let sandbox = || Sandbox::new().with_layers(layers.clone());
            let refused = run(&host_with(&workspace, &ALL, sandbox()), arguments.clone()).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::Unavailable);
            let answer = run(&host_with(&workspace, &ALL, sandbox().with_unconfined(true)), arguments).unwrap();
            assert!(answer.to_text().contains("outside") && answer.to_text().contains("without walls"), "{answer:?}");
        }),
    ]
}
