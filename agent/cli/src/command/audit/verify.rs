//! `toolcrib audit verify`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::{journal, output};

/// Check that a journal holds what was written, and print its head
///
/// Finds a row that was edited, deleted, added or moved. That rows were cut off at the end, or that the whole file was written anew, is
/// found only with a head from earlier on, so keep the one that this prints somewhere else.
#[derive(Args, Debug)]
pub(super) struct Verify {
    /// The journal
    file: PathBuf,

    /// A head that the journal had before, as this command printed it
    #[arg(long, value_name = "COUNT:HASH")]
    head: Option<String>,

    /// Print one JSON document; of a damaged journal it has the damage
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match journal::verify(&self.file, self.head.as_deref()) {
            Ok((count, head)) if self.json => output::json(&json!({"count": count, "head": head, "damage": null}))?,
            Ok((_, head)) => output::page(&format!("{head}\n"))?,
            Err(error) => {
                if let Some(damage) = journal::damage(&error).filter(|_| self.json) {
                    output::json(&json!({"damage": damage}))?;
                }
                return Err(error);
            }
        }
        Ok(Exit::Success)
    }
}
