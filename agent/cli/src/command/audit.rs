//! `toolcrib audit`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::{journal, output};

/// Look at what was done: verify or show a journal
#[derive(Args, Debug)]
pub(super) struct Audit {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    Verify(Verify),
    Show(Show),
}

/// Check that a journal holds what was written, and print its head
///
/// Finds a row that was edited, deleted, added or moved. That rows were cut off at the end, or that the whole file was written anew, is
/// found only with a head from earlier on, so keep the one that this prints somewhere else.
#[derive(Args, Debug)]
struct Verify {
    /// The journal
    file: PathBuf,

    /// A head that the journal had before, as this command printed it
    #[arg(long, value_name = "COUNT:HASH")]
    head: Option<String>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Show the rows of a journal: what was about to be run, how it ended, what was refused
#[derive(Args, Debug)]
struct Show {
    /// The journal
    file: PathBuf,

    /// Only those of this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Print one JSON document per row and line, with all that is kept
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.question {
            Question::Verify(verify) => verify.run(),
            Question::Show(show) => show.run(),
        }
    }
}

impl Verify {
    fn run(self) -> Result<Exit, Error> {
        let (count, head) = journal::verify(&self.file, self.head.as_deref())?;
        if self.json {
            output::json(&json!({"count": count, "head": head}))?;
        } else {
            output::page(&format!("{head}\n"))?;
        }
        Ok(Exit::Success)
    }
}

impl Show {
    fn run(self) -> Result<Exit, Error> {
        journal::show(&self.file, self.session.as_deref(), self.json)?;
        Ok(Exit::Success)
    }
}
