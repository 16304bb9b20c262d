use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tools::Tool;

use crate::Crib;

fn lock_file(crib: &Crib) -> std::path::PathBuf {
    crib.root().join("tools.lock")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Changes a definition in the lock file, as if the program had changed since.
fn edit(path: &Path, tool: &str, change: impl FnOnce(&mut Value)) {
    let mut file = read(path);
    let locked = &mut file["tools"][tool];
    change(&mut locked["definition"]);
    let mut definition = locked["definition"].clone();
    definition["name"] = tool.into();
    locked["digest"] = serde_json::from_value::<Tool>(definition)
        .unwrap()
        .digest()
        .to_string()
        .into();
    fs::write(path, file.to_string()).unwrap();
}

#[test]
fn a_written_lock_file_is_sorted_and_checks() {
    let crib = Crib::new();
    let written = crib.run(&["lock"]).expect(0);
    assert!(
        written.stdout.starts_with("tools.lock: ") && written.stderr.is_empty(),
        "{written:#?}"
    );
    let text = fs::read_to_string(lock_file(&crib)).unwrap();
    let names: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("    \""))
        .collect();
    assert!(
        names.len() > 10 && names.is_sorted() && text.ends_with("}\n"),
        "{names:?}"
    );
    let read = crib
        .run(&["list", "--json", "--select", "fs.read"])
        .expect(0)
        .document();
    assert_eq!(
        self::read(&lock_file(&crib))["tools"]["fs.read"]["digest"],
        read["digest"]
    );

    let checked = crib.run(&["lock", "--check"]).expect(0);
    assert!(checked.stdout.contains("unchanged"), "{checked:#?}");
    assert!(
        crib.run(&["lock", "--check", "--json"])
            .expect(0)
            .documents()
            .is_empty()
    );
    crib.run(&["lock"]).expect(0);
    assert_eq!(fs::read_to_string(lock_file(&crib)).unwrap(), text);
}

#[test]
fn no_command_writes_through_a_link_that_a_session_may_have_left() {
    let crib = Crib::new();
    let place = tempfile::tempdir().unwrap();
    let precious = place.path().join("precious");
    fs::write(&precious, "mine").unwrap();
    std::os::unix::fs::symlink(&precious, lock_file(&crib)).unwrap();
    std::os::unix::fs::symlink(place.path(), crib.root().join("out")).unwrap();
    for file in ["tools.lock", "out/new", lock_file(&crib).to_str().unwrap()] {
        assert_ne!(crib.run(&["lock", "--file", file]).code, Some(0), "{file}");
    }
    for file in ["tools.lock", "out/new", "./out/precious"] {
        assert_ne!(
            crib.run(&["call", "time.now", "--output-file", file]).code,
            Some(0),
            "{file}"
        );
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    assert!(!place.path().join("new").exists());
    crib.run(&["call", "time.now", "--output-file", "/dev/stdout"])
        .expect(0);
    let below = place.path().join("new");
    crib.run(&["lock", "--file", below.to_str().unwrap()])
        .expect(0);
}

#[test]
#[cfg(feature = "default")]
fn the_lock_file_of_the_built_in_tools_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.lock");
    Crib::new()
        .run(&["lock", "--check", "--file", file.to_str().unwrap()])
        .expect(0);
}

#[test]
fn each_difference_is_shown_with_its_judgement_until_it_is_accepted() {
    let crib = Crib::new();
    crib.run(&["lock"]).expect(0);
    edit(&lock_file(&crib), "fs.read", |definition| {
        definition["description"] = json!("Reads.");
        definition["parameters"]["properties"]["gone"] = json!({"type": "string"});
        definition["parameters"]["properties"]["path"]["type"] = json!("integer");
    });
    edit(&lock_file(&crib), "time.now", |definition| {
        definition["effects"] = json!("pure")
    });
    let ended = crib.run(&["lock", "--check"]).expect(1);
    for part in [
        "breaking  /parameters/properties/gone: ",
        "breaking  /parameters/properties/path/type: ",
        "- \"integer\"\n",
        "+ \"string\"\n",
        "changed   /description: look at it",
        "breaking  /effects: ",
        "3 breaking, 1 to look at",
        "toolcrib lock",
    ] {
        assert!(
            ended.stdout.contains(part),
            "{part:?} is not in {}",
            ended.stdout
        );
    }
    let documents = crib
        .run(&["lock", "--check", "--json"])
        .expect(1)
        .documents();
    let gone = documents
        .iter()
        .find(|it| it["place"] == "/parameters/properties/gone")
        .unwrap();
    assert_eq!(
        (&gone["tool"], &gone["breaking"], &gone["old"]),
        (
            &"fs.read".into(),
            &"argument_removed".into(),
            &json!({"type": "string"})
        )
    );

    let accepted = crib.run(&["lock"]).expect(0);
    assert!(accepted.stdout.contains("3 breaking"), "{accepted:#?}");
    crib.run(&["lock", "--check"]).expect(0);
}

