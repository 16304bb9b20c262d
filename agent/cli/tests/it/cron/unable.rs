//! Servers that cannot run a job, or cannot write their output.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;
use tools_builtin::cron::{Delivery, JobSpec, Work};

use super::processes::serve;
use super::{WRITES, add, due, log, write};
use crate::Crib;

/// Waits until the server has seen that there is no job.
fn wait_until_served(server: &mut Child) {
    let mut line = String::new();
    BufReader::new(server.stderr.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("serving"), "{line}");
}

/// Returns the exit code of a server that ends by itself. Kills one that does not within 30 s, and returns `None`.
fn code(mut server: Child) -> Option<i32> {
    for _ in 0..300 {
        if let Some(status) = server.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    None
}

fn listed(crib: &Crib) -> usize {
    crib.run(&["cron", "list", "--json"])
        .expect(0)
        .documents()
        .len()
}

#[test]
fn a_server_without_a_provider_ends_before_it_takes_a_prompt_that_was_added_later() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        let crib = Crib::new();
        let mut server = serve(&crib, &[], Stdio::piped());
        wait_until_served(&mut server);
        // A prompt that the provider direct would read as a call.
        let prompt = Work::Prompt("fs.write path=a.txt content=1".to_owned());
        add(
            &crib,
            JobSpec {
                delivery,
                ..due(prompt, &WRITES)
            },
        );
        assert_eq!(code(server), Some(2));
        assert_eq!(
            (listed(&crib), log(&crib).len()),
            (1, 0),
            "the job is still due"
        );
        assert!(!crib.root().join("a.txt").exists());
    }
}

#[test]
fn a_mistake_in_the_settings_uses_up_no_job() {
    let crib = Crib::new();
    let mut server = serve(&crib, &[], Stdio::piped());
    wait_until_served(&mut server);
    let folder = crib.dir.path().join("config/toolcrib");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("toolcrib.toml"), "no_such_key = 1\n").unwrap();
    add(&crib, due(write("a.txt"), &WRITES));
    assert_eq!(code(server), Some(2));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(
        (listed(&crib), log(&crib).len()),
        (1, 0),
        "the job is still due"
    );
}

#[test]
fn a_job_runs_to_its_end_without_output_and_the_next_one_is_left_to_another_server() {
    let script =
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]}"#;
    for (work, format) in [
        (write("a.txt"), "text"),
        (write("a.txt"), "stream-json"),
        (Work::Prompt("go".to_owned()), "text"),
        (Work::Prompt("go".to_owned()), "stream-json"),
        (Work::Prompt("go".to_owned()), "json"),
    ] {
        let crib = Crib::new();
        let script = crib.script(&[script, r#"{"text": "Written."}"#]);
        add(&crib, due(work.clone(), &WRITES));
        add(&crib, due(write("b.txt"), &WRITES));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let flags = [
            "cron",
            "run",
            "--once",
            "--script",
            &script,
            "--grant",
            "fs:write:**",
            "--output",
            format,
        ];
        let mut command = crib.command(&flags);
        command.stdin(Stdio::null()).stdout(writer);
        assert_eq!(
            command.status().unwrap().code(),
            Some(0),
            "as for each command whose reader has enough"
        );
        let [run] = &log(&crib)[..] else {
            panic!("{work} {format}: {:?}", log(&crib))
        };
        assert_eq!(
            (&run["outcome"], &run["note"]),
            (&json!("done"), &json!(null)),
            "{work} {format}"
        );
        assert!(
            crib.root().join("a.txt").exists() && !crib.root().join("b.txt").exists(),
            "{work} {format}"
        );
        assert_eq!(listed(&crib), 1, "{work} {format}");
    }
}
