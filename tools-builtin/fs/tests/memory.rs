//! The memory of the tools depends neither on the content of ignore files nor on the size of a file. The tests have a process of their
//! own and run one after the other, in any order.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

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
            fs::write(
                dir.join(format!("{number}{}.o", "0123456789".repeat(8))),
                "",
            )
            .unwrap();
        }
    }
    let host =
        TestHost::new(tools_fs::register).with_service(Workspace::open(root.path()).unwrap());
    let before = peak();
    let found = host
        .call_blocking("fs.glob", json!({"pattern": "**/*.o"}))
        .unwrap()
        .to_text();
    let after = peak();
    assert!(
        found.contains("ignore files used only in part: "),
        "{found}"
    );
    assert!(
        after < MOST,
        "{before} KiB before and {after} KiB after the walk"
    );
}

#[test]
fn a_large_file_is_read_and_searched_in_little_memory() {
    let root = tempfile::tempdir().unwrap();
    let line = format!("{}\n", "x".repeat(9_999));
    let mut file = fs::File::create(root.path().join("large")).unwrap();
    // Twice the limit.
    for _ in 0..2 * MOST / 10 {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.write_all(b"needle\n").unwrap();
    let host =
        TestHost::new(tools_fs::register).with_service(Workspace::open(root.path()).unwrap());
    let last = 2 * MOST / 10 + 1;
    for (tool, arguments) in [
        ("fs.read", json!({"path": "large", "start": last})),
        ("fs.read", json!({"path": "large", "tail": 1})),
        ("fs.search", json!({"path": "large", "pattern": "needle"})),
    ] {
        let found = host
            .call_blocking(tool, arguments.clone())
            .unwrap()
            .to_text();
        assert!(found.contains("needle\n"), "{arguments}: {found}");
        assert!(peak() < MOST, "{} KiB after {tool} {arguments}", peak());
    }
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
