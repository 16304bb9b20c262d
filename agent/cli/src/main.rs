//! The program `toolcrib`: lists, shows and calls its linked tools, and runs agent sessions with them.

mod approver;
mod argument;
#[cfg(test)]
mod canary;
mod chat;
mod command;
mod config;
mod duration;
mod error;
mod exit;
mod folders;
mod host;
mod interrupt;
mod journal;
mod linked;
mod notice;
mod observer;
mod output;
mod parameter;
mod policy;
mod prompt_runner;
mod refusal;
mod sentence;
mod session;
mod shell;
mod spinner;
mod system_text;
mod table;
mod visible;
mod wording;

use std::process::ExitCode;

use clap::Parser as _;

use crate::command::Cli;
use crate::exit::Exit;

// A panicking tool must end its call, not the program.
const _: () = assert!(tools::call::ISOLATES_PANICS, "build with panic = \"unwind\"");

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => cli.run().unwrap_or_else(|error| error.report()),
        Err(usage) => {
            // A closed pipe while help is printed is not an error.
            let _ = usage.print();
            if usage.use_stderr() { Exit::Usage } else { Exit::Success }
        }
    };
    exit.into()
}
