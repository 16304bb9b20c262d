//! The reference of the manual, which `.ci/generate` writes from the program. A page with text of its own has the generated part between
//! `<!-- generated -->` and `<!-- end -->`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Crib;
use crate::stream::{OUTCOME_SCHEMA, STREAM_SCHEMA};

/// Options with the same text in so many commands are described once.
const COMMON: usize = 4;

/// The headings of arguments, options and commands in a help text. Other parts are taken as they are.
const LISTS: [&str; 12] = [
    "Arguments:",
    "Commands:",
    "Options:",
    "Use:",
    "Connect:",
    "Make tools:",
    "Others:",
    "Model:",
    "Tools:",
    "Permissions:",
    "Limits:",
    "Recording:",
];

/// An argument or an option in a help text.
struct Entry {
    name: String,
    text: String,
}

/// The parts of a help text.
struct Help {
    about: String,
    usage: String,
    commands: Vec<String>,
    entries: Vec<Entry>,
    /// Other sections, such as examples.
    rest: String,
}

impl Help {
    fn of(command: &str) -> Self {
        let words = command.split(' ').filter(|word| !word.is_empty());
        let words: Vec<_> = words.chain(["--help"]).collect();
        let text = Crib::new().run(&words).expect(0).stdout;
        let (about, text) = text.split_once("\nUsage: ").unwrap();
        let (usage, text) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut help = Self {
            about: paragraphs(about),
            usage: usage.to_owned(),
            commands: Vec::new(),
            entries: Vec::new(),
            rest: String::new(),
        };
        let mut is_list = false;
        for line in text.lines() {
            let inside = line.trim_start();
            let indent = line.len() - inside.len();
            if indent == 0 && line.ends_with(':') {
                is_list = LISTS.contains(&line);
                if !is_list {
                    writeln!(help.rest, "{line}").unwrap();
                }
            } else if !is_list {
                writeln!(help.rest, "{line}").unwrap();
            } else if inside.starts_with(['-', '<', '[']) && indent <= 6 {
                let (name, text) = inside.split_once("  ").unwrap_or((inside, ""));
                help.entries.push(Entry {
                    name: name.to_owned(),
                    text: text.trim().to_owned(),
                });
            } else if indent == 2 {
                help.commands
                    .extend(inside.split(' ').next().map(str::to_owned));
            } else if let (Some(entry), false) = (help.entries.last_mut(), inside.is_empty()) {
                entry.text = format!("{} {inside}", entry.text).trim().to_owned();
            }
        }
        help.commands.retain(|command| command != "help");
        help
    }
}

/// Returns the text with one line for each paragraph.
fn paragraphs(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n");
    paragraphs
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Adds a command and those below it.
fn visit(command: &str, found: &mut Vec<(String, Help)>) {
    let help = Help::of(command);
    let below: Vec<_> = help
        .commands
        .iter()
        .map(|name| format!("{command} {name}"))
        .collect();
    found.push((command.to_owned(), help));
    for command in below {
        visit(command.trim(), found);
    }
}

fn commands() -> String {
    let mut found = Vec::new();
    visit("", &mut found);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for entry in found.iter().flat_map(|(_, help)| &help.entries) {
        *counts
            .entry((entry.name.clone(), entry.text.clone()))
            .or_default() += 1;
    }
    let is_common = |entry: &Entry| {
        entry.name.starts_with('-') && counts[&(entry.name.clone(), entry.text.clone())] >= COMMON
    };
    let mut page = String::new();
    let line = |entry: &Entry| format!("- `{}`: {}\n", entry.name, escaped(&entry.text));
    for (command, help) in &found {
        let title = if command.is_empty() {
            "toolcrib"
        } else {
            command
        };
        let level = if command.contains(' ') { "###" } else { "##" };
        let Help { about, usage, .. } = help;
        write!(
            page,
            "{level} `{title}`\n\n{}\n\n```text\n{usage}\n```\n",
            escaped(about)
        )
        .unwrap();
        let (common, own): (Vec<_>, Vec<_>) = help
            .entries
            .iter()
            .filter(|entry| !entry.name.contains("--help"))
            .partition(|entry| is_common(entry));
        if !own.is_empty() {
            page += "\n";
        }
        page.extend(own.iter().map(|entry| line(entry)));
        if !common.is_empty() {
            let name = |entry: &&Entry| format!("`{}`", entry.name.split(' ').next().unwrap());
            let names: Vec<_> = common.iter().map(name).collect();
            write!(
                page,
                "\n[Common options](#common-options): {}\n",
                names.join(", ")
            )
            .unwrap();
        }
        // The keys of settings have a page of their own.
        if !help.rest.trim().is_empty() && command != "config" {
            write!(page, "\n```text\n{}\n```\n", help.rest.trim()).unwrap();
        }
        page += "\n";
    }
    page += "## Common options\n\n";
    let mut written = Vec::new();
    for entry in found.iter().flat_map(|(_, help)| &help.entries) {
        let line = line(entry);
        if is_common(entry) && !entry.name.contains("--help") && !written.contains(&line) {
            written.push(line);
        }
    }
    written.sort();
    page + &written.concat()
}

/// Returns text of a help as Markdown: clauses have `**`.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*")
        .replace('<', "&lt;")
        .replace('_', "\\_")
}

