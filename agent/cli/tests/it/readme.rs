use std::path::Path;
use std::process::Command;

use crate::{Crib, cleared};

/// Returns the lines of the `sh` blocks.
fn commands(readme: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for block in readme.split("```sh\n").skip(1) {
        lines.extend(
            block
                .split("```")
                .next()
                .unwrap()
                .lines()
                .filter(|line| !line.is_empty()),
        );
    }
    lines
}

/// Runs a line in a shell, with the path of the program substituted.
fn run(directory: &Path, line: &str) {
    let program = env!("CARGO_BIN_EXE_toolcrib");
    let line = match line.strip_prefix("cargo run -- ") {
        Some(rest) => format!("{program} {rest}"),
        None => line.replace("toolcrib ", &format!("{program} ")),
    };
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(directory);
    let output = cleared(&mut command)
        .env("XDG_CONFIG_HOME", "/nowhere")
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    assert!(!output.stdout.is_empty(), "{line}");
}

#[test]
fn every_command_of_the_readme_works() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(project.join("README.md")).unwrap();
    let ci = std::fs::read_to_string(project.join(".ci/run")).unwrap();
    let commands = commands(&readme);
    assert!(
        commands
            .iter()
            .any(|line| line.starts_with("cargo run -- run ")),
        "{commands:?}"
    );
    for line in commands {
        // The tests cannot run themselves, so check that CI runs the command.
        if line.starts_with("cargo test ") {
            assert!(
                ci.lines().any(|step| step == line),
                "{line} is not what .ci/run runs"
            );
        } else {
            run(&project, line);
        }
    }
}

#[test]
fn every_command_of_the_programs_own_readme_works() {
    let crib = Crib::new();
    std::fs::write(
        crib.root().join("turns.json"),
        r#"[{"calls": [{"name": "fs.list"}]}, {"text": "That is all."}]"#,
    )
    .unwrap();
    let commands = commands(include_str!("../../README.md"));
    assert!(commands.len() > 5);
    for line in commands {
        run(&crib.root(), line);
    }
}
