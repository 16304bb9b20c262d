//! A corpus of hostile paths × every tool: nothing outside the root is read, written, renamed, linked or removed. The test compares
//! the files outside before and after.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::trap::{CANARY, Trap};
use serde_json::{Value, json};

/// Forms of `..`, including ones that some systems accept.
const STEPS: &[&str] = &[
    "..",
    ".",
    "",
    "...",
    "....",
    ".. ",
    " ..",
    "..;",
    "..\0",
    "\0",
    "..\n",
    "..\t",
    "%2e%2e",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "%2e.",
    "..%00",
    "..%2f",
    "..%5c",
    "..%c0%af",
    "\u{FF0E}\u{FF0E}",
    "\u{2024}\u{2024}",
    "\u{2025}",
    "..\u{200B}",
    "..\u{202E}",
    "..\u{FEFF}",
    "~",
    "$HOME",
    "C:",
    "c:..",
    "\\\\?",
    "CON",
    "NUL",
    "COM1.txt",
    "aux",
    "inside.txt",
    "deep",
    "deep/er",
    "missing",
    "dir_link",
    "abs_dir",
    "up",
    "chain",
    "deep/er/link",
    "detour",
];

const SEPARATORS: &[&str] = &[
    "/", "//", "/./", "\\", "%2f", "%5c", "\u{2215}", "\u{FF0F}", "/\0/",
];

const ENDS: &[&str] = &[
    "outside",
    "outside/file",
    "outside/file/",
    "file",
    "outside/sub/..",
    "sub/file/.",
];

/// Links that lead out of the workspace, with their targets.
const LINKS: &[(&str, &str)] = &[
    ("dir_link", "../outside"),
    ("file_link", "../outside/file"),
    ("up", ".."),
    ("chain", "dir_link"),
    ("deep/er/link", "../../../outside"),
    ("detour", "deep/../../outside"),
    ("new_link", "../outside/new"),
];

/// In a debug build, one of this many paths is tried. `.ci/run` tries all, in release.
const EVERY: usize = if cfg!(debug_assertions) { 64 } else { 1 };

#[test]
fn no_tool_is_led_out_by_any_path() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut paths, mut worked) = (0, 0);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| scope.spawn(move || confined(part, threads)))
            .collect();
        for part in parts {
            let (tried, well) = part.join().unwrap();
            (paths, worked) = (paths + tried, worked + well);
        }
    });
    assert!(paths >= 20_000 / EVERY, "{paths} paths");
    // The corpus is not just invalid paths: some calls succeed.
    assert!(worked > 10_000 / EVERY, "{worked} calls worked");
}

/// Calls every tool with each path of one part of the corpus, in a new workspace. Returns the number of paths and of successful
/// calls.
fn confined(part: usize, parts: usize) -> (usize, usize) {
    let trap = Trap::new();
    arm(&trap);
    let before = trap.outside();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let corpus = corpus(&trap.path("outside").display().to_string());
    let (mut paths, mut worked) = (0, 0);
    for path in corpus.iter().skip(part).step_by(EVERY * parts) {
        if paths % 16 == 0 {
            arm(&trap);
        }
        for (tool, arguments) in uses(path, paths % 2 == 0) {
            if runtime.block_on(trap.call(tool, &arguments)).is_ok() {
                worked += 1;
                rearm(&trap);
            }
        }
        paths += 1;
        if paths % 32 == 0 {
            assert_eq!(
                trap.outside(),
                before,
                "changed by one of the {} paths up to {path:?}",
                32 * EVERY * parts
            );
        }
    }
    assert_eq!(trap.outside(), before);
    (paths, worked)
}

