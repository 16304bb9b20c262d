//! The command line: one module per subcommand.

mod always;
mod approval;
mod call;
mod chat;
mod completions;
mod config;
mod doctor;
mod export;
mod family;
mod guide;
mod list;
mod providers;
mod run;
mod search;
mod system;
mod trust;
mod why;

use std::future::Future;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::error::Error;
use crate::{interrupt, linked, program};
use host::exit::Exit;

pub(crate) use self::guide::with_groups;

/// List, show and call the tools linked into this program, and run agent sessions with them
#[derive(Debug, Parser)]
#[command(name = "toolcrib", after_help = Exit::table())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    List(list::ListArgs),
    Search(search::SearchArgs),
    Call(call::CallArgs),
    Why(why::WhyArgs),
    Run(run::RunArgs),
    Chat(chat::ChatArgs),
    System(system::SystemArgs),
    Trust(trust::TrustArgs),
    Always(always::AlwaysArgs),
    Config(config::ConfigArgs),
    Providers(providers::ProvidersArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Export(export::ExportArgs),
    #[command(flatten)]
    Family(family::FamilyCommand),
}

impl Cli {
    /// Returns the command line of the running program.
    pub(crate) fn command_line() -> clap::Command {
        let name = program::name();
        let command = Self::command().name(name).bin_name(name);
        command.version(program::version())
    }

    /// Runs the selected subcommand.
    pub(crate) fn run(self) -> Result<Exit, Error> {
        // `doctor` reports these mistakes, and all others, itself.
        if !matches!(self.command, Command::Doctor(_)) {
            linked::check()?;
            linked::check_families()?;
        }
        match self.command {
            Command::List(list) => on_runtime(list.run()),
            Command::Search(search) => on_runtime(search.run()),
            Command::Call(call) => on_runtime(call.run()),
            Command::Why(why) => on_runtime(why.run()),
            Command::Run(run) => on_runtime(run.run()),
            Command::Chat(chat) => on_runtime(chat.run()),
            Command::System(system) => on_runtime(system.run()),
            Command::Trust(trust) => on_runtime(trust.run()),
            Command::Always(always) => on_runtime(always.run()),
            Command::Config(config) => on_runtime(config.run()),
            Command::Providers(providers) => on_runtime(providers.run()),
            Command::Doctor(doctor) => on_runtime(doctor.run()),
            Command::Completions(completions) => completions.run(Self::command_line()),
            Command::Export(export) => export.run(),
            Command::Family(family) => on_runtime(family.run()),
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<Exit, Error>>) -> Result<Exit, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let outcome = runtime.block_on(interrupt::until_end(work));
    // Their ends say what they wrote, which later sessions have to know.
    host::end();
    // An abandoned blocking tool may never return, so the shutdown does not wait for it.
    runtime.shutdown_background();
    outcome
}