#[test]
fn a_removed_and_a_new_tool_are_differences() {
    let crib = Crib::new();
    crib.run(&["lock", "--file", "a.lock"]).expect(0);
    let path = crib.root().join("a.lock");
    let mut file = read(&path);
    let tools = file["tools"].as_object_mut().unwrap();
    let definition = tools.remove("fs.list").unwrap();
    tools.insert("fs.dir".to_owned(), definition);
    fs::write(&path, file.to_string()).unwrap();
    edit(&path, "fs.dir", |_| {});
    let documents = crib
        .run(&["lock", "--check", "--file", "a.lock", "--json"])
        .expect(1)
        .documents();
    let changes: Vec<_> = documents
        .iter()
        .map(|it| format!("{} {}", it["tool"], it["breaking"]))
        .collect();
    assert_eq!(changes, [r#""fs.dir" "name_removed""#, r#""fs.list" null"#]);
}

#[test]
fn a_file_that_is_no_lock_file_is_a_usage_error() {
    let crib = Crib::new();
    let missing = crib.run(&["lock", "--check"]).expect(2);
    assert!(missing.stderr.contains("no lock file"), "{missing:#?}");
    for (text, part) in [
        ("{}", "not a lock file"),
        (r#"{"version": 2, "tools": {}}"#, "version 2"),
        ("", "not a lock file"),
    ] {
        fs::write(lock_file(&crib), text).unwrap();
        let ended = crib.run(&["lock", "--check"]).expect(2);
        assert!(ended.stderr.contains(part), "{ended:#?}");
    }
    crib.run(&["lock"]).expect(0);
    let text = fs::read_to_string(lock_file(&crib))
        .unwrap()
        .replace("Reads a text file", "Reads a file");
    fs::write(lock_file(&crib), text).unwrap();
    let edited = crib.run(&["lock", "--check"]).expect(2);
    assert!(
        edited.stderr.contains("fs.read") && edited.stderr.contains("digest"),
        "{edited:#?}"
    );
    let replaced = crib.run(&["lock"]).expect(0);
    assert!(replaced.stderr.contains("replaced"), "{replaced:#?}");
    crib.run(&["lock", "--check"]).expect(0);
}

#[test]
fn the_command_that_writes_the_file_again_names_the_file() {
    let crib = Crib::new();
    let lock = |arguments: &[&str]| {
        let arguments = [&["lock", "--file", "my tools.lock"], arguments].concat();
        crate::ended(crib.command(&arguments).env("COLUMNS", "300"), b"")
    };
    let absent = lock(&["--check"]).expect(2);
    lock(&[]).expect(0);
    let file = crib.root().join("my tools.lock");
    edit(&file, "fs.read", |definition| {
        definition["description"] = json!("Reads.")
    });
    let changed = lock(&["--check"]).expect(1);
    let mut damaged = read(&file);
    damaged["tools"]["fs.read"]["definition"]["description"] = json!("Reads on.");
    fs::write(&file, damaged.to_string()).unwrap();
    let damaged = lock(&["--check"]).expect(2);
    for shown in [absent.stderr, changed.stdout, damaged.stderr] {
        assert!(
            shown.contains("toolcrib lock --file 'my tools.lock'"),
            "{shown}"
        );
    }
}

#[test]
fn a_planted_link_is_not_written_through() {
    let crib = Crib::new();
    let outside = crib.write("precious", "precious");
    std::os::unix::fs::symlink(&outside, lock_file(&crib)).unwrap();
    let refused = crib.run(&["lock"]);
    assert!(
        refused.code != Some(0) && refused.stderr.contains("tools.lock is a link"),
        "{refused:#?}"
    );
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
}
