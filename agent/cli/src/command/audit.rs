//! `toolcrib audit`

mod ceiling;

use clap::{Args, Subcommand};

use crate::error::Error;
use crate::exit::Exit;

/// Look at what tools could do
#[derive(Args, Debug)]
pub(super) struct Audit {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    Ceiling(ceiling::Ceiling),
}

impl Audit {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.subject {
            Subject::Ceiling(ceiling) => ceiling.run(),
        }
    }
}
