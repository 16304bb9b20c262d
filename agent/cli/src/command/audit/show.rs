//! `toolcrib audit show`

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::journal;

/// Show the rows of a journal: what was about to be run, how it ended, what was refused
#[derive(Args, Debug)]
pub(super) struct Show {
    /// The journal
    file: PathBuf,

    /// Only those of this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Print one JSON document per row and line, with all that is kept
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<Exit, Error> {
        journal::show(&self.file, self.session.as_deref(), self.json)?;
        Ok(Exit::Success)
    }
}
