//! The commands for authors: how the family joins a program.

use host::{Command, CommandGroup, Extension, Parts, inventory};
use tools::source;

use crate::{ceiling, lint, lock, new, show};

inventory::submit! {
    Extension::new("authoring", source!(), Parts {
        commands: &[AUDIT, lint::LINT, lock::LOCK, new::NEW, show::SHOW],
        ..Parts::NONE
    })
}

/// Families add to it what they can inspect.
const AUDIT: Command = Command {
    about: "Inspect what the linked tools could touch, and the journals of past calls",
    group: CommandGroup::MakeTools,
    rank: 100,
    examples: "audit ceiling               # Print all that the linked tools could touch",
    commands: &[ceiling::CEILING],
    ..Command::new("audit")
};
