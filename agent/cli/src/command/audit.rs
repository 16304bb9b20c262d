//! `toolcrib audit`, to which families add what they can inspect.

mod ceiling;

use host::{Command, Extension, inventory};
use tools::source;

inventory::submit! {
    Extension::new("audit", source!()).with_commands(&[AUDIT])
}

const AUDIT: Command = Command {
    about: "Inspect what the linked tools could touch, and the journals of past calls",
    behind: "config",
    commands: &[ceiling::CEILING],
    ..Command::new("audit")
};
