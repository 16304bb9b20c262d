//! The program `toolcrib`: lists, shows and calls the tools that are linked into it, and runs agent sessions with them.

mod approver;
mod argument;
mod briefing;
#[cfg(test)]
mod canary;
mod chat;
mod command;
mod config;
mod duration;
mod error;
mod exchange;
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
mod refusal;
mod sentence;
mod session;
mod shell;
mod spinner;
mod table;
mod visible;
mod wording;

use std::process::ExitCode;

use clap::Parser as _;

use crate::command::Cli;
use crate::exit::Exit;

// A tool that panics is to end its call and not the program.
const _: () = assert!(tools::call::ISOLATES_PANICS, "build with panic = \"unwind\"");

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => cli.run().unwrap_or_else(|error| error.report()),
        Err(usage) => {
            // Help that nobody reads to its end is no failure.
            let _ = usage.print();
            if usage.use_stderr() { Exit::Usage } else { Exit::Success }
        }
    };
    exit.into()
}
