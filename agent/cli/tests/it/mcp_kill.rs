//! Sessions that are killed while they call a server: no call is made twice, and none that may be missing goes unnamed.

use std::fs::{read_to_string, remove_file, write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::write_user;
use crate::{Crib, mcp_server};

const ALLOW: [&str; 4] = ["--select", "mcp:*", "--allow", "world:write:mcp:s/**"];

/// A program with the server `s`, which does not start while the file `hold` exists.
struct Bench {
    crib: Crib,
    script: String,
}

impl Bench {
    /// Prepares a session that makes these calls, one in each turn.
    fn new(calls: &[Value]) -> Self {
        let crib = Crib::new();
        let mut entry = mcp_server::entry("Does it.", false);
        let hold = crib.dir.path().join("hold");
        let wait = format!(
            "while [ -e '{}' ]; do sleep 0.01; done; exec \"$0\" \"$@\"",
            hold.display()
        );
        let program = [json!("-c"), json!(wait), entry["command"].take()];
        entry["args"] = program
            .into_iter()
            .chain(entry["args"].as_array().unwrap().iter().cloned())
            .collect();
        entry["command"] = "sh".into();
        write_user(&crib, &json!({"mcpServers": {"s": entry}}));
        crib.run(&["mcp", "test", "s"]).expect(0);
        let call =
            |arguments: &Value| json!({"calls": [{"name": "mcp:s/read", "arguments": arguments}]});
        let turns: Vec<_> = calls
            .iter()
            .map(call)
            .chain([json!({"text": "finished"})])
            .collect();
        let script = crib.write("turns.json", &json!(turns).to_string());
        Self { crib, script }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.crib.dir.path().join(name)
    }

    /// Runs the session, from its beginning or where it was killed. Kills it `after` the time.
    fn killed(&self, is_resumed: bool, after: Duration) {
        let mut command = self.crib.command(&self.arguments(is_resumed));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + after;
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(2));
        }
        // Fails if the session has ended.
        let _ = child.kill();
        child.wait().unwrap();
    }

    fn arguments(&self, is_resumed: bool) -> Vec<&str> {
        let begin = if is_resumed {
            ["run", "--resume"]
        } else {
            ["run", "x"]
        };
        [&begin[..], &["--script", &self.script], &ALLOW].concat()
    }
}

#[test]
fn a_call_that_waited_for_its_server_is_made_when_a_killed_session_goes_on() {
    let bench = Bench::new(&[json!({"path": "made", "append": "x"})]);
    write(bench.file("hold"), "").unwrap();
    bench.killed(false, Duration::from_millis(1500));
    remove_file(bench.file("hold")).unwrap();
    let resumed = bench.crib.run(&bench.arguments(true)).expect(0);
    assert_eq!(
        read_to_string(bench.crib.root().join("made")).unwrap(),
        "x",
        "{resumed:#?}"
    );
    assert!(
        resumed.stdout.contains("finished") && !resumed.stderr.contains("failed"),
        "{resumed:#?}"
    );
}

#[test]
fn a_call_that_its_server_may_have_made_is_named_when_a_killed_session_goes_on() {
    let path = "waits";
    let bench = Bench::new(&[json!({"path": path, "append": "x"})]);
    // The server waits for a reader of the pipe.
    let pipe = bench.crib.root().join(path);
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    bench.killed(false, Duration::from_millis(1500));
    remove_file(&pipe).unwrap();
    let resumed = bench.crib.run(&bench.arguments(true)).expect(0);
    assert!(!pipe.exists(), "{resumed:#?}");
    assert!(
        resumed.stderr.contains("mcp:s/read failed") && resumed.stderr.contains("may have run"),
        "{resumed:#?}"
    );
}

#[test]
fn no_call_of_a_session_that_is_killed_at_any_time_is_lost_or_made_twice() {
    let calls: Vec<_> = (0..8)
        .map(|number| json!({"path": "made", "append": format!("{number}\n")}))
        .collect();
    let mut random = 7_u64;
    for _ in 0..3 {
        let bench = Bench::new(&calls);
        let mut is_resumed = false;
        for _ in 0..8 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            bench.killed(is_resumed, Duration::from_millis(50 + (random >> 33) % 350));
            is_resumed = bench
                .crib
                .run(&["sessions", "--json"])
                .stdout
                .contains("\"id\"");
        }
        let ended = bench.crib.run(&bench.arguments(is_resumed));
        let made = read_to_string(bench.crib.root().join("made")).unwrap();
        let session = bench
            .crib
            .run(&["sessions", "--json"])
            .expect(0)
            .documents()[0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let rows = bench
            .crib
            .run(&["audit", "show", &session, "--json"])
            .expect(0)
            .documents();
        let unclear = rows
            .iter()
            .filter(|row| row["error"] == "outcome_unknown")
            .count();
        let missing: Vec<_> = (0..8)
            .filter(|number| !made.lines().any(|line| line == number.to_string()))
            .collect();
        let twice = made.lines().count() + missing.len() - calls.len();
        assert!(
            twice == 0 && missing.len() <= unclear,
            "{made:?} {unclear} {ended:#?}"
        );
    }
}
