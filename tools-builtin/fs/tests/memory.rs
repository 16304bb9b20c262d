//! The memory of a walk does not depend on the content of ignore files. The test has a process of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;

use serde_json::json;
use tools_fs::Workspace;
use tools_testkit::TestHost;

/// The limit of the peak memory, in KiB. Tools, catalog and runtime take 20 MiB in a debug build.
const MOST: u64 = 64 * 1024;

#[test]
fn hostile_ignore_files_cost_no_memory_to_speak_of() {
    let root = tempfile::tempdir().unwrap();
    let mut dir = root.path().to_owned();
    for depth in 0..12 {
        dir.push("d");
        fs::create_dir(&dir).unwrap();
        // A compiled matcher would have to try each pattern on every name with this suffix.
        let patterns = (0..8_000).fold(String::new(), |mut patterns, number| {
            writeln!(patterns, "*{depth}?{number}?*.o").unwrap();
            patterns
        });
        for name in [".gitignore", ".ignore"] {
            fs::write(dir.join(name), &patterns).unwrap();
        }
        for number in 0..20 {
            fs::write(dir.join(format!("{number}{}.o", "0123456789".repeat(8))), "").unwrap();
        }
    }
    let host = TestHost::new(tools_fs::register).with_service(Workspace::open(root.path()).unwrap());
    let before = peak();
    let found = host.call_blocking("fs.glob", json!({"pattern": "**/*.o"})).unwrap().to_text();
    let after = peak();
    assert!(found.contains("ignore files used only in part: "), "{found}");
    assert!(after < MOST, "{before} KiB before and {after} KiB after the walk");
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
