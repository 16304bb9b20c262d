//! A session that prepares a release in a copy of this repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Ended, command};

/// Returns every file, by its path below the root.
type Files = BTreeMap<PathBuf, Vec<u8>>;

const MANIFEST: &str = "Cargo.toml";
const LOG: &str = "CHANGELOG.md";
const HELLO: &str = "examples/hello-tool/src/main.rs";
const LOOP: &str = "examples/agent-loop/src/main.rs";
const NOTES: &str = "docs/release/notes.md";
const OLD: &str = env!("CARGO_PKG_VERSION");
const NEW: &str = "9.9.0";

#[test]
fn a_session_of_twenty_steps_leaves_what_its_edits_say() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("copy");
    let mut expected = copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &root);
    assert!(expected.len() > 100 && expected == files(&root));
    let story = Story::new(&expected);
    let script = place.path().join("turns.json");
    fs::write(&script, json!(story.turns).to_string()).unwrap();

    let arguments = [
        "run",
        "Release it.",
        "--output",
        "stream-json",
        "--grant",
        "fs:write:**",
        "--script",
        script.to_str().unwrap(),
    ];
    let events = Ended::from(command(&root, &arguments).output().unwrap())
        .expect(0)
        .documents();
    let done = events.last().unwrap();
    assert_eq!(
        (done["type"].as_str(), done["steps"].as_u64()),
        (Some("outcome"), Some(20)),
        "{done}"
    );
    assert_eq!(
        (done["calls"].as_u64(), done["failed_calls"].as_u64()),
        (Some(29), Some(2)),
        "{done}"
    );
    judge_results(&events, &expected);

    story.edit(&mut expected);
    let found = files(&root);
    for (path, bytes) in &expected {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            found.get(path).map(|found| text(found)),
            Some(text(bytes)),
            "{}",
            path.display()
        );
    }
    let foreign: Vec<_> = found
        .keys()
        .filter(|path| !expected.contains_key(*path))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// The release as a model's calls and as the expected files, which are computed with Rust's string functions.
struct Story {
    turns: Vec<Value>,
    /// The first and the last line of the example.
    first: String,
    last: String,
}

impl Story {
    fn new(files: &Files) -> Self {
        let text = text_of(files, LOOP);
        let first = text.lines().next().unwrap().to_owned();
        let last = text
            .lines()
            .rev()
            .find(|line| line.len() > 10)
            .unwrap()
            .to_owned();
        assert!(text.matches(&first).count() == 1 && text.matches(&last).count() == 1);
        let title = text_of(files, HELLO).lines().next().unwrap().to_owned();
        let mut script = Script::default();
        script.turn("I look around.", &[("fs.list", json!({}))]);
        script.turn(
            "",
            &[
                (
                    "fs.search",
                    json!({"pattern": format!("^version = \"{OLD}\""), "glob": MANIFEST}),
                ),
                ("fs.glob", json!({"pattern": "**/Cargo.toml"})),
            ],
        );
        script.turn("", &[("fs.read", json!({"path": MANIFEST}))]);
        script.turn(
            "",
            &[(
                "fs.edit",
                json!({"path": MANIFEST, "old": package(OLD), "new": package(NEW)}),
            )],
        );
        let (old, new) = (dependency(OLD), dependency(NEW));
        script.turn(
            "",
            &[(
                "fs.edit",
                json!({"path": MANIFEST, "old": old, "new": new, "all": true}),
            )],
        );
        script.turn(
            "Is one left?",
            &[(
                "fs.search",
                json!({"pattern": "version = \"9[.]9[.]0\"", "context": 1}),
            )],
        );
        script.turn(
            "",
            &[
                ("fs.read", json!({"path": LOG, "end": 12})),
                ("fs.list", json!({"path": "examples"})),
            ],
        );
        // Two failing edits: an ambiguous one, and one of text that was already replaced.
        script.turn(
            "",
            &[("fs.edit", json!({"path": LOG, "old": "- `", "new": "* `"}))],
        );
        script.turn(
            "",
            &[(
                "fs.edit",
                json!({"path": MANIFEST, "old": package(OLD), "new": package("1.0.0")}),
            )],
        );
        script.turn(
            "",
            &[(
                "fs.edit",
                json!({"path": LOG, "old": HEADING, "new": headings()}),
            )],
        );
        script.turn(
            "",
            &[("fs.read", json!({"path": LOG, "start": 5, "end": 12}))],
        );
        script.turn(
            "",
            &[
                (
                    "fs.glob",
                    json!({"pattern": "*/src/main.rs", "path": "examples"}),
                ),
                (
                    "fs.search",
                    json!({"pattern": "Run with", "path": "examples", "glob": "*.rs"}),
                ),
            ],
        );
        script.turn(
            "",
            &[
                ("fs.read", json!({"path": HELLO})),
                ("fs.read", json!({"path": LOOP, "end": 5})),
            ],
        );
        // In parallel, two of them in one file.
        script.turn(
            "Three edits at once.",
            &[
                (
                    "fs.edit",
                    json!({"path": HELLO, "old": title, "new": noted(&title)}),
                ),
                (
                    "fs.edit",
                    json!({"path": LOOP, "old": first, "new": noted(&first)}),
                ),
                (
                    "fs.edit",
                    json!({"path": LOOP, "old": last, "new": ended(&last)}),
                ),
            ],
        );
        script.turn(
            "",
            &[
                ("fs.read", json!({"path": LOOP})),
                ("fs.read", json!({"path": HELLO, "end": 3})),
            ],
        );
        script.turn(
            "",
            &[(
                "fs.write",
                json!({"path": NOTES, "content": notes(), "parents": true}),
            )],
        );
        script.turn(
            "",
            &[(
                "fs.edit",
                json!({"path": NOTES, "old": "\n- café", "new": "\n- tea\n- café"}),
            )],
        );
        script.turn(
            "",
            &[
                ("fs.search", json!({"pattern": NEW.replace('.', "[.]")})),
                ("time.now", json!({})),
            ],
        );
        script.turn(
            "",
            &[
                ("fs.list", json!({"path": "docs"})),
                ("fs.read", json!({"path": NOTES})),
                ("fs.read", json!({"path": MANIFEST, "start": 1, "end": 30})),
            ],
        );
        script.turn("It is released.", &[]);
        Self {
            turns: script.turns,
            first,
            last,
        }
    }

