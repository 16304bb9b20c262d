//! End-to-end tests of the program.

// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "default")]
mod acp;
#[cfg(feature = "default")]
mod always;
#[cfg(all(feature = "builtin", target_os = "linux"))]
mod aside;
#[cfg(feature = "default")]
mod attachment;
mod audit;
#[cfg(feature = "default")]
mod budget;
mod call;
mod chat;
#[cfg(feature = "default")]
mod chat_commands;
mod chat_terminal;
#[cfg(feature = "builtin")]
mod clauses;
#[cfg(feature = "default")]
mod collector;
mod config;
mod config_effect;
mod config_environment;
mod config_mistake;
#[cfg(feature = "default")]
mod cron;
#[cfg(feature = "builtin")]
mod disclosure;
mod doctor;
#[cfg(feature = "default")]
mod export;
#[cfg(feature = "default")]
mod fallback;
#[cfg(feature = "default")]
mod family_help;
#[cfg(all(feature = "default", target_os = "linux"))]
mod guide;
#[cfg(all(feature = "default", target_os = "linux"))]
mod hidden_names;
#[cfg(feature = "builtin")]
mod home_as_root;
#[cfg(feature = "default")]
mod ineffective;
mod interrupt;
#[cfg(feature = "default")]
mod journal;
#[cfg(not(feature = "default"))]
mod journal_absent;
#[cfg(feature = "builtin")]
mod linked_names;
mod lint;
mod list;
#[cfg(feature = "default")]
mod listen;
#[cfg(feature = "default")]
mod listen_life;
#[cfg(feature = "default")]
mod listen_sessions;
#[cfg(feature = "builtin")]
mod lock;
#[cfg(feature = "default")]
mod loopback;
#[cfg(all(feature = "default", target_os = "linux"))]
mod lost_programs;
#[cfg(feature = "default")]
mod mcp;
#[cfg(feature = "default")]
mod mcp_code;
#[cfg(feature = "default")]
mod mcp_control;
#[cfg(feature = "default")]
mod mcp_fault;
#[cfg(feature = "default")]
mod mcp_home;
#[cfg(feature = "default")]
mod mcp_kill;
#[cfg(feature = "default")]
mod mcp_login;
#[cfg(feature = "default")]
mod mcp_mistake;
#[cfg(feature = "default")]
mod mcp_new_tool;
mod mcp_output;
#[cfg(feature = "default")]
mod mcp_prompts;
#[cfg(feature = "default")]
mod mcp_question;
#[cfg(feature = "default")]
mod mcp_reach;
#[cfg(feature = "default")]
mod mcp_server;
#[cfg(feature = "default")]
mod mcp_session;
#[cfg(feature = "default")]
mod mcp_task;
#[cfg(feature = "default")]
mod mcp_trust;
#[cfg(feature = "default")]
mod memory;
#[cfg(feature = "default")]
mod messages;
#[cfg(feature = "default")]
mod model;
#[cfg(all(feature = "default", target_os = "linux"))]
mod moved_folders;
#[cfg(feature = "default")]
mod named_files;
mod new;
#[cfg(feature = "default")]
mod origin;
mod output;
mod own_files;
#[cfg(feature = "builtin")]
mod own_programs;
#[cfg(feature = "default")]
mod planted;
mod policy;
#[cfg(feature = "default")]
mod prefix;
#[cfg(all(feature = "default", target_os = "linux"))]
mod private_homes;
#[cfg(all(feature = "builtin", target_os = "linux"))]
mod programs;
#[cfg(all(feature = "builtin", target_os = "linux"))]
mod programs_session;
mod progress;
#[cfg(all(feature = "builtin", target_os = "linux"))]
mod protected_told;
#[cfg(feature = "default")]
mod provider_choice;
#[cfg(feature = "default")]
mod providers;
mod readme;
#[cfg(feature = "default")]
mod reference;
mod repository;
mod run;
#[cfg(feature = "default")]
#[cfg(feature = "default")]
mod serve;
#[cfg(feature = "default")]
mod serve_hostile;
#[cfg(feature = "default")]
mod serve_model;
#[cfg(feature = "default")]
mod sessions;
mod show;
#[cfg(all(feature = "builtin", target_os = "linux"))]
mod shown_calls;
#[cfg(feature = "default")]
#[path = "../../../../tools/mcp/src/client/http/tests/site.rs"]
mod site;
#[cfg(feature = "default")]
mod skills;
#[cfg(feature = "default")]
mod skills_commands;
#[cfg(feature = "default")]
mod skills_written;
#[cfg(feature = "default")]
mod speech;
mod start;
#[cfg(feature = "default")]
mod steering;
#[cfg(feature = "default")]
mod strangers_files;
#[cfg(feature = "default")]
mod strangers_repository;
mod stream;
mod sub_agent;
mod system;
#[cfg(feature = "default")]
mod telemetry;
mod terminal;
#[cfg(feature = "default")]
mod terminal_markdown;
mod terminal_output;
mod terminal_question;
mod terminal_shown;
mod terminal_unintended;
mod terminal_whole;
mod text_input;
mod trust;
mod trust_content;
mod usage;
#[cfg(feature = "default")]
mod web;
#[cfg(feature = "default")]
mod web_hosts;
#[cfg(feature = "default")]
mod web_search;
#[cfg(feature = "default")]
mod web_settings;
#[cfg(feature = "default")]
mod web_texts;
mod why;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A root with some files, and a file outside it.
struct Crib {
    dir: TempDir,
}

