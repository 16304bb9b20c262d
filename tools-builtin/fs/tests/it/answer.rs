//! Every tool answers calls on unusual files (pipes, devices, huge files, odd names) at once, and never opens a file that blocks.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::trap::Trap;
use serde_json::{Value, json};
use tools::{Catalog, Grant, Host};
use tools_fs::Workspace;

/// Creates a workspace with unusual entries, each named after its kind.
fn odd() -> (Trap, UnixListener) {
    let trap = Trap::new();
    let at = |name: &str| trap.path("root").join(name);
    fs::write(at("binary"), b"head\nneedle\0").unwrap();
    fs::write(at("latin"), b"caf\xE9 needle\n").unwrap();
    fs::write(
        at("long_line"),
        format!("{}needle{}", "x".repeat(30_000), "y".repeat(100_000)),
    )
    .unwrap();
    // A sparse file: reading it whole would take days.
    fs::File::create(at("huge"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    fs::write(at("many_lines"), "needle\n".repeat(1_000_000)).unwrap();
    let status = std::process::Command::new("mkfifo")
        .arg(at("pipe"))
        .status();
    assert!(status.unwrap().success());
    let socket = UnixListener::bind(at("socket")).unwrap();
    symlink("gone", at("dangling")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("/dev/zero", at("device")).unwrap();
    symlink("pipe", at("to_pipe")).unwrap();
    symlink("a\\b", at("backslash")).unwrap();
    fs::create_dir_all(at("dir/below")).unwrap();
    symlink("..", at("dir/below/up")).unwrap();
    fs::create_dir(at("names")).unwrap();
    for name in [&b"\xff"[..], b"a\nb", b"a\\b"] {
        fs::write(at("names").join(OsStr::from_bytes(name)), "needle\n").unwrap();
    }
    (trap, socket)
}

/// Asserts the outcome of a call: `worked: ` or `failed: `, followed by a part of the result or message.
fn assert_shown(trap: &Trap, tool: &str, arguments: &Value, expected: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let shown = match runtime.block_on(trap.call(tool, arguments)) {
        Ok(shown) => format!("worked: {shown}"),
        Err(shown) => format!("failed: {shown}"),
    };
    let (outcome, part) = expected.split_once(": ").unwrap();
    let is_told = shown.starts_with(outcome) && shown.contains(part);
    assert!(
        is_told,
        "{tool} {arguments}: {}",
        shown.chars().take(600).collect::<String>()
    );
}

/// Returns the names and kinds that `fs.list` shows for a directory.
fn kinds(trap: &Trap, path: &str) -> Vec<(String, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let shown = runtime
        .block_on(trap.call("fs.list", &json!({"path": path})))
        .unwrap();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
    let entries = shown["structured"]["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| (text(entry, "name"), text(entry, "kind")))
        .collect()
}

#[test]
fn everything_odd_is_read_and_listed_and_searched_with_an_answer() {
    let (trap, _socket) = odd();
    let before = trap.outside();
    let read = [
        ("binary", "failed: it has NUL bytes"),
        ("latin", "worked: read as windows-1252, which is a guess"),
        (
            "long_line",
            "worked: continue in it with start = 1, offset = ",
        ),
        ("huge", "failed: it has NUL bytes"),
        (
            "many_lines",
            "worked: more lines follow, continue with start = ",
        ),
        (
            "pipe",
            "failed: is a named pipe, and only regular files can be read",
        ),
        ("to_pipe", "failed: `pipe` is a named pipe"),
        (
            "socket",
            "failed: is a socket, and only regular files can be read",
        ),
        ("dangling", "failed: there is no `gone`"),
        ("loop", "failed: passes more than 40 links"),
        ("device", "failed: it leads out of the workspace"),
        ("backslash", "failed: has a backslash"),
        ("dir", "failed: is a directory; list it"),
        (
            "dir/below/up/below/up/below",
            "failed: is a directory; list it",
        ),
        ("names/a\\b", "failed: backslash"),
        ("names/a\nb", "failed: "),
        ("names/\u{FFFD}", "failed: there is no `names/\u{FFFD}`"),
    ];
    for (path, expected) in read {
        assert_shown(&trap, "fs.read", &json!({"path": path}), expected);
    }
    for (path, expected) in [
        (
            "binary",
            "worked: no line matches; files searched: 0; binary files skipped: 1",
        ),
        ("latin", "worked: 1: café needle"),
        ("long_line", "worked: [… 29900 bytes]xxx"),
        (
            "huge",
            "worked: no line matches; files searched: 0; binary files skipped: 1",
        ),
        ("many_lines", "worked: matching lines: more than 200"),
        (
            "pipe",
            "failed: is a named pipe, and only regular files can be read",
        ),
        (
            "socket",
            "failed: is a socket, and only regular files can be read",
        ),
        ("dangling", "failed: there is no `gone`"),
        ("loop", "failed: passes more than 40 links"),
        ("device", "failed: it leads out of the workspace"),
        ("dir", "worked: no line matches; files searched: 0"),
        (
            "names",
            "worked: entries skipped because their names are not valid in path arguments: 3",
        ),
    ] {
        assert_shown(
            &trap,
            "fs.search",
            &json!({"pattern": "needle", "path": path}),
            expected,
        );
    }
    for tool in ["fs.list", "fs.glob"] {
        for (path, expected) in [
            (
                "binary",
                "failed: `binary` is a file, not a directory; name a directory",
            ),
            (
                "pipe",
                "failed: `pipe` is a named pipe, not a directory; name a directory",
            ),
            ("dangling", "failed: there is no `gone`"),
            ("loop", "failed: passes more than 40 links"),
            ("device", "failed: it leads out of the workspace"),
            ("dir/below/up", "worked: below"),
        ] {
            let pattern = if tool == "fs.glob" {
                json!({"path": path, "pattern": "*"})
            } else {
                json!({"path": path})
            };
            assert_shown(&trap, tool, &pattern, expected);
        }
    }
    for (name, kind) in [
        ("pipe", "pipe"),
        ("socket", "socket"),
        ("loop", "link"),
        ("device", "link"),
    ] {
        assert!(
            kinds(&trap, ".").contains(&(name.into(), kind.into())),
            "{name}"
        );
        assert_shown(
            &trap,
            "fs.glob",
            &json!({"pattern": "**"}),
            &format!("worked: \"{name}\""),
        );
    }
    assert_shown(
        &trap,
        "fs.list",
        &json!({"path": "names"}),
        "worked: \"name_is_not_utf8\":true",
    );
    assert_shown(
        &trap,
        "fs.list",
        &json!({"path": "names"}),
        r#"worked: 7 \"a\\nb\""#,
    );
    assert_eq!(trap.outside(), before);
}

#[test]
fn everything_odd_is_written_and_edited_with_an_answer() {
    let (trap, _socket) = odd();
    let before = trap.outside();
    for (path, expected) in [
        (
            "pipe",
            "failed: is a named pipe, and only regular files can be written",
        ),
        (
            "socket",
            "failed: is a socket, and only regular files can be written",
        ),
        ("loop", "failed: passes more than 40 links"),
        ("device", "failed: it leads out of the workspace"),
        (
            "dir",
            "failed: is a directory, and only regular files can be written",
        ),
    ] {
        assert_shown(
            &trap,
            "fs.write",
            &json!({"path": path, "content": "x"}),
            expected,
        );
        assert_shown(
            &trap,
            "fs.edit",
            &json!({"path": path, "old": "x", "new": "y"}),
            expected,
        );
    }
    for (path, expected) in [
        ("binary", "failed: it has NUL bytes"),
        ("latin", "worked: read as windows-1252"),
        ("long_line", "worked: bytes of the diff left out"),
        ("huge", "failed: has more than 1073741824 bytes"),
        ("many_lines", "failed: occurs more than 1000 times"),
        ("dangling", "failed: there is no `gone`"),
    ] {
        assert_shown(
            &trap,
            "fs.edit",
            &json!({"path": path, "old": "needle", "new": "pin"}),
            expected,
        );
    }
    for (path, expected) in [
        ("dangling", "worked: created `gone`"),
        ("binary", "worked: replaced"),
        ("huge", "worked: replaced"),
        ("latin", "failed: not UTF-8"),
    ] {
        assert_shown(
            &trap,
            "fs.write",
            &json!({"path": path, "content": "x"}),
            expected,
        );
    }
    assert_eq!(trap.outside(), before);
}

#[test]
fn everything_odd_is_moved_and_removed_as_it_is() {
    let (trap, _socket) = odd();
    let before = trap.outside();
    for name in [
        "binary", "latin", "huge", "pipe", "socket", "dangling", "loop", "device", "dir",
    ] {
        let (from, to) = (
            json!({"from": name, "to": "moved"}),
            json!({"from": "moved", "to": name}),
        );
        // A link out of the workspace is moved after a person's yes alone.
        if name == "device" {
            assert_shown(&trap, "fs.move", &from, "failed: it is a link to a place");
        } else {
            assert_shown(&trap, "fs.move", &from, "worked: moved");
            assert_shown(&trap, "fs.move", &to, "worked: moved");
        }
        assert_shown(
            &trap,
            "fs.remove",
            &json!({"path": name, "recursive": true}),
            "worked: removed",
        );
    }
    // Names that are not valid in arguments cannot be checked against a grant.
    for (tool, arguments) in [
        ("fs.remove", json!({"path": "names", "recursive": true})),
        ("fs.move", json!({"from": "names", "to": "moved"})),
    ] {
        assert_shown(
            &trap,
            tool,
            &arguments,
            "failed: has an entry with a name that is not valid in a path argument",
        );
    }
    assert_eq!(fs::read_dir(trap.path("root/names")).unwrap().count(), 3);
    assert!(fs::exists("/dev/zero").unwrap());
    assert_eq!(trap.outside(), before);
}

#[test]
fn devices_are_shown_and_never_opened() {
    let mut catalog = Catalog::new();
    tools_fs::register(&mut catalog).unwrap();
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_service(Workspace::open("/dev").unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let call = |tool: &str, arguments: Value| {
        runtime
            .block_on(catalog.execute(&cx, tool, arguments))
            .map_or_else(|error| error.to_string(), |it| it.to_text())
    };
    let listed = call("fs.list", json!({"after": "zern"}));
    assert!(listed.lines().any(|line| line == "device zero"), "{listed}");
    assert!(call("fs.glob", json!({"pattern": "zer[o]"})).contains("\"zero\""));
    for (tool, arguments, message) in [
        (
            "fs.read",
            json!({"path": "zero"}),
            "`zero` is a device, and only regular files can be read",
        ),
        (
            "fs.search",
            json!({"path": "zero", "pattern": "x"}),
            "`zero` is a device, and only regular files can be read",
        ),
        (
            "fs.write",
            json!({"path": "null", "content": "x"}),
            "`null` is a device, and only regular files can be written",
        ),
        (
            "fs.edit",
            json!({"path": "zero", "old": "x", "new": "y"}),
            "`zero` is a device, and only regular files",
        ),
    ] {
        let shown = call(tool, arguments);
        assert!(shown.contains(message), "{tool}: {shown}");
    }
}

#[test]
fn a_file_of_nine_megabytes_is_edited() {
    let trap = Trap::new();
    let path = trap.path("root").join("long");
    let lines = "line\n".repeat(2_000_000);
    fs::write(&path, format!("{lines}last\n")).unwrap();
    let edit = json!({"path": "long", "old": "last", "new": "end"});
    assert_shown(&trap, "fs.edit", &edit, "worked: +end");
    assert_eq!(fs::read_to_string(path).unwrap(), format!("{lines}end\n"));
}
