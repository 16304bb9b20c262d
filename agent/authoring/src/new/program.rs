//! The program: the commands of `toolcrib` (run, chat, list, doctor, …) with the tools of @name@.

use std::process::ExitCode;

use @library@_tools as _;

fn main() -> ExitCode {
    toolcrib::Program::new().with_name("@name@").with_version(env!("CARGO_PKG_VERSION")).main()
}