/// The exit code and output of the program.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Crib {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let crib = Self { dir };
        std::fs::create_dir_all(crib.root().join("sub")).unwrap();
        std::fs::write(crib.root().join("README.md"), "# Hello\n").unwrap();
        std::fs::write(crib.root().join("with space.txt"), "spaced\n").unwrap();
        std::fs::write(crib.root().join("sub/inner.txt"), "inner\n").unwrap();
        std::fs::write(crib.dir.path().join("secret.txt"), "secret\n").unwrap();
        crib
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    /// Writes a file next to the root. Returns its path.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes a file that only the user can read. Returns its path.
    #[cfg(feature = "default")]
    fn write_private(&self, name: &str, text: &str) -> String {
        let path = self.write(name, text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode).unwrap();
        path
    }

    /// Writes a script of these JSON turns. Returns its path.
    fn script(&self, turns: &[&str]) -> String {
        self.write("turns.json", &format!("[{}]", turns.join(", ")))
    }

    /// Writes a script too long to finish in a test. Returns its path.
    fn endless(&self) -> String {
        // Different calls: a run of equal ones ends as a loop.
        let call = |tool, number| {
            format!(r#"{{"name": "fs.{tool}", "arguments": {{"path": "{number}"}}}}"#)
        };
        let turn = |number| {
            format!(
                r#"{{"calls": [{}, {}]}}"#,
                call("read", number),
                call("list", number)
            )
        };
        let turns: Vec<_> = (0..20_000).map(turn).collect();
        self.script(&turns.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns the command for the program with these arguments, in the root.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.root(), arguments);
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command.env("XDG_CONFIG_HOME", self.dir.path().join("config"));
        command.env("XDG_DATA_HOME", self.dir.path().join("data"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with_input(arguments, b"")
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ended {
        ended(&mut self.command(arguments), input)
    }
}

/// Runs a command with this standard input.
fn ended(command: &mut Command, input: &[u8]) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The write fails if the program has exited without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap().into()
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        Self {
            code: output.status.code(),
            stdout,
            stderr,
        }
    }
}

impl Ended {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Parses standard output as one JSON document per line.
    #[track_caller]
    fn documents(&self) -> Vec<Value> {
        assert!(
            self.stdout.is_empty() || self.stdout.ends_with('\n'),
            "{self:#?}"
        );
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[track_caller]
    fn document(&self) -> Value {
        let mut documents = self.documents();
        assert_eq!(documents.len(), 1, "{self:#?}");
        documents.remove(0)
    }
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcrib"));
    command.args(arguments).current_dir(directory);
    cleared(&mut command);
    command
}

/// Clears the environment, so that `CI`, `NO_COLOR` or model keys do not influence a test. The program keeps its state below the
/// folder of this build, never in the home of the user.
fn cleared(command: &mut Command) -> &mut Command {
    command.env_clear().env("TERM", "xterm-256color");
    command.env(
        "XDG_STATE_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("state"),
    );
    command.env(
        "XDG_DATA_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
    );
    for variable in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        }
    }
    command
}
