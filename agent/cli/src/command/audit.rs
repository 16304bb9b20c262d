//! `toolcrib audit`

mod ceiling;
mod show;
mod verify;

use clap::{Args, Subcommand};

use crate::error::Error;
use crate::exit::Exit;

/// Look at what tools could do, and at what they did
#[derive(Args, Debug)]
pub(super) struct Audit {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    Ceiling(ceiling::Ceiling),
    Verify(verify::Verify),
    Show(show::Show),
}

impl Audit {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.question {
            Question::Ceiling(ceiling) => ceiling.run(),
            Question::Verify(verify) => verify.run(),
            Question::Show(show) => show.run(),
        }
    }
}
