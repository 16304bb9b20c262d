//! The command line, one file per command.

mod audit;
mod call;
mod chat;
mod config;
mod doctor;
mod list;
mod run;
mod show;
mod system;

use std::future::Future;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::exit::Exit;
use crate::linked;

/// A crib of tools for agents: what is linked into this program can be listed, shown and called, and agent sessions sign
/// it out.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, after_help = Exit::table())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Call(call::Call),
    Run(run::Run),
    Chat(chat::Chat),
    System(system::System),
    Config(config::Config),
    Audit(audit::Audit),
    Doctor(doctor::Doctor),
}

impl Cli {
    /// Does what the command line says.
    pub(crate) fn run(self) -> Result<Exit, Error> {
        if !matches!(self.command, Command::Doctor(_)) {
            linked::check()?;
        }
        match self.command {
            Command::List(list) => list.run(),
            Command::Show(show) => show.run(),
            Command::Call(call) => on_runtime(call.run()),
            Command::Run(run) => on_runtime(run.run()),
            Command::Chat(chat) => on_runtime(chat.run()),
            Command::System(system) => system.run(),
            Command::Config(config) => config.run(),
            Command::Audit(audit) => audit.run(),
            Command::Doctor(doctor) => doctor.run(),
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<Exit, Error>>) -> Result<Exit, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    let outcome = runtime.block_on(work);
    // A blocking tool that was given up on may never return; nobody waits for it.
    runtime.shutdown_background();
    outcome
}
