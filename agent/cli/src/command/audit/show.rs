//! `toolcrib audit show`

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::journal;

/// Show the rows of a journal: intents, outcomes and refusals of calls
#[derive(Args, Debug)]
pub(super) struct AuditShowArgs {
    /// The journal file, or the ID of a recorded session
    #[arg(value_name = "FILE|ID")]
    file: PathBuf,

    /// Show the rows of this session only
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Print the complete rows as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl AuditShowArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        journal::show(&self.file, self.session.as_deref(), self.json)?;
        Ok(Exit::Success)
    }
}
