//! A person is told about protected files that programs leave or change, whichever command runs the session.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::own_files::put;
use crate::{Crib, Ended};

/// A call of a program that leaves `AGENTS.md` and changes `CLAUDE.md`, which the grant names.
const PLANT: &str = "exec.run program=./plant.sh";

const FLAGS: [&str; 10] = [
    "--grant",
    "fs:read:**",
    "--grant",
    "fs:write:**",
    "--grant",
    "fs:write:CLAUDE.md",
    "--allow",
    "exec:write:./plant.sh",
    "--allow",
    "exec:write:sh ./slow.sh",
];

/// The lines that a person sees, once each.
const TOLD: [&str; 2] = [
    "a program left AGENTS.md, ",
    "a program changed or removed CLAUDE.md, ",
];

/// Adds the program to a root. Returns false if this machine has no bubblewrap.
fn prepare(crib: &Crib) -> bool {
    let program = crib.root().join("plant.sh");
    put(
        &program,
        "#!/bin/sh\necho evil > AGENTS.md\necho evil > CLAUDE.md\n",
    );
    fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    put(
        &crib.root().join("slow.sh"),
        "echo evil > AGENTS.md; echo > done; sleep 60\n",
    );
    put(&crib.root().join("CLAUDE.md"), "mine\n");
    crib.run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.")
}

fn with_flags<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &FLAGS].concat()
}

/// Checks that standard error tells of both files, and that the new one is gone.
#[track_caller]
fn is_told(crib: &Crib, stderr: &str) {
    for line in TOLD {
        assert_eq!(stderr.matches(line).count(), 1, "{line}: {stderr}");
    }
    assert!(!crib.root().join("AGENTS.md").exists());
}

