//! A listing costs hardly more than that of `ls`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tools_fs::Workspace;
use tools_testkit::TestHost;

/// Returns the bytes of `ls -1pA` with the size of each file and a space before its name.
fn ls(dir: &Path) -> usize {
    let output = Command::new("ls")
        .arg("-1pA")
        .arg(dir)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(output.status.success());
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap());
    let sizes = files
        .filter(|metadata| metadata.is_file())
        .map(|metadata| metadata.len().to_string().len() + 1);
    output.stdout.len() + sizes.sum::<usize>()
}

/// Returns the directories of a tree that are not empty, without those that git and cargo write meanwhile.
fn directories(root: &Path, found: &mut Vec<PathBuf>) {
    let entries: Vec<_> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap())
        .collect();
    if !entries.is_empty() {
        found.push(root.to_owned());
    }
    for entry in entries {
        let is_left_out = ["target", ".git"]
            .iter()
            .any(|name| entry.file_name() == *name);
        if entry.file_type().unwrap().is_dir() && !is_left_out {
            directories(&entry.path(), found);
        }
    }
}

#[test]
fn a_listing_has_at_most_one_and_a_half_times_the_bytes_of_ls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let host = TestHost::new(tools_fs::register).with_service(Workspace::open(&root).unwrap());
    let mut dirs = Vec::new();
    directories(&root, &mut dirs);
    assert!(dirs.len() > 10, "{dirs:?}");
    for dir in &dirs {
        let path = Path::new(".").join(dir.strip_prefix(&root).unwrap());
        let path = path.to_str().unwrap();
        let (mut listed, mut arguments) = (0, json!({"path": path}));
        loop {
            let part = host.call_blocking("fs.list", arguments.clone()).unwrap();
            listed += part.to_text().len();
            let structured = part.structured.unwrap().into_value();
            let Some(last) = structured
                .get("more")
                .and(structured["entries"].as_array().unwrap().last())
            else {
                break;
            };
            arguments["after"] = last["name"].clone();
        }
        let reference = ls(dir);
        assert!(
            2 * listed <= 3 * reference,
            "{path}: {listed} bytes, {reference} of ls"
        );
    }
}
