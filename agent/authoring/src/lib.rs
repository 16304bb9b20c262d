#![doc = include_str!("../README.md")]

mod ceiling;
mod error;
mod lint;
mod lock;
mod lock_file;
mod new;
mod show;

use host::{Command, Extension, inventory};
use tools::source;

/// Families add to it what they can inspect.
const AUDIT: Command = Command {
    about: "Inspect what the linked tools could touch, and the journals of past calls",
    behind: "config",
    commands: &[ceiling::CEILING],
    ..Command::new("audit")
};

inventory::submit! {
    Extension::new("authoring", source!())
        .with_commands(&[AUDIT, lint::LINT, lock::LOCK, new::NEW, show::SHOW])
}
