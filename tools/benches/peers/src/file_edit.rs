//! `fs.edit` of one place in a file of 8 MB, beside `sed -i`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use tools::{Catalog, Grant, Host};
use tools_fs::Workspace;

use crate::chat::runtime;
use crate::clock::{ProcessorTime, micros_of_children};
use crate::figure::Figure;
use crate::round::{ROUNDS, Round, SIDES, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "file-edit",
    measure,
    round,
};

/// The size of the file.
const SIZE: usize = 8_000_000;

const FILE: &str = "large.txt";
const OLD: &str = "the one place";
const NEW: &str = "another place";

fn measure(table: &mut Table) {
    if Command::new("sed").arg("--version").output().is_err() {
        return table.note("`fs.edit` is left out, because `sed` is missing.");
    }
    let [toolcrib, peer] = in_turn(ROUNDS, |side| {
        Round::start("compare", &["round", FIGURE.name, SIDES[side]])
    });
    table.compare(
        "`fs.edit` of one place in 8 MB, beside `sed -i`, processor time",
        "ms",
        [toolcrib[0], peer[0]],
        "≤ 1.5 ×",
    );
    table.compare("by the clock", "ms", [toolcrib[1], peer[1]], "");
}

fn round(arguments: &[String]) -> Round {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    std::fs::write(&path, text(OLD)).unwrap();
    let millis = if arguments[0] == SIDES[0] {
        with_tool(folder.path())
    } else {
        with_program(folder.path())
    };
    let is_edited = std::fs::read_to_string(path).unwrap() == text(NEW);
    Round {
        figures: millis.to_vec(),
        result: is_edited.to_string(),
    }
}

/// Returns the text of the file with these words in the middle.
fn text(words: &str) -> String {
    let mut text = String::with_capacity(SIZE + 200);
    let mut number = 0;
    let mut has_words = false;
    while text.len() < SIZE {
        number += 1;
        text += &format!("line {number} of a file that is large for one that people edit\n");
        if !has_words && text.len() > SIZE / 2 {
            has_words = true;
            text += &format!("here is {words} to edit\n");
        }
    }
    text
}

fn with_tool(folder: &Path) -> [f64; 2] {
    let mut catalog = Catalog::new();
    tools_fs::register(&mut catalog).unwrap();
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**", "fs:write:**"]).unwrap())
        .with_service(Workspace::open(folder).unwrap());
    let arguments = json!({"path": FILE, "old": OLD, "new": NEW});
    let (time, start) = (ProcessorTime::now(), Instant::now());
    let result = runtime().block_on(catalog.execute(&cx, "fs.edit", arguments));
    let millis = [time.micros() / 1e3, start.elapsed().as_secs_f64() * 1e3];
    result.unwrap();
    millis
}

fn with_program(folder: &Path) -> [f64; 2] {
    let start = Instant::now();
    let status = Command::new("sed")
        .args(["-i", &format!("s/{OLD}/{NEW}/"), FILE])
        .current_dir(folder)
        .status();
    assert!(status.unwrap().success());
    [
        micros_of_children() / 1e3,
        start.elapsed().as_secs_f64() * 1e3,
    ]
}
