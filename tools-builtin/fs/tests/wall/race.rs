//! Directories and files are swapped for links by two other processes while tools run: no escape, judged from
//! outside, in what is there and in what is shown. Two more tests show that a race that is lost would be noticed.

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
use tools_fs::Workspace;

/// Where another process finds what it is to swap, and by which name.
const ROOT: &str = "TOOLCRIB_TEST_SWAP";
const NAME: &str = "TOOLCRIB_TEST_SWAP_NAME";

/// How long something is tried that takes moments on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn no_tool_is_led_out_by_a_swap() {
    race(|calls| calls < 10_000);
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

/// What the race is worth: to look where a path leads and to open it then is not safe, and it shows at once.
#[test]
fn looking_first_and_reading_then_is_led_out() {
    let trap = Trap::new();
    prepare(&trap.path("root"), "a");
    let root = fs::canonicalize(trap.path("root")).unwrap();
    let read = || checked(&root, "a/file").and_then(|path| fs::read_to_string(path).ok());
    let is_led_out = swapped(&root, || in_time(|| read().is_some_and(|text| text == CANARY)));
    assert!(is_led_out, "the race was never lost, so it shows nothing");
}

/// And so for edits, with the very edit that the tools are asked for.
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
        let is_led_out = swapped(&root, || in_time(|| edit().is_some() && trap.outside() != before));
        assert!(is_led_out, "the race was never lost, so it shows nothing; flat: {flat}");
    }
}

/// Where a path leads, if that is below the root: by now it may lead elsewhere.
fn checked(root: &Path, path: &str) -> Option<PathBuf> {
    fs::canonicalize(root.join(path)).ok().filter(|path| path.starts_with(root))
}

/// Not a test of its own: another process of the race, which swaps until it is ended.
#[test]
#[ignore = "another process of the race"]
fn other_process() {
    if let (Some(root), Ok(name)) = (std::env::var_os(ROOT), std::env::var(NAME)) {
        loop {
            swap(root.as_ref(), &name);
        }
    }
}

/// Does what a tool of another crate can do to the path.
#[tool(name = "plugin.call", writes = "fs:{path}", needs = Workspace)]
fn plugin(
    cx: &ToolContext,
    /// The function.
    function: String,
    /// Its path.
    path: String,
    /// Where a file is moved to.
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut round = || {
        for (tool, arguments) in &uses {
            let is_refused = runtime.block_on(trap.call(tool, arguments)).is_err();
            seen.entry(tool).or_default()[usize::from(is_refused)] += 1;
        }
        // Both sides of the swaps are to be seen by every tool, however long that takes where others are at work too.
        seen.values().all(|[worked, refused]| *worked > 0 && *refused > 0)
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

/// Every tool, at what one of the two swaps. What is edited occurs inside and outside, so that an edit led out would show.
fn uses() -> Vec<(&'static str, Value)> {
    let mut uses = Vec::new();
    for at in ["a", "b"] {
        let [file, new, flat, made] = ["{}/file", "{}/new", "{}_flat", "{}_made"].map(|path| path.replace("{}", at));
        uses.extend([
            ("fs.write", json!({"path": file, "content": "a file inside"})),
            ("fs.read", json!({"path": file})),
            ("fs.edit", json!({"path": file, "old": "a", "new": "b", "all": true})),
            ("fs.list", json!({"path": at})),
            ("fs.glob", json!({"pattern": "**", "path": at})),
            ("fs.search", json!({"pattern": ".", "ignored": true})),
            ("fs.search", json!({"pattern": ".", "path": file})),
            ("fs.move", json!({"from": file, "to": new, "overwrite": true})),
            ("fs.move", json!({"from": new, "to": file})),
            ("fs.read", json!({"path": flat})),
            ("fs.write", json!({"path": flat, "content": "a file inside"})),
            ("fs.edit", json!({"path": flat, "old": "a", "new": "b", "all": true})),
            ("fs.write", json!({"path": format!("{made}/x/file"), "content": "", "parents": true})),
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
            uses.push(("plugin.call", json!({"function": function, "path": path, "to": new})));
        }
    }
    uses
}

/// A directory and a link to swap it for.
fn prepare(root: &Path, name: &str) {
    fs::create_dir(root.join(name)).unwrap();
    fs::write(root.join(name).join("file"), "a file inside").unwrap();
    symlink("../outside", root.join(format!("{name}_link"))).unwrap();
}

/// Puts a link that leads out in the places of a directory, of a file, and of one that tools make, and takes it away again.
fn swap(root: &Path, name: &str) {
    let at = |end: &str| root.join(format!("{name}{end}"));
    // These are touched by nobody else, so nothing can fail.
    for (from, to) in [("", "_spare"), ("_link", ""), ("", "_link"), ("_spare", "")] {
        fs::rename(at(from), at(to)).unwrap();
    }
    // These are, so anything can.
    let _ = symlink("../outside/file", at("_next"));
    let _ = fs::rename(at("_next"), at("_flat"));
    // Were it the link still, this would write through it.
    let _ = fs::remove_file(at("_next"));
    let _ = fs::write(at("_next"), "a file inside");
    let _ = fs::rename(at("_next"), at("_flat"));
    let _ = symlink("../outside", at("_made"));
    let _ = fs::remove_file(at("_made"));
}

/// What `run` gives while a thread swaps.
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

/// Tries something until it comes out, or for so long that it never will.
fn in_time(mut attempt: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !attempt() {
        if start.elapsed() > PATIENCE {
            return false;
        }
    }
    true
}

/// Ends the swapping also when an assertion fails.
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
        command.args(["race::other_process", "--exact", "--ignored"]).env(ROOT, root).env(NAME, name);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