/// The kernel follows links in `/proc` without resolving their text. Only reading tools are tried on them.
#[tokio::test]
async fn no_tool_is_led_out_through_proc() {
    let trap = Trap::new();
    for (link, destination) in [("cwd", "/proc/self/cwd"), ("top", "/proc/self/root")] {
        symlink(destination, trap.path("root").join(link)).unwrap();
        let outside = format!("{link}{}", trap.path("outside/file").display());
        for (tool, path) in [
            ("fs.read", &outside),
            ("fs.list", &link.to_owned()),
            ("fs.list", &format!("{link}/.")),
        ] {
            trap.call(tool, &json!({"path": path})).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_between_two_calls_is_no_way_out() {
    let trap = Trap::new();
    let call = async |tool, path: &str| trap.call(tool, &json!({"path": path})).await;
    fs::create_dir(trap.path("root/deep")).unwrap();
    fs::write(trap.path("root/deep/inside"), "inside").unwrap();
    call("fs.read", "deep/inside").await.unwrap();
    fs::rename(trap.path("root/deep"), trap.path("root/moved")).unwrap();
    symlink("../outside", trap.path("root/deep")).unwrap();
    call("fs.read", "deep/file").await.unwrap_err();
    call("fs.list", "deep").await.unwrap_err();

    // The root itself is held open.
    fs::rename(trap.path("root"), trap.path("elsewhere")).unwrap();
    symlink("outside", trap.path("root")).unwrap();
    assert_eq!(fs::read_to_string(trap.path("root/file")).unwrap(), CANARY);
    call("fs.read", "file").await.unwrap_err();
    call("fs.list", ".").await.unwrap();
    call("fs.read", "moved/inside").await.unwrap();
}

/// The corpus does lead out of the workspace without confinement, even if paths are filtered by their text.
#[test]
fn the_corpus_leads_out_without_the_wall() {
    let trap = Trap::new();
    arm(&trap);
    let shows = |path: &Path| {
        let names = fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name());
        fs::read_to_string(path).is_ok_and(|text| text == CANARY)
            || names.into_iter().any(|name| name == CANARY)
    };
    let (mut open, mut filtered) = (0, 0);
    for path in corpus(&trap.path("outside").display().to_string()) {
        let escapes = shows(&trap.path("root").join(&path));
        open += u32::from(escapes);
        filtered += u32::from(
            escapes && !path.starts_with('/') && !path.split('/').any(|part| part == ".."),
        );
    }
    assert!(open >= 150, "{open} paths lead out unfiltered");
    assert!(filtered >= 80, "{filtered} paths pass a filter of texts");
}

/// Makes forbidden changes directly, to show that the comparison detects them.
#[test]
fn changes_outside_are_noticed() {
    let changes: [fn(&Path) -> std::io::Result<()>; 6] = [
        |root| fs::write(root.join("dir_link/file"), "canary-7f3b"),
        |root| fs::write(root.join("dir_link/new"), ""),
        |root| fs::rename(root.join("dir_link/file"), root.join("dir_link/renamed")),
        |root| fs::hard_link(root.join("dir_link/file"), root.join("linked")),
        |root| symlink("file", root.join("up/new")),
        |root| fs::remove_file(root.join("chain/file")),
    ];
    for (index, change) in changes.iter().enumerate() {
        let trap = Trap::new();
        arm(&trap);
        let before = trap.outside();
        change(&trap.path("root")).unwrap();
        assert_ne!(trap.outside(), before, "change {index}");
    }
}

/// Returns a call of every tool for each argument that takes a path or a glob.
fn uses(path: &str, parents: bool) -> [(&'static str, Value); 12] {
    [
        ("fs.list", json!({"after": path})),
        ("fs.glob", json!({"pattern": path, "ignored": true})),
        (
            "fs.search",
            json!({"pattern": "[a-z]", "glob": path, "ignored": true}),
        ),
        ("fs.list", json!({"path": path})),
        ("fs.read", json!({"path": path})),
        ("fs.glob", json!({"pattern": "*", "path": path})),
        (
            "fs.search",
            json!({"pattern": "[a-z]", "path": path, "ignored": true}),
        ),
        ("fs.edit", json!({"path": path, "old": "c", "new": "X"})),
        (
            "fs.write",
            json!({"path": path, "content": "overwritten", "parents": parents}),
        ),
        (
            "fs.move",
            json!({"from": path, "to": "moved", "overwrite": true}),
        ),
        (
            "fs.move",
            json!({"from": "inside.txt", "to": path, "overwrite": true}),
        ),
        ("fs.remove", json!({"path": path, "recursive": true})),
    ]
}

fn corpus(outside: &str) -> BTreeSet<String> {
    let mut corpus = BTreeSet::new();
    for first in STEPS {
        for second in STEPS {
            for separator in SEPARATORS {
                // Rotates through the endings: all combinations would take minutes.
                let end = ENDS[(corpus.len() * 7) % ENDS.len()];
                let before = if corpus.len() % 2 == 0 {
                    *separator
                } else {
                    "/"
                };
                corpus.insert(format!("{first}{before}{second}{separator}{end}"));
            }
        }
    }
    for first in STEPS {
        for end in ENDS {
            for separator in SEPARATORS {
                corpus.insert(format!("{first}{separator}{end}"));
                corpus.insert(format!(
                    "{first}{separator}{first}{separator}{first}{separator}{end}"
                ));
            }
        }
    }
    for link in LINKS
        .iter()
        .map(|(link, _)| *link)
        .chain(["abs_dir", "abs_file"])
    {
        for around in [
            "{}",
            "{}/",
            "{}//",
            "{}/.",
            "./{}",
            "{}/..",
            "{}/../file",
            "{}/../outside/file",
            "deep/../{}",
            "inside.txt/../{}",
            "{}/file\0.md",
            "{}\0.md",
        ] {
            let path = around.replace("{}", link);
            corpus.extend(ENDS.iter().map(|end| format!("{path}/{end}")));
            corpus.extend(
                ["file", "sub/file", "new", "sub/new/x", ""].map(|end| format!("{path}/{end}")),
            );
            corpus.insert(path);
        }
    }
    for absolute in [
        outside.to_owned(),
        format!("{outside}/file"),
        format!("{outside}/new"),
    ] {
        for before in [
            "", "/", "//", "file://", "deep/", "\\\\?\\", "./", "C:", " ", "up",
        ] {
            corpus.insert(format!("{before}{absolute}"));
        }
    }
    for length in [200, 255, 256, 1_000, 4_000, 4_096, 5_000, 70_000] {
        for part in ["x", "x/", "../", "./", "/", "deep/../", "é"] {
            let long: String = part.chars().cycle().take(length).collect();
            corpus.extend([
                format!("{long}/../outside/file"),
                format!("dir_link/{long}"),
                format!("{long}dir_link/file"),
            ]);
        }
    }
    corpus
}

/// Restores the workspace completely.
fn arm(trap: &Trap) {
    for entry in fs::read_dir(trap.path("root")).unwrap() {
        let entry = entry.unwrap();
        let removed = if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        removed.unwrap();
    }
    rearm(trap);
}

/// Restores the files and links that tools may have removed.
fn rearm(trap: &Trap) {
    let root = trap.path("root");
    for dir in ["deep", "deep/er"] {
        if !root.join(dir).is_dir() {
            let _ = fs::remove_file(root.join(dir));
            fs::create_dir(root.join(dir)).unwrap();
        }
    }
    if !root.join("inside.txt").is_file() {
        let _ = fs::remove_dir_all(root.join("inside.txt"));
        fs::write(root.join("inside.txt"), "inside").unwrap();
    }
    let outside = trap.path("outside");
    let absolute = [
        ("abs_dir", outside.clone()),
        ("abs_file", outside.join("file")),
    ];
    let links = LINKS
        .iter()
        .map(|(link, destination)| (*link, Path::new(destination)));
    for (link, destination) in
        links.chain(absolute.iter().map(|(link, path)| (*link, path.as_path())))
    {
        let link = root.join(link);
        if !link.is_symlink() {
            let _ = fs::remove_file(&link);
            let _ = fs::remove_dir_all(&link);
            symlink(destination, link).unwrap();
        }
    }
}
