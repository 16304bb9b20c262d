//! cargo run --package example-own-family -- garden
//!
//! The commands of `toolcrib` with a family of tools that Toolcrib does not know.

use std::process::ExitCode;

use own_family as _;

fn main() -> ExitCode {
    toolcrib::main()
}
