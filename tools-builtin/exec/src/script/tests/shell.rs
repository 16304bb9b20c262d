//! The second opinion: a real shell runs a script in an empty folder, with programs that record their names and arguments.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tools::protocol::Word;

use crate::lookup;
use crate::script::{Script, Shell};

/// Writes its name and arguments to a file of its own, each with a NUL. Programs whose names begin with `f` fail.
const RECORDER: &str = r#"#!/bin/sh
n=${0##*/}
printf '%s\0' "$n" "$@" > "$RECORDS/$$"
case $n in f*) exit 1 ;; esac
"#;

/// Names that the shell runs itself.
const BUILTINS: [&str; 9] = [
    ":", "cd", "echo", "false", "printf", "pwd", "set", "test", "true",
];

pub(super) struct RealShell {
    folder: TempDir,
    programs: PathBuf,
}

/// The observed effects of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Effects {
    pub(super) commands: BTreeSet<Vec<String>>,
    pub(super) written: BTreeSet<String>,
    pub(super) errors: String,
}

impl RealShell {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        Self { folder, programs }
    }

    /// Runs a script. Only call it for scripts whose commands are harmless.
    pub(super) fn run(&self, dialect: Shell, text: &str, names: &BTreeSet<Vec<String>>) -> Effects {
        for name in names
            .iter()
            .map(|words| &words[0])
            .filter(|name| is_recorded(name))
        {
            let path = self.programs.join(name);
            if !path.exists() {
                fs::write(&path, RECORDER).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        // Of their own, because a program in the background may outlive its script.
        let run = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        let (records, cwd) = (run.join("records"), run.join("cwd"));
        for path in [&records, &cwd] {
            fs::create_dir(path).unwrap();
        }
        let (program, options): (_, &[&str]) = match dialect {
            Shell::Bash => ("bash", &["--noprofile", "--norc", "-c", "--"]),
            Shell::Sh => ("dash", &["-c", "--"]),
        };
        let output =
            Command::new(lookup::program(program, &cwd, &lookup::folders(&[]), || None).unwrap())
                .args(options)
                .arg(text)
                .env_clear()
                .env("PATH", &self.programs)
                .env("RECORDS", &records)
                .env(
                    "LC_ALL",
                    if text.len().is_multiple_of(2) {
                        "C.UTF-8"
                    } else {
                        "C"
                    },
                )
                .current_dir(&cwd)
                .stdin(Stdio::null())
                .output()
                .unwrap();
        let texts = entries(&records)
            .into_iter()
            .map(|path| String::from_utf8(fs::read(path).unwrap()).unwrap());
        // A program in the background may not have written its record yet.
        let commands = texts
            .filter(|text| !text.is_empty())
            .map(|text| text.split_terminator('\0').map(str::to_owned).collect());
        let written = entries(&cwd)
            .into_iter()
            .map(|path| path.strip_prefix(&cwd).unwrap().display().to_string());
        Effects {
            commands: commands.collect(),
            written: written.collect(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

/// Returns true if a program of this name would be recorded.
pub(super) fn is_recorded(name: &str) -> bool {
    !BUILTINS.contains(&name)
        && name != "["
        && name != "exit"
        && !name.contains('/')
        && name.len() < 200
}

/// Returns the commands of a script as words.
pub(super) fn words(script: &Script) -> BTreeSet<Vec<String>> {
    let text = |word: &Word| match word {
        Word::Known(text) => text.clone(),
        word => panic!("{word} is not known"),
    };
    script
        .commands
        .iter()
        .map(|words| words.iter().map(text).collect())
        .collect()
}
