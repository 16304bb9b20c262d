use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Crib;

#[test]
fn an_interrupt_cancels_the_run_and_its_events_end_properly() {
    let crib = Crib::new();
    let script = crib.endless();
    let mut command = crib.command(&[
        "run",
        "x",
        "--output",
        "stream-json",
        "--max-steps",
        "100000",
        "--script",
        &script,
    ]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains(r#""type":"session""#), "{first}");
    let started = lines.next().unwrap().unwrap();
    assert!(started.contains("call_started"), "{started}");

    interrupt(&child);
    let events: Vec<Value> = [started]
        .into_iter()
        .chain(lines.map(Result::unwrap))
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    let hint = stderr
        .strip_prefix("error: cancelled\n")
        .unwrap_or_else(|| panic!("{stderr}"));
    if cfg!(feature = "default") {
        let id = crib.run(&["sessions", "--json"]).expect(0).document()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            hint,
            format!(
                "hint: to continue it: toolcrib run --script {script} --max-steps 100000 --resume {id}\n"
            )
        );
    } else {
        assert_eq!(hint, "")
    }

    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(
        count("call_started"),
        count("result"),
        "every call has its one result"
    );
    let last = events.last().unwrap();
    assert_eq!(
        (last["type"].as_str(), last["outcome"].as_str()),
        (Some("outcome"), Some("cancelled"))
    );
}

#[test]
fn a_second_interrupt_ends_a_program_that_cannot_finish() {
    let crib = Crib::new();
    // An event larger than a pipe's buffer: unless the test reads on, the program blocks in a write.
    let text = "more ".repeat(1024 * 1024);
    let script = crib.write("turns.json", &format!(r#"[{{"text": "{text}"}}]"#));
    let mut command = crib.command(&["run", "x", "--output", "stream-json", "--script", &script]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // One byte at a time, because a buffer would empty the pipe.
    let mut stdout = child.stdout.take().unwrap();
    let mut byte = [0];
    while byte != *b"\n" {
        stdout.read_exact(&mut byte).unwrap();
    }
    stdout.read_exact(&mut byte).unwrap();

    interrupt(&child);
    assert_eq!(child.try_wait().unwrap(), None, "the program did not hang");
    // Two signals at once can arrive as one, so the second is repeated until it arrives.
    let ended = (0..6000).find_map(|_| {
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap()
    });
    assert_eq!(
        ended.expect("the program went on hanging").code(),
        Some(130)
    );
    drop(stdout);
}

pub(crate) fn interrupt(child: &Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}
