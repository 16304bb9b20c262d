//! Canaries: secrets passed to the program in every form of arguments must not appear in its output. The tools are linked
//! into the tests only, so this test starts itself as the program.

use std::process::Command;

use clap::Parser as _;
use serde::Deserialize;
use tools::{JsonSchema, Secret, tool};

use crate::command::Cli;

/// The variable with the command line of the program, as JSON.
const LINE: &str = "TOOLCRIB_CANARY";

/// The arguments of both tools; the keys are secret if `S` is [`Secret`].
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the keys are read by `Debug`")]
struct Vault<S> {
    /// The first key.
    key: S,
    /// Further keys.
    keys: Option<Vec<S>>,
    /// Whether it fails.
    fails: Option<bool>,
}

impl<S: std::fmt::Debug> Vault<S> {
    fn open(self) -> Result<String, String> {
        if self.fails == Some(true) {
            Err(format!("{self:?} fails"))
        } else {
            Ok(format!("{self:?} opens"))
        }
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

/// Returns the program's standard output and standard error.
fn printed(line: &[String]) -> String {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args([
        "canary::nothing_that_the_program_prints_has_a_secret",
        "--exact",
        "--nocapture",
    ]);
    // Keys and settings of the environment do not influence the test, and the user's sessions are not touched.
    let state = tempfile::tempdir().unwrap();
    command.env_clear().env("XDG_STATE_HOME", state.path());
    let ended = command
        .env(LINE, serde_json::to_string(line).unwrap())
        .output()
        .unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    )
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
        &[
            "call",
            "TOOL",
            "--args",
            r#"{"keys": ["CANARY"]}"#,
            "--json",
        ],
        &["call", "TOOL", "--args", r#"{"kye": "CANARY"}"#],
        &["call", "TOOL", "key=", "keys=CANARY"],
        &["call", "TOOL", "key=", "keys=CANARY", "--json"],
        &["run", "TOOL key=CANARY"],
        &["run", "TOOL key=CANARY fails=true ; TOOL key=CANARY"],
        &[
            "run",
            "TOOL key=CANARY ; TOOL kye=CANARY",
            "--output",
            "stream-json",
        ],
        &["run", "TOOL key=a keys=CANARY"],
    ]
    .into_iter()
    .enumerate()
    {
        let canary = format!("cnry{case:02}");
        let [secret, plain] = ["canary.secret", "canary.plain"].map(|tool| {
            let words = ["toolcrib"].iter().chain(line);
            words
                .map(|word| word.replace("TOOL", tool).replace("CANARY", &canary))
                .collect::<Vec<_>>()
        });
        let output = printed(&secret);
        assert!(
            output.contains("canary.secret") || output.contains("[secret]"),
            "{line:?} printed nothing: {output}"
        );
        assert!(!output.contains(&canary), "{line:?}: {output}");
        // The control: the search finds a text that is not secret.
        let output = printed(&plain);
        assert!(output.contains(&canary), "{line:?}: {output}");
    }
    // The arguments of an unknown tool are not printed either.
    let line = [
        "toolcrib",
        "run",
        "canary.scret key=cnry",
        "--output",
        "stream-json",
    ];
    let output = printed(&line.map(str::to_owned));
    assert!(
        output.contains("canary.scret") && !output.contains("cnry"),
        "{output}"
    );
}
