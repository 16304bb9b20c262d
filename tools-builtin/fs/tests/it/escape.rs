//! Ways out of the workspace, judged from outside: what lies there is never shown, neither its text nor its name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tools::{Catalog, ErrorCode, Grant, ToolContext, ToolResult};
use tools_fs::Workspace;

const CANARY: &str = "canary-7f3a";
const TOOLS: [&str; 2] = ["fs.list", "fs.read"];

/// `root` is the workspace; `outside` beside it holds a file whose name and text are the canary.
struct Trap {
    dir: TempDir,
    catalog: Catalog,
    cx: ToolContext,
}

impl Trap {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("root/deep/er")).unwrap();
        fs::create_dir(path("outside")).unwrap();
        fs::write(path("root/inside.txt"), "inside").unwrap();
        fs::write(path("outside/file"), CANARY).unwrap();
        fs::write(path("outside").join(CANARY), "").unwrap();
        let mut catalog = Catalog::new();
        tools_fs::register(&mut catalog).unwrap();
        let workspace = Workspace::open(path("root")).unwrap();
        let cx = ToolContext::new().with_grant(Grant::all()).with_service(workspace);
        Self { dir, catalog, cx }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    async fn call(&self, tool: &str, path: &str) -> String {
        let result = self.catalog.execute(&self.cx, tool, json!({"path": path})).await;
        assert!(!matches!(&result, Err(error) if error.code() == ErrorCode::Panicked), "{tool} {path:?}: {result:?}");
        let result = result.unwrap_or_else(|error| ToolResult::from(&error));
        serde_json::to_string(&result).unwrap()
    }

    async fn assert_confined(&self, path: &str) {
        for tool in TOOLS {
            let shown = self.call(tool, path).await;
            assert!(!shown.contains(CANARY), "{tool} {path:?} escaped: {shown}");
        }
    }
}

#[tokio::test]
async fn no_path_leads_out() {
    let trap = Trap::new();
    for (link, destination) in [
        ("file_link", "../outside/file"),
        ("dir_link", "../outside"),
        ("up", ".."),
        ("chain", "dir_link"),
        ("deep/er/link", "../../../outside"),
        ("detour", "deep/../../outside"),
        ("proc", "/proc/self/cwd"),
    ] {
        symlink(destination, trap.path("root").join(link)).unwrap();
    }
    symlink(trap.path("outside/file"), trap.path("root/absolute_file")).unwrap();
    symlink(trap.path("outside"), trap.path("root/absolute_dir")).unwrap();
    let absolute = trap.path("outside").display().to_string();

    let mut open_without_the_wall = 0;
    for parent in [
        "..",
        "./..",
        "a/../..",
        "deep/../..",
        "deep/er/../../..",
        "dir_link/..",
        "up",
        "up/../root/up",
        "/",
        "//",
        "\\",
        "..\\",
        "%2e%2e",
        "..%2f",
        "..%c0%af",
        "....//..",
        "\u{FF0E}\u{FF0E}",
        "..\0",
        "\0..",
        "..\n",
        "~",
        "file:///",
        "C:/..",
        "//?/..",
        "proc/root",
        "",
    ] {
        for child in ["outside", "outside/", "outside/file", "outside/file/", "outside/file\0.md", "../outside/file"] {
            for separator in ["/", "\\", ""] {
                let path = format!("{parent}{separator}{child}");
                let naive = trap.path("root").join(&path);
                open_without_the_wall += u32::from(fs::read(&naive).is_ok() || fs::read_dir(&naive).is_ok());
                trap.assert_confined(&path).await;
            }
        }
    }
    for path in [
        "file_link",
        "dir_link",
        "dir_link/file",
        "chain/file",
        "deep/er/link/file",
        "detour/file",
        "absolute_file",
        "absolute_dir/file",
    ] {
        let naive = trap.path("root").join(path);
        assert!(fs::read(&naive).is_ok() || fs::read_dir(&naive).is_ok(), "{path} is no way out to begin with");
        for path in [
            path.to_owned(),
            format!("{path}/"),
            format!("./{path}"),
            format!("{path}/."),
            format!("inside.txt/../{path}"),
        ] {
            trap.assert_confined(&path).await;
        }
    }
    for path in [
        absolute.clone(),
        format!("{absolute}/file"),
        format!("deep/{absolute}/file"),
        "x/".repeat(3_000) + "../outside",
    ] {
        trap.assert_confined(&path).await;
    }

    // The traps are armed, and the tools do work.
    assert!(open_without_the_wall >= 15, "{open_without_the_wall}");
    assert!(trap.call("fs.read", "inside.txt").await.contains("inside"));
    assert!(trap.call("fs.list", ".").await.contains("inside.txt"));
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_between_two_calls_is_no_way_out() {
    let trap = Trap::new();
    fs::write(trap.path("root/deep/file"), "inside").unwrap();
    assert!(trap.call("fs.read", "deep/file").await.contains("inside"));
    fs::rename(trap.path("root/deep"), trap.path("root/moved")).unwrap();
    symlink("../outside", trap.path("root/deep")).unwrap();
    trap.assert_confined("deep/file").await;
    trap.assert_confined("deep").await;
    assert!(trap.call("fs.read", "moved/file").await.contains("inside"));

    // Nor is the root itself: it is held open.
    fs::rename(trap.path("root"), trap.path("elsewhere")).unwrap();
    symlink("outside", trap.path("root")).unwrap();
    assert_eq!(fs::read_to_string(trap.path("root/file")).unwrap(), CANARY);
    trap.assert_confined("file").await;
    trap.assert_confined(".").await;
    assert!(trap.call("fs.read", "moved/file").await.contains("inside"));
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_during_calls_is_no_way_out() {
    let trap = Trap::new();
    fs::write(trap.path("root/deep/file"), "inside").unwrap();
    symlink("../outside", trap.path("root/link")).unwrap();
    let [deep, link, spare] = ["root/deep", "root/link", "root/spare"].map(|name| trap.path(name));
    let running = Arc::new(());
    let still_running = Arc::downgrade(&running);
    let swapper = std::thread::spawn(move || {
        let mut swaps = 0;
        while still_running.strong_count() > 0 {
            for (from, to) in [(&deep, &spare), (&link, &deep), (&deep, &link), (&spare, &deep)] {
                fs::rename(from, to).unwrap();
            }
            swaps += 1;
        }
        swaps
    });
    let mut outcomes = BTreeSet::new();
    let start = Instant::now();
    // Until both sides of the swap were seen, or for so long that they never will be.
    for calls in 0.. {
        if calls >= 2_000 && (outcomes.len() > 1 || start.elapsed() > Duration::from_secs(300)) {
            break;
        }
        trap.assert_confined("deep").await;
        trap.assert_confined("deep/file").await;
        outcomes.insert(trap.call("fs.read", "deep/file").await);
    }
    drop(running);
    assert!(swapper.join().unwrap() > 0);
    assert!(outcomes.len() > 1, "{outcomes:?}");
}
