mod bounds;
mod differential;
mod readings;
mod shell;

use super::*;

/// Reads a script for bash in the workspace root.
fn bash(text: &str) -> Script {
    Script::parse(text, Shell::Bash, ".").unwrap()
}

/// Returns the commands as texts.
fn commands(script: &Script) -> Vec<String> {
    script.commands.iter().map(ToString::to_string).collect()
}
