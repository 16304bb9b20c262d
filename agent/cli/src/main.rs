//! The program `toolcrib` with the tools that its features link.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcrib::main()
}
