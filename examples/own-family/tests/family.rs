//! A program has all of a family that it links, and nothing else of it changes.

#![allow(clippy::unwrap_used)] // A test.

use std::path::Path;
use std::process::Command;

const WITH: &str = env!("CARGO_BIN_EXE_example-own-family");
const WITHOUT: &str = env!("CARGO_BIN_EXE_example-without-family");

/// Runs a program in a folder that is also the user's home. Its environment has no keys and no settings.
fn output(program: &str, home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(home).env_clear();
    let output = command.env("HOME", home).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_whose_families_have_one_name_runs_nothing_but_doctor() {
    let home = tempfile::tempdir().unwrap();
    for (command, exit) in [("list", 10), ("config", 10), ("doctor", 8)] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_example-family-twice"));
        program.arg(command).current_dir(&home).env_clear();
        let ended = program.env("HOME", home.path()).output().unwrap();
        let shown = [ended.stdout, ended.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(ended.status.code(), Some(exit), "{command}: {shown}");
        assert!(shown.contains("authorship"), "{command}: {shown}");
    }
}

/// Writes the settings of the user.
fn set(home: &Path, text: &str) {
    let folder = home.join(".config/toolcrib");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("toolcrib.toml"), text).unwrap();
}

#[test]
fn a_linked_family_has_its_tool_settings_service_report_and_command() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    set(
        home,
        "grants = ['garden:write:roses']\n[garden]\nbeds = ['roses', 'leeks']\nminutes = 7\n\
         [[policy]]\nverdict = 'allow'\ntarget = 'garden:write:roses'\n",
    );
    assert_eq!(output(WITH, home, &["garden"]), "roses\nleeks\n");
    let watered = output(WITH, home, &["call", "garden.water", "bed=roses"]);
    assert!(watered.contains("roses: 7 minutes"), "{watered}");
    assert!(output(WITH, home, &["doctor"]).contains("garden: 2 beds"));
    assert!(output(WITH, home, &["config"]).contains("garden.minutes"));
}

#[test]
fn without_the_family_a_program_is_the_same_but_for_it() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, added) in [
        (&["list"][..], 1),
        (&["--help"], 1),
        (&["config"], 2),
        (&["providers"], 0),
        (&["show", "fs.read"], 0),
        (&["run", "--help"], 0),
    ] {
        let [with, without] =
            [WITH, WITHOUT].map(|program| output(program, home.path(), arguments));
        let (own, others): (Vec<_>, Vec<_>) =
            with.lines().partition(|line| line.contains("garden"));
        let others: Vec<_> = others.into_iter().map(str::trim_end).collect();
        let without: Vec<_> = without.lines().map(str::trim_end).collect();
        assert_eq!(others, without, "{arguments:?}");
        assert_eq!(own.len(), added, "{arguments:?}: {own:?}");
    }
}
