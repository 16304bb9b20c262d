use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::{Crib, Ended};

const COMMANDS: [&[&str]; 6] = [
    &["list"],
    &["show", "fs.read"],
    &["call", "fs.read", "path=README.md"],
    &["call", "fs.raed"],
    &["run", "time.now ; fs.read path=missing"],
    &["doctor"],
];

const STREAM: &[&str] = &[
    "run",
    "time.now ; fs.read path=missing",
    "--output",
    "stream-json",
];

#[test]
fn nothing_is_coloured_in_a_pipe() {
    for arguments in COMMANDS {
        let ended = Crib::new().run(arguments);
        assert!(
            !ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'),
            "{arguments:?}: {ended:#?}"
        );
    }
}

#[test]
fn results_go_into_a_pipe_unchanged() {
    let crib = Crib::new();
    let text = "a\u{1b}[31mb\u{9b}\r\nc\n";
    std::fs::write(crib.root().join("colours"), text).unwrap();
    assert_eq!(
        crib.run(&["call", "fs.read", "path=colours"])
            .expect(0)
            .stdout,
        text
    );
    assert!(
        crib.run(&["run", "fs.read path=colours"])
            .expect(0)
            .stdout
            .contains("a\u{1b}[31mb")
    );
    // JSON output escapes every control character.
    let ended = crib
        .run(&["call", "fs.read", "path=colours", "--json"])
        .expect(0);
    assert!(
        !ended.stdout.trim_end().contains(char::is_control),
        "{ended:#?}"
    );
    assert_eq!(ended.document()["content"][0]["text"], text);
}

/// The reader closes the pipe before the program writes, or after its first line: `toolcrib list | head -1`.
#[test]
fn a_broken_pipe_ends_the_program_quietly() {
    for arguments in COMMANDS
        .iter()
        .chain([&["list", "--json"][..], &["--help"], STREAM].iter())
    {
        for lines in [0, 1] {
            let crib = Crib::new();
            let mut command = crib.command(arguments);
            let mut child = command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let reader = BufReader::new(child.stdout.take().unwrap());
            reader.lines().take(lines).for_each(drop);
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(
                output.status.code().is_some(),
                "{arguments:?} was killed: {stderr}"
            );
            assert!(
                !stderr.contains("panicked") && !stderr.contains("Broken pipe"),
                "{arguments:?}: {stderr}"
            );
        }
    }
}

#[test]
fn a_run_stops_when_nobody_reads_it() {
    let crib = Crib::new();
    // Each turn has enough text to fill a pipe after a few turns.
    let text = "more ".repeat(16 * 1024);
    let turns = vec![format!(r#"{{"text": "{text}", "calls": [{{"name": "time.now"}}]}}"#); 100];
    let script = crib.write("turns.json", &format!("[{}]", turns.join(",")));
    let mut command = crib.command(&["run", "x", "--max-steps", "1000", "--script", &script]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.take().unwrap())
        .lines()
        .take(2)
        .for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    // Two turns were read, the largest pipe (1 MiB) holds more, and one fails to be written.
    let played = String::from_utf8(output.stderr)
        .unwrap()
        .matches("-> time.now")
        .count();
    assert!((1..=20).contains(&played), "{played} turns were played");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    for arguments in [
        &["list"][..],
        &["call", "time.now"],
        &["run", "time.now", "--output", "stream-json"],
    ] {
        let crib = Crib::new();
        let mut command = crib.command(arguments);
        let ended =
            Ended::from(command.stdout(full.try_clone().unwrap()).output().unwrap()).expect(9);
        assert!(
            ended.stderr.contains("cannot write the output"),
            "{arguments:?}: {ended:#?}"
        );
    }
}
