//! Canaries: secrets that are given to the whole program in every way that it takes arguments, and looked for in all that it
//! prints. The tools are linked into the tests alone, so the program that is run is this test, started once more.

use std::process::Command;

use clap::Parser as _;
use serde::Deserialize;
use tools::{JsonSchema, Secret, tool};

use crate::command::Cli;

/// The command line of the program that is run, as JSON.
const LINE: &str = "TOOLCRIB_CANARY";

/// What opens a vault, which is secret where `S` is.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the keys are read by `Debug`")]
struct Vault<S> {
    /// The first key.
    key: S,
    /// Further ones.
    keys: Option<Vec<S>>,
    /// Whether it fails.
    fails: Option<bool>,
}

impl<S: std::fmt::Debug> Vault<S> {
    fn open(self) -> Result<String, String> {
        if self.fails == Some(true) { Err(format!("{self:?} fails")) } else { Ok(format!("{self:?} opens")) }
    }
}

/// Opens a vault.
#[tool(name = "canary.secret", pure)]
fn secret(#[args] vault: Vault<Secret>) -> Result<String, String> {
    vault.open()
}

/// Opens a vault whose keys are no secret.
#[tool(name = "canary.plain", pure)]
fn plain(#[args] vault: Vault<String>) -> Result<String, String> {
    vault.open()
}

/// What the program prints, on both of its outputs.
fn printed(line: &[String]) -> String {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["canary::nothing_that_the_program_prints_has_a_secret", "--exact", "--nocapture"]);
    let ended = command.env(LINE, serde_json::to_string(line).unwrap()).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr))
}

#[test]
fn nothing_that_the_program_prints_has_a_secret() {
    if let Ok(line) = std::env::var(LINE) {
        let line: Vec<String> = serde_json::from_str(&line).unwrap();
        let cli = Cli::try_parse_from(line).unwrap();
        let _ = cli.run().unwrap_or_else(|error| error.report());
        return;
    }
    for (case, line) in [
        &["call", "TOOL", "key=CANARY"][..],
        &["call", "TOOL", "key=CANARY", "--json"],
        &["call", "TOOL", "key=CANARY", "fails=true"],
        &["call", "TOOL", "key=CANARY", "fails=true", "--json"],
        &["call", "TOOL", "--args", r#"{"key": ["CANARY"]}"#],
        &["call", "TOOL", "--args", r#"{"keys": ["CANARY"]}"#, "--json"],
        &["call", "TOOL", "--args", r#"{"kye": "CANARY"}"#],
        &["call", "TOOL", "key=", "keys=CANARY"],
        &["call", "TOOL", "key=", "keys=CANARY", "--json"],
        &["run", "TOOL key=CANARY"],
        &["run", "TOOL key=CANARY fails=true ; TOOL key=CANARY"],
        &["run", "TOOL key=CANARY ; TOOL kye=CANARY", "--json"],
        &["run", "TOOL key=a keys=CANARY"],
    ]
    .into_iter()
    .enumerate()
    {
        let canary = format!("cnry{case:02}");
        let of = |tool: &str| {
            let words = ["toolcrib"].iter().chain(line);
            words.map(|word| word.replace("TOOL", tool).replace("CANARY", &canary)).collect::<Vec<_>>()
        };
        let told = printed(&of("canary.secret"));
        assert!(told.contains("canary.secret") || told.contains("[secret]"), "{line:?} told nothing: {told}");
        assert!(!told.contains(&canary), "{line:?}: {told}");
        // The same search finds a text that is no secret.
        let told = printed(&of("canary.plain"));
        assert!(told.contains(&canary), "{line:?}: {told}");
    }
    // Beside tools with secrets, nothing is told of a tool that is not there.
    let told = printed(&["toolcrib".into(), "run".into(), "canary.scret key=cnry".into(), "--json".into()]);
    assert!(told.contains("canary.scret") && !told.contains("cnry"), "{told}");
}
