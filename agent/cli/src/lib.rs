//! The program `toolcrib` as a library: a binary of three lines has its commands, with the tools that the binary links.
//!
//! ```no_run
//! use std::process::ExitCode;
//! # mod my_tools {}
//!
//! # #[allow(unused_imports)]
//! use my_tools as _;
//!
//! fn main() -> ExitCode {
//!     toolcrib::main()
//! }
//! ```
//!
//! [`Program`] sets the name, the version, default settings, services and providers.

mod argument;
mod attachment;
mod budget;
#[cfg(test)]
mod canary;
mod chat;
mod client_options;
mod command;
mod config;
mod detail;
mod disclosure;
mod effect_layer;
mod effect_log;
mod error;
mod extension;
mod host_options;
mod ineffective;
mod instructions;
mod interrupt;
mod journal;
mod linked;
mod no_provider;
mod notice;
mod observer;
mod original;
mod output;
mod output_file;
mod person;
mod policy;
mod program;
mod prompt_runner;
mod provider_choice;
mod provider_options;
mod refusal;
mod root;
mod session;
mod session_view;
mod standard_input;
mod start;
mod stream_line;
mod system_text;
mod terminal_asker;
mod tool_list;
mod trust;
mod wording;

use std::process::ExitCode;

pub use program::Program;

// A panicking tool must end its call, not the program.
const _: () = assert!(
    tools::call::ISOLATES_PANICS,
    "build with panic = \"unwind\""
);

/// Runs the program `toolcrib` with the tools linked into the binary, and returns its exit code.
pub fn main() -> ExitCode {
    Program::new().main()
}