fn clauses() -> String {
    let crib = Crib::new();
    let mut table = "## Tools by clause\n\n| clause | tools |\n|---|---|\n".to_owned();
    let mut harmless = "| command | reason |\n|---|---|\n".to_owned();
    let mut rows = BTreeMap::<String, Vec<String>>::new();
    for family in crib
        .run(&["audit", "ceiling", "--json"])
        .expect(0)
        .documents()
    {
        if let Some(clause) = family["harmless"].as_str() {
            let reason = family["reason"].as_str().unwrap();
            writeln!(harmless, "| `{clause}` | {reason} |").unwrap();
        }
        for touched in family["touches"].as_array().into_iter().flatten() {
            let tools = touched["tools"].as_array().unwrap().iter();
            let tools = tools.map(|tool| format!("`{}`", tool.as_str().unwrap()));
            let clause = touched["clause"].as_str().unwrap().to_owned();
            rows.entry(clause).or_default().extend(tools);
        }
    }
    for (clause, tools) in rows {
        writeln!(table, "| `{clause}` | {} |", tools.join(", ")).unwrap();
    }
    let settings = crib.run(&["config", "--json"]).expect(0).document();
    let granted = settings["settings"].as_array().unwrap().iter();
    let granted = granted.filter(|setting| setting["key"] == "grants");
    let granted = granted.map(|setting| format!("- `{}`\n", setting["value"].as_str().unwrap()));
    format!(
        "{table}\n## Harmless commands\n\nThey run without a question in sessions that you start, unless `harmless_commands = false`:\n\n\
         {harmless}\n## Granted by default\n\n{}\nA session also asks its own model (`llm:read:PROVIDER/MODEL`), and searches (`search:read:web`) \
         if `web.search` names a backend.\n",
        granted.collect::<String>()
    )
}

fn events() -> String {
    let schema: Value = serde_json::from_str(STREAM_SCHEMA).unwrap();
    let definitions = schema["$defs"].as_object().unwrap();
    let kinds = schema["$defs"]["line"]["anyOf"].as_array().unwrap().iter();
    let mut page = String::new();
    for kind in kinds.map(|kind| {
        kind["$ref"]
            .as_str()
            .unwrap()
            .trim_start_matches("#/$defs/")
    }) {
        let line = &definitions[kind];
        write!(
            page,
            "## `{kind}`\n\n{}\n\n",
            line["description"].as_str().unwrap()
        )
        .unwrap();
        let required = line["required"].as_array().unwrap();
        for (name, field) in line["properties"].as_object().unwrap() {
            if name == "type" {
                continue;
            }
            let mut text = format!("- `{name}`");
            if let Some(kind) = field["type"].as_str() {
                write!(text, ", {kind}").unwrap();
            }
            if !required.contains(&Value::from(&**name)) {
                text += ", may be absent";
            }
            if let Some(description) = field["description"].as_str() {
                write!(text, ": {description}").unwrap();
            }
            if let Some(values) = field["enum"].as_array() {
                let values = values
                    .iter()
                    .map(|value| format!("`{}`", value.as_str().unwrap()));
                write!(text, " One of {}.", values.collect::<Vec<_>>().join(", ")).unwrap();
            }
            writeln!(page, "{text}").unwrap();
        }
        page += "\n";
    }
    let failures = definitions["failure"]["enum"].as_array().unwrap().iter();
    let failures = failures.map(|kind| format!("`{}`", kind.as_str().unwrap()));
    let failures = failures.collect::<Vec<_>>().join(", ");
    page + &format!("The `kind` of a failed model request is one of {failures}.\n")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("reference")
        .join(name)
}

/// Compares the generated part of a page, or writes it.
#[track_caller]
fn compare(name: &str, made: &str) {
    let page = std::fs::read_to_string(file(name)).unwrap();
    let (before, rest) = page.split_once("<!-- generated -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let written = format!(
        "{before}<!-- generated -->\n\n{}\n\n<!-- end -->{after}",
        made.trim()
    );
    // As .ci/generate asks.
    if std::env::var_os("TOOLCRIB_GENERATE").is_some() {
        std::fs::write(file(name), written).unwrap();
    } else {
        assert!(
            page == written,
            "{name} is not what the program says: run .ci/generate"
        );
    }
}

#[test]
fn the_reference_has_all_commands() {
    compare("commands.md", &commands());
}

#[test]
fn the_reference_has_the_clauses_of_all_tools() {
    compare("clauses.md", &clauses());
}

#[test]
fn the_reference_has_the_events_of_the_schema() {
    compare("events.md", &events());
}

#[test]
fn the_reference_has_one_schema_of_the_outcome() {
    let [stream, outcome] =
        [STREAM_SCHEMA, OUTCOME_SCHEMA].map(|text| serde_json::from_str::<Value>(text).unwrap());
    for part in ["outcome", "failure"] {
        assert_eq!(stream["$defs"][part], outcome["$defs"][part], "{part}");
    }
}
