//! The example is a whole program: it has its name, its tool, its settings and its provider.

#![allow(clippy::unwrap_used)] // A test.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the command for the program in a folder that is also the user's home. Its environment has no keys and no settings.
fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_example-own-program"));
    command
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home);
    command
}

/// Runs the program and returns its standard output.
fn output(home: &Path, arguments: &[&str]) -> String {
    let output = command(home, arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_has_its_own_name_and_version() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        output(home.path(), &["--version"]).trim(),
        concat!("translator ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn its_tool_runs_with_its_service() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        output(home.path(), &["run", "word.translate text='good morning'"]).trim(),
        "bon matin"
    );
}

#[test]
fn its_provider_is_found_by_name() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        output(home.path(), &["run", "--provider", "demo", "translate it"]).trim(),
        "Done."
    );
}

#[test]
fn its_default_settings_hold_until_its_settings_file_says_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let select = || {
        let config: serde_json::Value =
            serde_json::from_str(&output(home.path(), &["config", "--json"])).unwrap();
        let settings = config["settings"].as_array().unwrap();
        let select = settings
            .iter()
            .find(|setting| setting["key"] == "select")
            .unwrap();
        (
            select["value"].clone(),
            select["origin"]["path"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(
        select(),
        (serde_json::json!(["word.*"]), "built-in".to_owned())
    );

    let user = home.path().join(".config/translator/translator.toml");
    std::fs::create_dir_all(user.parent().unwrap()).unwrap();
    std::fs::write(&user, "select = ['*']").unwrap();
    let (value, path) = select();
    assert_eq!(
        (value, path),
        (serde_json::json!(["*"]), user.to_str().unwrap().to_owned())
    );
}

#[test]
fn an_untrusted_project_does_not_override_its_default_settings() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("translator.toml"), "select = ['*']").unwrap();
    let output = command(home.path(), &["config"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && message.contains("untrusted project"),
        "{message}"
    );
}

#[test]
fn its_settings_files_are_written_only_with_an_approval() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("sub")).unwrap();
    let write = [
        "call",
        "fs.write",
        "path=sub/translator.toml",
        "content=x",
        "--grant",
        "fs:write:**",
    ];
    let ended = command(home.path(), &write)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains("approval"),
        "{ended:?}"
    );
    assert!(!home.path().join("sub/translator.toml").exists());
}

#[test]
fn its_variables_begin_with_its_name() {
    let home = tempfile::tempdir().unwrap();
    let variables = [
        ("TRANSLATOR_LIMITS_MAX_STEPS", "7"),
        ("TOOLCRIB_LIMITS_MAX_STEPS", "8"),
    ];
    let output = command(home.path(), &["config", "--json"])
        .envs(variables)
        .output()
        .unwrap();
    let config: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = config["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "limits.max_steps")
        .unwrap();
    assert_eq!(
        (&steps["value"], &steps["origin"]["variable"]),
        (&7.into(), &variables[0].0.into())
    );
}
