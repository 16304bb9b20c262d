//! Directories and files are swapped for links by a thread and by another process while tools run: no escape, judged from
//! outside, in what is there and in what is shown. The last test shows that the swapping would be noticed.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod trap;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use trap::{CANARY, Trap};

/// Where the other process finds what it is to swap.
const ROOT: &str = "TOOLCRIB_TEST_SWAP";

#[test]
fn no_tool_is_led_out_by_a_swap() {
    race(10_000);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p toolcrib-fs --test race -- --ignored"]
fn no_tool_is_led_out_by_a_swap_in_a_million_calls() {
    race(1_000_000);
}

/// What the race is worth: to look where a path leads and to open it then is not safe, and it shows at once.
#[test]
fn looking_first_and_opening_then_is_led_out() {
    let trap = Trap::new();
    prepare(&trap.path("root"), "a");
    let root = fs::canonicalize(trap.path("root")).unwrap();
    let checked_read = |path: &str| {
        let path = fs::canonicalize(root.join(path)).ok()?;
        // Checked, and by now the path may lead elsewhere.
        path.starts_with(&root).then(|| fs::read_to_string(&path).ok())?
    };
    let escapes = swapped(&root, || (0..400_000).find(|_| checked_read("a/file").is_some_and(|text| text == CANARY)));
    assert!(escapes.is_some(), "the race was never lost, so it shows nothing");
}

/// Not a test of its own: the other process of the race, which swaps until it is ended.
#[test]
#[ignore = "the other process of the race"]
fn other_process() {
    if let Some(root) = std::env::var_os(ROOT) {
        loop {
            swap(root.as_ref(), "b");
        }
    }
}

fn race(calls: usize) {
    let trap = Trap::new();
    let root = trap.path("root");
    for name in ["a", "b"] {
        prepare(&root, name);
    }
    let before = trap.outside();
    let (mut worked, mut refused) = (BTreeMap::new(), BTreeMap::new());
    let _other = Swapper::start(&root);
    let uses = uses();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let stop = AtomicBool::new(false);
    let swaps = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| swap_until(&root, &stop));
        {
            let _stop = Stop(&stop);
            for (tool, arguments) in uses.iter().cycle().take(calls) {
                match runtime.block_on(trap.call(tool, arguments)) {
                    Ok(_) => *worked.entry(*tool).or_insert(0) += 1,
                    Err(_) => *refused.entry(*tool).or_insert(0) += 1,
                }
            }
        }
        swapping.join().unwrap()
    });
    assert_eq!(trap.outside(), before);
    // Both sides of the swaps were seen, by every tool.
    for (tool, _) in &uses {
        let seen = (worked.get(tool), refused.get(tool));
        assert!(seen.0.is_some() && seen.1.is_some(), "{tool}: {seen:?} worked and refused, {swaps} swaps");
    }
    assert!(swaps > calls / 100, "{swaps} swaps");
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

fn swap_until(root: &Path, stop: &AtomicBool) -> usize {
    (0..).take_while(|_| !stop.load(Ordering::Relaxed)).inspect(|_| swap(root, "a")).count()
}

/// What `run` gives while a thread swaps.
fn swapped<T>(root: &Path, run: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| swap_until(root, &stop));
        run()
    })
}

/// Ends the swapping also when an assertion fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The other process.
struct Swapper(Child);

impl Swapper {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["other_process", "--exact", "--ignored"]).env(ROOT, root);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