    fn edit(&self, files: &mut Files) {
        change(files, MANIFEST, |text| {
            assert_eq!(text.matches(&package(OLD)).count(), 1);
            assert!(text.matches(&dependency(OLD)).count() > 5);
            text.replace(&package(OLD), &package(NEW))
                .replace(&dependency(OLD), &dependency(NEW))
        });
        change(files, LOG, |text| text.replacen(HEADING, &headings(), 1));
        change(files, HELLO, |text| {
            let (title, rest) = text.split_once('\n').unwrap();
            format!("{}\n{rest}", noted(title))
        });
        change(files, LOOP, |text| {
            text.replacen(&self.first, &noted(&self.first), 1).replacen(
                &self.last,
                &ended(&self.last),
                1,
            )
        });
        let notes = notes().replacen("- café", "- tea\n- café", 1);
        assert!(files.insert(NOTES.into(), notes.into_bytes()).is_none());
    }
}

const HEADING: &str = "## [Unreleased]\n";

fn headings() -> String {
    format!("{HEADING}\n## [{NEW}]\n")
}

fn package(version: &str) -> String {
    format!("[workspace.package]\nversion = \"{version}\"")
}

fn dependency(version: &str) -> String {
    format!(", version = \"{version}\", default-features = false }}")
}

fn noted(line: &str) -> String {
    format!("{line}\n//! Part of release {NEW}.")
}

fn ended(line: &str) -> String {
    format!("{line} // released: \"{NEW}\" 'x' $1 \\0")
}

fn notes() -> String {
    format!("# Release {NEW}\r\n\n- café ☕\n- tab\there\n\nno line end")
}

/// Checks the results of the calls against the original files.
fn judge_results(events: &[Value], before: &Files) {
    let results: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "result")
        .collect();
    let text = |event: &Value| {
        event["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let of = |id: &str| *results.iter().find(|event| event["id"] == id).unwrap();
    let failed: Vec<_> = results
        .iter()
        .filter(|event| event["is_error"] == true)
        .collect();
    assert_eq!(
        failed
            .iter()
            .map(|event| event["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["8.1", "9.1"]
    );
    let manifests = before
        .keys()
        .filter(|path| path.ends_with(MANIFEST))
        .map(|path| path.to_str().unwrap());
    let found = of("2.2").to_string();
    for manifest in manifests {
        assert!(found.contains(manifest), "{manifest} is not in {found}");
    }
    let changed = text_of(before, MANIFEST).matches(&dependency(OLD)).count();
    let diff = text(of("5.1"));
    let is_change = |line: &&str| line.starts_with('+') && line.contains(&dependency(NEW));
    assert_eq!(diff.lines().filter(is_change).count(), changed, "{diff}");
    assert!(
        text(of("15.1")).contains(&ended("").trim_start()[..12]),
        "{}",
        text(of("15.1"))
    );
    assert!(text(of("19.2")).contains("tea"), "{}", text(of("19.2")));
}

/// Returns the turns of a model. Call ids are `turn.call`, counted from 1.
#[derive(Default)]
struct Script {
    turns: Vec<Value>,
}

impl Script {
    fn turn(&mut self, text: &str, calls: &[(&str, Value)]) {
        let turn = self.turns.len() + 1;
        let call = |(at, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("{turn}.{}", at + 1), "name": name, "arguments": arguments});
        let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
        let text = (!text.is_empty()).then_some(text);
        self.turns.push(json!({"text": text, "calls": calls}));
    }
}

fn text_of(files: &Files, path: &str) -> String {
    String::from_utf8(files[Path::new(path)].clone()).unwrap()
}

fn change(files: &mut Files, path: &str, changed: impl Fn(&str) -> String) {
    let text = text_of(files, path);
    let changed = changed(&text);
    assert_ne!(changed, text, "{path}");
    files.insert(path.into(), changed.into_bytes());
}

/// Copies the sources, without hidden files and build output.
fn copy(from: &Path, to: &Path) -> Files {
    let files = read(from, &|name| {
        name.starts_with('.') || name == "target" || name == "node_modules"
    });
    for (path, bytes) in &files {
        fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
        fs::write(to.join(path), bytes).unwrap();
    }
    files
}

fn files(root: &Path) -> Files {
    read(root, &|_| false)
}

fn read(root: &Path, leave_out: &dyn Fn(&str) -> bool) -> Files {
    let mut files = Files::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if leave_out(entry.file_name().to_str().unwrap()) {
                continue;
            } else if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).unwrap();
                files.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
            }
        }
    }
    files
}
