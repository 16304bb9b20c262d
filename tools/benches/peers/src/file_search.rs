//! `fs.search`, beside `rg` with the same rules, over the sources of crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use tools::{Catalog, Grant, Host};
use tools_fs::Workspace;

use crate::chat::runtime;
use crate::clock::{ProcessorTime, micros_of_children};
use crate::figure::Figure;
use crate::round::{Round, SIDES, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "file-search",
    measure,
    round,
};

/// The searches: a description, the pattern, and whether its case does not matter. No pattern has over 200 lines, at which `fs.search` stops.
const SEARCHES: [(&str, &str, bool); 4] = [
    ("rare", "vectored write", false),
    ("frequent", PATTERN, false),
    ("case-insensitive", "scatter.gather", true),
    ("no match", "there_is_no_such_word_in_it", false),
];
const PATTERN: &str = r"self\.[a-z]+_[a-z]+_[a-z]+_[a-z]+_[a-z]+_[a-z]+_[a-z]+\b";

/// The size of the one large file.
const LARGE: usize = 100_000_000;

const ROUNDS: usize = 5;

fn measure(table: &mut Table) {
    if Command::new("rg").arg("--version").output().is_err() {
        return table
            .note("`fs.search` is left out, because `rg` is missing: `cargo install ripgrep`.");
    }
    let Some(tree) = tree() else {
        return table.note(
            "`fs.search` is left out, because there is no tree: `TOOLCRIB_TREE` names no folder, and Cargo has no sources of crates.",
        );
    };
    let tree = tree.to_str().unwrap();
    for (name, pattern, _) in SEARCHES {
        row(
            table,
            &format!("`fs.search` of crate sources, {name} (`{pattern}`)"),
            name,
            tree,
        );
    }
    let folder = tempfile::tempdir().unwrap();
    large_file(&folder.path().join("large.txt"));
    row(
        table,
        "`fs.search` of one file of 100 MB, rare",
        "large",
        folder.path().to_str().unwrap(),
    );
}

fn row(table: &mut Table, figure: &str, name: &str, tree: &str) {
    let mut lines = 0;
    let [toolcrib, peer] = in_turn(ROUNDS, |side| {
        let round = Round::start("compare", &["round", FIGURE.name, SIDES[side], name, tree]);
        lines = round.result.lines().count();
        round
    });
    if (lines == 0) != (name == "no match") {
        return table.note("A search of `fs.search` is left out, because the tree has no line for it, or one for that without a match.");
    }
    let figure = format!("{figure}, lines found: {lines}");
    table.compare(
        &format!("{figure}, beside `rg`, processor time"),
        "ms",
        [toolcrib[0], peer[0]],
        "≤ 1.2 ×",
    );
    table.compare("by the clock", "ms", [toolcrib[1], peer[1]], "≤ 1.3 ×");
}

/// Returns the folder that `TOOLCRIB_TREE` names, or that of Cargo's sources of crates.
fn tree() -> Option<PathBuf> {
    if let Some(tree) = std::env::var_os("TOOLCRIB_TREE") {
        return Some(tree.into());
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    Some(home.join("registry/src")).filter(|sources| sources.is_dir())
}

/// Writes a file with few words that a search finds.
fn large_file(path: &Path) {
    let mut text = String::with_capacity(LARGE + 200);
    let mut number = 0;
    while text.len() < LARGE {
        number += 1;
        text += &format!("line {number}: nothing that anybody looks for is in this line of text\n");
        if number % 100_000 == 0 {
            text += "a rare needle\n";
        }
    }
    std::fs::write(path, text).unwrap();
}

fn round(arguments: &[String]) -> Round {
    let [side, name, tree] = arguments else {
        panic!("a round needs a side, a search and a tree")
    };
    let (pattern, ignore_case) = match SEARCHES.iter().find(|(found, ..)| found == name) {
        Some((_, pattern, ignore_case)) => (*pattern, *ignore_case),
        None => ("a rare needle", false),
    };
    let path = if name == "large" { "large.txt" } else { "" };
    if side == SIDES[0] {
        with_tool(pattern, ignore_case, tree, path)
    } else {
        with_program(pattern, ignore_case, tree, path)
    }
}

fn with_tool(pattern: &str, ignore_case: bool, tree: &str, path: &str) -> Round {
    let mut catalog = Catalog::new();
    tools_fs::register(&mut catalog).unwrap();
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**"]).unwrap())
        .with_service(Workspace::open(tree).unwrap());
    let mut arguments = json!({"pattern": pattern, "ignore_case": ignore_case});
    if !path.is_empty() {
        arguments["path"] = path.into();
    }
    let (time, start) = (ProcessorTime::now(), Instant::now());
    let result = runtime().block_on(catalog.execute(&cx, "fs.search", arguments));
    let millis = [time.micros() / 1e3, start.elapsed().as_secs_f64() * 1e3];
    let text = result.unwrap().to_text();
    // The path of a file, then its matching lines, each with its number; an empty line ends a file.
    let (mut lines, mut file) = (Vec::new(), None);
    for line in text.lines() {
        match file {
            _ if line.is_empty() => file = None,
            None => file = Some(line),
            Some(path) => lines.push(format!("{path}:{}", line.replacen(": ", ":", 1))),
        }
    }
    outcome(millis, lines)
}

fn with_program(pattern: &str, ignore_case: bool, tree: &str, path: &str) -> Round {
    // The ignore files of the tree alone, as the tool reads them.
    let mut command = Command::new("rg");
    command.args([
        "--no-config",
        "--hidden",
        "--glob=!.git",
        "--max-filesize=16M",
    ]);
    command.args([
        "--no-require-git",
        "--no-ignore-parent",
        "--no-ignore-global",
    ]);
    command.args([
        "--line-number",
        "--with-filename",
        "--no-heading",
        "--color=never",
    ]);
    if ignore_case {
        command.arg("--ignore-case");
    }
    let path = if path.is_empty() { "." } else { path };
    if path != "." {
        command.arg("--max-filesize=1G");
    }
    let command = command.args(["--regexp", pattern, path]).current_dir(tree);
    let start = Instant::now();
    let output = command.output().unwrap();
    let millis = [
        micros_of_children() / 1e3,
        start.elapsed().as_secs_f64() * 1e3,
    ];
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines
        .lines()
        .map(|line| line.trim_start_matches("./").to_owned());
    outcome(millis, lines.collect())
}

/// Compares the text of all matching lines, and of those over 400 bytes the place, because the tool shows a part of them.
fn outcome(millis: [f64; 2], lines: Vec<String>) -> Round {
    let compared = lines.into_iter().map(|line| {
        let mut parts = line.splitn(3, ':');
        let (path, number, text) = (parts.next(), parts.next(), parts.next());
        let text = text.unwrap_or_default();
        let is_long = text.len() > 400 || text.starts_with("[… ") || text.ends_with("[…]");
        let text = if is_long { "[…]" } else { text };
        format!(
            "{}:{}:{text}",
            path.unwrap_or_default(),
            number.unwrap_or_default()
        )
    });
    let mut lines: Vec<_> = compared.collect();
    lines.sort();
    Round {
        figures: millis.to_vec(),
        result: lines.join("\n"),
    }
}
