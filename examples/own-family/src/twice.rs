//! A program with a second family of a name that one of Toolcrib has.

use std::process::ExitCode;

use host::{Extension, Parts, inventory};
use tools::source;

inventory::submit! {
    Extension::new("authorship", source!(), Parts::NONE)
}

fn main() -> ExitCode {
    toolcrib::main()
}
