//! Two other processes swap directories and files for links while tools run. No tool escapes, neither in the files outside nor in
//! its results. Two more tests show that an escape would be noticed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::trap::{CANARY, Trap};
use serde_json::{Value, json};
use tools::{ToolContext, ToolError, tool};
use tools_fs::{Workspace, WorkspaceFiles as _};

/// The variables that tell another process its directory and the name of the entry to swap.
const ROOT: &str = "TOOLCRIB_TEST_SWAP";
const NAME: &str = "TOOLCRIB_TEST_SWAP_NAME";

/// The time limit for events that take moments on an idle machine.
const TIME_LIMIT: Duration = Duration::from_secs(300);

#[test]
fn no_tool_is_led_out_by_a_swap() {
    race(|calls| calls < 2_000);
}

#[test]
#[ignore = "takes a minute: cargo test --release -p toolcrib-fs --test wall -- --ignored a_minute"]
fn no_tool_is_led_out_by_a_swap_in_a_minute() {
    let until = Instant::now() + Duration::from_secs(60);
    race(|_| Instant::now() < until);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p toolcrib-fs --test wall -- --ignored a_million"]
fn no_tool_is_led_out_by_a_swap_in_a_million_calls() {
    race(|calls| calls < 1_000_000);
}

/// Shows that the race detects an unsafe read that first checks a path and then opens it.
#[test]
fn looking_first_and_reading_then_is_led_out() {
    let trap = Trap::new();
    prepare(&trap.path("root"), "a");
    let root = fs::canonicalize(trap.path("root")).unwrap();
    let read = || checked(&root, "a/file").and_then(|path| fs::read_to_string(path).ok());
    let is_led_out = swapped(&root, || {
        in_time(|| read().is_some_and(|text| text == CANARY))
    });
    assert!(is_led_out, "the race was never lost, so it shows nothing");
}

/// Shows that the race detects an unsafe edit, with the same edit as for the tools.
#[test]
fn looking_first_and_editing_then_is_led_out() {
    for flat in [false, true] {
        let trap = Trap::new();
        prepare(&trap.path("root"), "a");
        let root = fs::canonicalize(trap.path("root")).unwrap();
        let before = trap.outside();
        let edit = || {
            let path = checked(&root, if flat { "a_flat" } else { "a/file" })?;
            let text = fs::read_to_string(&path).ok()?;
            fs::write(&path, text.replace('a', "b")).ok()
        };
        let is_led_out = swapped(&root, || {
            in_time(|| edit().is_some() && trap.outside() != before)
        });
        assert!(
            is_led_out,
            "the race was never lost, so it shows nothing; flat: {flat}"
        );
    }
}

/// Resolves a path and checks that it lies below the root. Another process may change it afterwards.
fn checked(root: &Path, path: &str) -> Option<PathBuf> {
    fs::canonicalize(root.join(path))
        .ok()
        .filter(|path| path.starts_with(root))
}

/// Not a test of its own: the main function of another process, which swaps until it is killed.
#[test]
#[ignore = "another process of the race"]
fn other_process() {
    if let (Some(root), Ok(name)) = (std::env::var_os(ROOT), std::env::var(NAME)) {
        loop {
            swap(root.as_ref(), &name);
        }
    }
}

/// Calls a method of the workspace on the path.
#[tool(name = "plugin.call", writes = "fs:{path}", needs = Workspace)]
fn plugin(
    cx: &ToolContext,
    /// The method.
    function: String,
    /// The path.
    path: String,
    /// The new path of a moved file.
    #[serde(default)]
    to: String,
) -> Result<String, ToolError> {
    let workspace = cx.need::<Workspace>()?;
    let done = match &*function {
        "write_file" => workspace.write_file(cx, &path, "a file inside"),
        "create_dir" => workspace.create_dir(cx, &path),
        "rename" => workspace.rename(cx, &path, &to),
        "remove" => workspace.remove(cx, &path),
        "remove_all" => workspace.remove_all(cx, &path),
        _ => return Ok(format!("{:?}", workspace.entries(cx, &path)?)),
    };
    done.map(|()| function)
}

/// Calls every tool in turn for as long as `goes_on` returns true of the number of calls so far.
fn race(goes_on: impl Fn(usize) -> bool) {
    let trap = Trap::new();
    let root = trap.path("root");
    for name in ["a", "b"] {
        prepare(&root, name);
    }
    let before = trap.outside();
    let uses = uses();
    // For each tool, how many calls worked and how many were refused.
    let mut seen: BTreeMap<_, [usize; 2]> = uses.iter().map(|(tool, _)| (*tool, [0, 0])).collect();
    let _others = ["a", "b"].map(|name| Swapper::start(&root, name));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut round = || {
        for (tool, arguments) in &uses {
            let is_refused = runtime.block_on(trap.call(tool, arguments)).is_err();
            seen.entry(tool).or_default()[usize::from(is_refused)] += 1;
        }
        // Every tool must meet both sides of the swaps, however long that takes on a busy machine.
        seen.values()
            .all(|[worked, refused]| *worked > 0 && *refused > 0)
    };
    let mut calls = 0;
    while goes_on(calls) {
        round();
        calls += uses.len();
    }
    let is_evident = in_time(&mut round);
    assert_eq!(trap.outside(), before);
    assert!(is_evident, "[worked, refused]: {seen:?}");
    eprintln!("{calls} calls");
}

/// Returns calls of every tool on both swapped entries. The edited text occurs inside and outside, so that an escape would show.
fn uses() -> Vec<(&'static str, Value)> {
    let mut uses = Vec::new();
    for at in ["a", "b"] {
        let [file, new, flat, made] =
            ["{}/file", "{}/new", "{}_flat", "{}_made"].map(|path| path.replace("{}", at));
        uses.extend([
            (
                "fs.write",
                json!({"path": file, "content": "a file inside"}),
            ),
            ("fs.read", json!({"path": file})),
            (
                "fs.edit",
                json!({"path": file, "old": "a", "new": "b", "all": true}),
            ),
            ("fs.list", json!({"path": at})),
            ("fs.glob", json!({"pattern": "**", "path": at})),
            ("fs.search", json!({"pattern": ".", "ignored": true})),
            ("fs.search", json!({"pattern": ".", "path": file})),
            (
                "fs.move",
                json!({"from": file, "to": new, "overwrite": true}),
            ),
            ("fs.move", json!({"from": new, "to": file})),
            ("fs.read", json!({"path": flat})),
            (
                "fs.write",
                json!({"path": flat, "content": "a file inside"}),
            ),
            (
                "fs.edit",
                json!({"path": flat, "old": "a", "new": "b", "all": true}),
            ),
            (
                "fs.write",
                json!({"path": format!("{made}/x/file"), "content": "", "parents": true}),
            ),
            ("fs.remove", json!({"path": made, "recursive": true})),
            ("fs.remove", json!({"path": file})),
        ]);
        let made = format!("{made}/y/z");
        for (function, path) in [
            ("write_file", &file),
            ("entries", &at.to_owned()),
            ("rename", &file),
            ("remove", &new),
            ("write_file", &flat),
            ("create_dir", &made),
            ("write_file", &format!("{made}/file")),
            ("remove_all", &format!("{at}_made")),
        ] {
            uses.push((
                "plugin.call",
                json!({"function": function, "path": path, "to": new}),
            ));
        }
    }
    uses
}

/// Creates a directory and the link to swap it for.
fn prepare(root: &Path, name: &str) {
    fs::create_dir(root.join(name)).unwrap();
    fs::write(root.join(name).join("file"), "a file inside").unwrap();
    symlink("../outside", root.join(format!("{name}_link"))).unwrap();
}

/// Replaces a directory, a file and a directory that tools create with links that lead out, and restores them.
fn swap(root: &Path, name: &str) {
    let at = |end: &str| root.join(format!("{name}{end}"));
    for (from, to) in [("", "_spare"), ("_link", ""), ("", "_link"), ("_spare", "")] {
        // `Workspace::write_file` creates the directory if it is missing at that moment.
        while fs::rename(at(from), at(to)).is_err() {
            let _ = fs::remove_dir_all(at(to));
        }
    }
    // Tools touch these, so errors are ignored.
    let _ = symlink("../outside/file", at("_next"));
    let _ = fs::rename(at("_next"), at("_flat"));
    // Writing to `_next` must not follow the link.
    let _ = fs::remove_file(at("_next"));
    let _ = fs::write(at("_next"), "a file inside");
    let _ = fs::rename(at("_next"), at("_flat"));
    let _ = symlink("../outside", at("_made"));
    let _ = fs::remove_file(at("_made"));
}

/// Runs `run` while a thread swaps.
fn swapped<T>(root: &Path, run: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap(root, "a");
            }
        });
        run()
    })
}

/// Retries until success. Returns false after [`TIME_LIMIT`].
fn in_time(mut attempt: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !attempt() {
        if start.elapsed() > TIME_LIMIT {
            return false;
        }
    }
    true
}

/// Stops the swapping thread on drop, also if an assertion fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Another process.
struct Swapper(Child);

impl Swapper {
    fn start(root: &Path, name: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["race::other_process", "--exact", "--ignored"])
            .env(ROOT, root)
            .env(NAME, name);
        Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
