//! The command for editors: how the family joins a program.

use host::{Extension, Parts, inventory};
use tools::source;

use crate::command::ACP;

inventory::submit! {
    Extension::new("acp", source!(), Parts {
        commands: &[ACP],
        ..Parts::NONE
    })
}
