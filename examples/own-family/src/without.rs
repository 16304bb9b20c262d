//! The program without the family.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcrib::main()
}
