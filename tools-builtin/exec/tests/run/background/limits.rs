//! The permissions and the number of background programs.

use libtest_mimic::Trial;
use serde_json::json;
use tools::{Answer, ErrorCode, Tasks};
use tools_testkit::{RecordingPerson, TempWorkspace};

use super::session::{ALL, Session};
use crate::setup::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "background::a_start_needs_the_permission_of_its_command",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(
                    &workspace,
                    &["fs:read:**", "exec:write:cat", "program:read:**"],
                );
                session.start("cat", &[]);
                for (tool, arguments) in [
                    ("exec.start", json!({"program": "sh", "args": ["-c", "id"]})),
                    ("exec.start", json!({"program": "cat", "args": ["f"]})),
                    ("exec.write", json!({"handle": "t1", "text": "x\n"})),
                    ("exec.stop", json!({"handle": "t1"})),
                ] {
                    let error = session.call(tool, arguments.clone()).unwrap_err();
                    assert_eq!(
                        error.code(),
                        ErrorCode::PermissionDenied,
                        "{tool} {arguments}"
                    );
                }
                session.call("exec.read", json!({"handle": "t1"})).unwrap();
            },
        ),
        trial(
            "background::a_person_agrees_to_each_text_that_a_program_can_run",
            || {
                let grant = [
                    "fs:read:**",
                    "exec:write:sh **",
                    "exec:write:sqlite3 **",
                    "exec:write:cat **",
                    "program:*:**",
                ];
                let write = |session: &Session, text: &str| {
                    session.call("exec.write", json!({"handle": "t1", "text": text}))
                };
                for (program, args, is_asked) in [
                    ("sh", &[] as &[&str], true),
                    ("sh", &["-c", "cat"], true),
                    ("cat", &["-", "sqlite3"], true),
                    ("cat", &[], false),
                ] {
                    let workspace = TempWorkspace::new();
                    let answers = [
                        Answer::Confirmation(true),
                        Answer::Confirmation(false),
                        Answer::Declined,
                    ];
                    let person = RecordingPerson::new(answers);
                    let mut session = Session::new(&workspace, &grant);
                    session.host = session.host.with_person(person.clone());
                    session.start(program, args);
                    write(&session, "echo one\n").unwrap();
                    for text in ["echo two\n", "echo three\n", "echo four\n"] {
                        assert_eq!(
                            write(&session, text).is_err(),
                            is_asked,
                            "{program} {args:?}"
                        );
                    }
                    let questions = person.questions();
                    assert_eq!(
                        questions.len(),
                        if is_asked { 4 } else { 0 },
                        "{program} {args:?}"
                    );
                    assert!(
                        questions
                            .iter()
                            .all(|question| question.text().contains("\n  | echo ")),
                        "{questions:?}"
                    );
                    // A question shows all of a text, so there is none about one that is too long.
                    let long = write(&session, &format!("{}\n", "x".repeat(3000)));
                    assert_eq!(
                        (long.is_err(), person.questions().len()),
                        (is_asked, questions.len())
                    );
                }
            },
        ),
        trial(
            "background::programs_are_listed_with_their_state_and_command",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                assert_eq!(
                    session.call("exec.list", json!({})).unwrap(),
                    "[no background programs]"
                );
                session.start("sh", &["-c", "exit 4"]);
                session.start("tail", &["-f", "a file"]);
                session.start("sleep", &["1000"]);
                session.read_on(String::new(), "t1", "exit code 4");
                let list = session.call("exec.list", json!({})).unwrap();
                let lines: Vec<_> = list.lines().collect();
                assert_eq!(lines[0], "t1: exit code 4: sh -c 'exit 4'");
                assert!(
                    lines[1].starts_with("t2: ") && lines[1].ends_with(": tail -f 'a file'"),
                    "{list}"
                );
                assert!(
                    lines[2].starts_with("t3: runs for ") && lines[2].ends_with(": sleep 1000"),
                    "{list}"
                );
            },
        ),
        trial("background::at_most_eight_run_at_once", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            // Programs that have ended do not count.
            for _ in 0..10 {
                session.start("true", &[]);
            }
            let child = session.sub_agent();
            for _ in 0..4 {
                session.start("sleep", &["1000"]);
                child.start("sleep", &["1000"]);
            }
            for session in [&session, &child] {
                let refused = session
                    .call("exec.start", json!({"program": "true"}))
                    .unwrap_err()
                    .to_string();
                assert!(refused.contains("stop one"), "{refused}");
            }
            assert!(
                !session
                    .call("exec.list", json!({}))
                    .unwrap()
                    .contains("t1:")
            );
            session.call("exec.stop", json!({"handle": "t11"})).unwrap();
            child.start("true", &[]);
        }),
        trial(
            "background::a_sub_agent_does_not_push_out_ended_programs_of_its_parent",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.start("echo", &["of the parent"]);
                let child = session.sub_agent();
                for _ in 0..10 {
                    child.start("true", &[]);
                }
                session.call("exec.read", json!({"handle": "t1"})).unwrap();
            },
        ),
        trial(
            "background::a_program_is_a_task_whose_result_can_be_read_again",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.start(
                    "sh",
                    &[
                        "-c",
                        "while [ ! -e go ]; do sleep 0.01; done; echo last; exit 5",
                    ],
                );
                let tasks = session.host.context().service::<Tasks>().unwrap();
                let task = tasks.find("t1").unwrap();
                // A call of a tool would take the output if it is already there.
                std::fs::write(workspace.path().join("go"), "").unwrap();
                let ended = session.block_on(tasks.next_ended());
                assert_eq!(
                    (&*ended.tool, ended.state.to_string()),
                    ("exec.start", "exit code 5".to_owned())
                );
                for _ in 0..2 {
                    let result = session
                        .block_on(tasks.result(session.host.context(), "t1"))
                        .unwrap()
                        .to_text();
                    assert_eq!(result, "[exit code 5]\nstdout:\nlast\n");
                }
                assert!(task.title().starts_with("sh -c "));
            },
        ),
        trial(
            "background::the_end_of_a_program_is_told_unless_an_answer_has_told_it",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                let tasks = session.host.context().service::<Tasks>().unwrap();
                for _ in 0..2 {
                    session.start("sh", &["-c", "while [ ! -e go ]; do sleep 0.01; done"]);
                }
                // No call answers while the programs end.
                std::fs::write(workspace.path().join("go"), "").unwrap();
                for handle in ["t1", "t2"] {
                    session.block_on(tasks.find(handle).unwrap().wait_end());
                }
                session
                    .call("exec.read", json!({"handle": "t2", "wait": 0}))
                    .unwrap();
                let untold: Vec<_> = tasks
                    .take_untold()
                    .into_iter()
                    .map(|info| info.handle)
                    .collect();
                assert_eq!(untold, ["t1"]);
            },
        ),
        trial("background::agents_reach_their_own_programs_alone", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            session.start("cat", &[]);
            let child = session.sub_agent();
            assert!(child.start("cat", &[]).starts_with("[t2: runs"));
            for (agent, own, other) in [(&session, "t1", "t2"), (&child, "t2", "t1")] {
                for tool in ["exec.read", "exec.stop", "exec.write"] {
                    let mut arguments = json!({"handle": other});
                    if tool == "exec.write" {
                        arguments["text"] = "x\n".into();
                    }
                    let error = agent.call(tool, arguments).unwrap_err().to_string();
                    assert!(error.ends_with(&format!("choose from {own}")), "{error}");
                }
                let list = agent.call("exec.list", json!({})).unwrap();
                assert!(list.contains(own) && !list.contains(other), "{list}");
            }
        }),
    ]
}