/// Checks the events of a stream: one for the call, with both files.
#[track_caller]
fn has_event(ended: &Ended) {
    let events = ended.documents();
    let mut events = events.iter().map(|event| {
        if event["type"] == "sub_agent" {
            &event["event"]
        } else {
            event
        }
    });
    let event = events
        .find(|event| event["type"] == "protected_files")
        .unwrap_or_else(|| panic!("{ended:#?}"));
    let fates: Vec<(&Value, &Value)> = event["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (&file["path"], &file["fate"]))
        .collect();
    assert_eq!(event["name"], "exec.run");
    assert_eq!(
        fates,
        [
            (&json!("AGENTS.md"), &json!("set_aside")),
            (&json!("CLAUDE.md"), &json!("changed"))
        ]
    );
}

#[test]
fn run_tells_it_whatever_the_form_of_the_output_is() {
    for form in ["text", "json", "stream-json"] {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let ended = crib
            .run(&with_flags(&[
                "run",
                PLANT,
                "--provider",
                "direct",
                "--output",
                form,
            ]))
            .expect(0);
        is_told(&crib, &ended.stderr);
        if form == "stream-json" {
            has_event(&ended);
        }
    }
}

#[test]
fn what_a_sub_agent_leaves_is_told_with_its_name() {
    for form in ["text", "stream-json"] {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let spawn = format!("agent.spawn name=helper task=\"{PLANT}\"");
        let run = [
            "run",
            &spawn,
            "--provider",
            "direct",
            "--output",
            form,
            "--grant",
            "agent:write:helper",
        ];
        let ended = crib.run(&with_flags(&run)).expect(0);
        is_told(&crib, &ended.stderr);
        assert!(
            ended.stderr.contains("helper: a program left AGENTS.md, "),
            "{ended:#?}"
        );
        if form == "stream-json" {
            has_event(&ended);
        }
    }
}

#[test]
fn call_and_chat_tell_it() {
    let [call, chat] = [(); 2].map(|()| Crib::new());
    if !prepare(&call) || !prepare(&chat) {
        return;
    }
    is_told(
        &call,
        &call
            .run(&with_flags(&["call", "exec.run", "program=./plant.sh"]))
            .expect(0)
            .stderr,
    );
    let input = format!("{PLANT}\n");
    let ended = chat.run_with_input(
        &with_flags(&["chat", "--provider", "direct"]),
        input.as_bytes(),
    );
    is_told(&chat, &ended.expect(0).stderr);
}

/// The answer of a background program tells what it left. Without one, standard error does at the end of the session.
#[test]
fn a_program_in_the_background_is_told_of_when_it_is_read_or_at_the_end() {
    for (next, form) in [
        ("exec.read handle=t1 wait=20", "stream-json"),
        ("exec.run program=sleep args='[\"1\"]'", "text"),
    ] {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let lines = format!("exec.start program=./plant.sh\n{next}\n");
        let chat = [
            "chat",
            "--provider",
            "direct",
            "--output",
            form,
            "--allow",
            "exec:write:sleep 1",
        ];
        let ended = crib
            .run_with_input(&with_flags(&chat), lines.as_bytes())
            .expect(0);
        is_told(&crib, &ended.stderr);
    }
}

#[cfg(feature = "default")]
#[test]
fn listen_tells_it() {
    let post = crate::listen::Post::with_settings("provider = 'direct'\n");
    if !prepare(&post.crib) {
        return;
    }
    let listener = post.listen(&FLAGS);
    post.put("a", PLANT);
    drop(post.answers(1));
    is_told(&post.crib, &listener.end("-TERM").expect(0).stderr);
}

#[cfg(feature = "default")]
#[tokio::test]
async fn serve_tells_it() {
    use crate::serve::{Person, call, modes, over_http, over_stdio};

    for is_http in [false, true] {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let log = crib.dir.path().join("stderr");
        let address: &[&str] = if is_http {
            &["--http", "127.0.0.1:0"]
        } else {
            &[]
        };
        let mut command = crib.serve(&with_flags(address));
        let mut child = command
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let [legacy, _] = modes();
        let client = if is_http {
            let url = loop {
                let said = fs::read_to_string(&log).unwrap();
                if let Some((_, url)) = said
                    .split_once(" at http://")
                    .filter(|(_, url)| url.contains('\n'))
                {
                    break format!("http://{}", url.lines().next().unwrap());
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            };
            over_http(&url, Person(None), legacy).await
        } else {
            over_stdio(&mut child, Person(None), legacy).await
        };
        let called = call(&client, "exec_run", json!({"program": "./plant.sh"})).await;
        assert_ne!(called.is_error, Some(true), "{called:?}");
        is_told(&crib, &fs::read_to_string(&log).unwrap());
        child.kill().await.unwrap();
    }
}

#[cfg(feature = "default")]
#[test]
fn cron_run_and_its_log_tell_it() {
    use tools_builtin::cron::{JobSpec, Work};

    let clauses = [
        "fs:read:**",
        "fs:write:**",
        "fs:write:CLAUDE.md",
        "exec:write:./plant.sh",
    ];
    let call = crate::cron::call("exec.run", json!({"program": "./plant.sh"}));
    for work in [call, Work::Prompt(PLANT.to_owned())] {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let tools = vec!["exec.run".to_owned()];
        crate::cron::add(
            &crib,
            JobSpec {
                tools,
                ..crate::cron::due(work, &clauses)
            },
        );
        let run = [
            "cron",
            "run",
            "--once",
            "--provider",
            "direct",
            "--output",
            "stream-json",
        ];
        let ended = crib.run(&with_flags(&run)).expect(0);
        is_told(&crib, &ended.stderr);
        has_event(&ended);
        let shown = crib
            .run(&["cron", "log"])
            .expect(0)
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let [run] = &crate::cron::log(&crib)[..] else {
            panic!("one run")
        };
        for line in TOLD {
            assert!(shown.contains(line), "{shown}");
            assert!(
                run["note"].as_str().is_some_and(|note| note.contains(line)),
                "{run}"
            );
        }
        assert_eq!(run["outcome"], "done");
    }
}

#[test]
fn each_command_tells_what_a_killed_session_left() {
    let commands: [&[&str]; 7] = [
        &["run", "time.now", "--provider", "direct"],
        &["chat", "--provider", "direct"],
        &["call", "time.now"],
        &["listen", "terminal", "--provider", "direct"],
        &["serve"],
        &["cron", "run", "--once"],
        &["doctor"],
    ];
    for command in commands {
        let crib = Crib::new();
        if !prepare(&crib) {
            return;
        }
        let run = with_flags(&[
            "run",
            "exec.run program=sh args='[\"./slow.sh\"]'",
            "--provider",
            "direct",
        ]);
        let mut killed = crib
            .command(&run)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !crib.root().join("done").exists() {
            assert!(killed.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(crib.root().join("AGENTS.md").exists());
        let ended = crib.run(command);
        assert_eq!(
            ended.stderr.matches(TOLD[0]).count(),
            1,
            "{command:?} {ended:#?}"
        );
        assert!(!crib.root().join("AGENTS.md").exists());
        let again = crib.run(command);
        assert!(!again.stderr.contains(TOLD[0]), "{command:?} {again:#?}");
        // What lies aside is said again.
        assert!(
            (again.stdout + &again.stderr).contains("aside: 1 protected file "),
            "{command:?}"
        );
    }
}

#[test]
fn a_link_through_which_a_command_of_the_person_would_write_to_the_home_is_set_aside() {
    let crib = Crib::new();
    if !prepare(&crib) {
        return;
    }
    let home = std::env::home_dir().unwrap();
    put(
        &crib.root().join("plant.sh"),
        &format!(
            "#!/bin/sh\nln -s {}/.profile answer.md\nln -s README.md near.md\n",
            home.display()
        ),
    );
    let ended = crib
        .run(&with_flags(&["run", PLANT, "--provider", "direct"]))
        .expect(0);
    let told = "a program left answer.md, a link";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{ended:#?}");
    let is_there = |name: &str| crib.root().join(name).symlink_metadata().is_ok();
    assert!(!is_there("answer.md") && is_there("near.md"));
}
