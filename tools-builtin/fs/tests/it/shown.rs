//! Files that change while a tool shows them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tools::context::{Exposure, FileAuthors, FileJudge, WriteWatch};
use tools::{ToolContext, ToolError, tool};
use tools_fs::{Workspace, WorkspaceFiles as _};
use tools_testkit::{TempWorkspace, TestHost};

/// Opens a file by a tool of another crate.
#[tool(name = "note.open", reads = "fs:{path}", needs = Workspace)]
fn open(
    cx: &ToolContext,
    /// The file.
    path: String,
) -> Result<String, ToolError> {
    let opened = cx.need::<Workspace>()?.open_file(cx, &path);
    opened.map(|_| String::new())
}

/// Reads a file by a tool of another crate.
#[tool(name = "note.read", reads = "fs:{path}", needs = Workspace)]
fn read(
    cx: &ToolContext,
    /// The file.
    path: String,
) -> Result<String, ToolError> {
    let read = cx.need::<Workspace>()?.read_file(cx, &path);
    read.map(|_| String::new())
}

type Change = Box<dyn FnOnce() + Send>;

/// A change, and whether it exposes.
type Case = (&'static str, bool, fn(&Path));

/// Takes each file for one of the user, and changes something while it judges.
struct Changing(Mutex<Option<Change>>);

impl FileJudge for Changing {
    fn is_content_of_user(&self, _: &[PathBuf]) -> bool {
        let change = self.0.lock().unwrap().take();
        change.into_iter().for_each(|change| change());
        true
    }

    fn is_name_of_user(&self, _: &[PathBuf]) -> bool {
        true
    }

    fn note_write(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn note_move(&self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn watch_writes(&self, _: &[PathBuf], _: &[PathBuf]) -> io::Result<WriteWatch> {
        Ok(Box::new(()))
    }
}

/// Returns a host with the tools of this crate, or with those of another one.
fn host(files: &TempWorkspace, tool: &str) -> TestHost {
    let host = if tool.starts_with("note.") {
        TestHost::new(&[&OPEN_TOOL, &READ_TOOL])
    } else {
        TestHost::new(tools_fs::register)
    };
    host.with_grant(&["*:*:**"])
        .with_service(Workspace::open(files.path()).unwrap())
        .with_service(Exposure::new())
}

/// Returns true if the session is exposed by a call during which something changes.
fn exposes(files: &TempWorkspace, (tool, arguments): (&str, Value), change: Change) -> bool {
    let authors = FileAuthors::new(Changing(Mutex::new(Some(change))));
    let host = host(files, tool).with_service(authors);
    // The change can make it fail.
    let _ = host.call_blocking(tool, arguments);
    host.context().is_exposed()
}

fn files() -> TempWorkspace {
    TempWorkspace::from_files([("dir/file", "good"), ("dir/other", "evil")])
}

#[test]
fn a_file_that_changes_while_a_tool_shows_it_is_a_strangers() {
    let path = json!({"path": "dir/file"});
    let calls = [
        ("fs.read", path.clone()),
        ("fs.search", json!({"pattern": "good"})),
        (
            "fs.edit",
            json!({"path": "dir/file", "old": "good", "new": "better"}),
        ),
        ("note.open", path.clone()),
        ("note.read", path),
    ];
    for call in calls {
        let changes: [Case; 6] = [
            ("nothing", false, |_| {}),
            ("another file of the root", false, |root| {
                fs::write(root.join("x"), "").unwrap();
            }),
            ("its content", true, |root| {
                fs::write(root.join("dir/file"), "evil").unwrap();
            }),
            ("the file", true, |root| {
                fs::rename(root.join("dir/other"), root.join("dir/file")).unwrap();
            }),
            ("its folder, which comes back", true, |root| {
                fs::rename(root.join("dir"), root.join("x")).unwrap();
                fs::rename(root.join("x"), root.join("dir")).unwrap();
            }),
            ("it is gone", true, |root| {
                fs::remove_file(root.join("dir/file")).unwrap();
            }),
        ];
        for (what, is_exposed, change) in changes {
            let files = files();
            let root = files.path().to_owned();
            // So that times differ.
            std::thread::sleep(Duration::from_millis(20));
            let change = Box::new(move || change(&root));
            assert_eq!(
                exposes(&files, call.clone(), change),
                is_exposed,
                "{call:?} {what}"
            );
        }
    }
}

#[test]
fn without_a_judge_no_change_exposes() {
    let files = files();
    let (root, is_over) = (files.path(), AtomicBool::new(false));
    let host = host(&files, "fs.read");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::write(root.join("t"), "evil").unwrap();
                fs::rename(root.join("t"), root.join("dir/file")).unwrap();
            }
        });
        for _ in 0..200 {
            let _ = host.call_blocking("fs.read", json!({"path": "dir/file"}));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(!host.context().is_exposed());
}
