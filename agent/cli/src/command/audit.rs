//! `toolcrib audit`

mod ceiling;
mod show;
mod verify;

use clap::{Args, Subcommand};

use crate::error::Error;
use crate::exit::Exit;

/// Inspect what the linked tools could touch, and the journals of past calls
#[derive(Args, Debug)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    Ceiling(ceiling::CeilingArgs),
    Verify(verify::VerifyArgs),
    Show(show::AuditShowArgs),
}

impl AuditArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.command {
            AuditCommand::Ceiling(ceiling) => ceiling.run(),
            AuditCommand::Verify(verify) => verify.run(),
            AuditCommand::Show(show) => show.run(),
        }
    }
}
