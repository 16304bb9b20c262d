//! The draft of a process that is killed while it writes: tools do not show it, and the next write in that directory removes it,
//! but not while its writer lives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tools_fs::Workspace;
use tools_testkit::TestHost;

/// The variable that tells the other process its directory.
const ROOT: &str = "TOOLCRIB_TEST_CRASH";

#[test]
fn the_draft_of_a_killed_process_is_hidden_and_goes_with_the_next_write() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(root.path());
    let draft = writer.stop_while_writing(root.path());
    // Old enough to be abandoned, but its writer is only stopped.
    let file = fs::File::options().write(true).open(&draft).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(7_200))
        .unwrap();
    write(root.path());
    assert!(
        draft.exists(),
        "the draft was taken from a process that lives"
    );
    let shown = call(
        root.path(),
        "fs.glob",
        json!({"pattern": "**", "ignored": true}),
    );
    assert!(
        !shown.contains("toolcrib") && shown.contains("other"),
        "{shown}"
    );

    writer.kill();
    assert!(draft.exists());
    write(root.path());
    assert!(!draft.exists(), "the draft was left behind");
    let names: Vec<_> = fs::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        names.iter().all(|name| name == "other" || name == "file"),
        "{names:?}"
    );
}

/// Not a test of its own: the main function of the other process, which writes until it is killed.
#[test]
#[ignore = "the other process"]
fn other_process() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    loop {
        call(
            root.as_ref(),
            "fs.write",
            json!({"path": "file", "content": "x".repeat(900_000)}),
        );
    }
}

fn write(root: &Path) {
    let shown = call(root, "fs.write", json!({"path": "other", "content": ""}));
    assert!(shown.contains("`other`"), "{shown}");
}

fn call(root: &Path, tool: &str, arguments: Value) -> String {
    let host = TestHost::new(tools_fs::register).with_service(Workspace::open(root).unwrap());
    host.call_blocking(tool, arguments).unwrap().to_text()
}

struct Writer(Child);

impl Writer {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["crash::other_process", "--exact", "--ignored"])
            .env(ROOT, root);
        Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    /// Stops the process while it has a locked draft with text in it.
    fn stop_while_writing(&self, root: &Path) -> PathBuf {
        let start = Instant::now();
        loop {
            self.signal("STOP");
            let drafts = fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
            let mut drafts =
                drafts.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
            if let Some(draft) =
                drafts.find(|draft| draft.metadata().is_ok_and(|draft| draft.len() > 0))
            {
                return draft.path();
            }
            self.signal("CONT");
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "no draft was seen"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("sh")
            .args(["-c", "kill -$1 $2", "sh", name, &self.0.id().to_string()])
            .status();
        assert!(status.unwrap().success());
        // The signal takes effect with a delay.
        while name == "STOP"
            && !fs::read_to_string(format!("/proc/{}/stat", self.0.id()))
                .unwrap()
                .contains(") T ")
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
