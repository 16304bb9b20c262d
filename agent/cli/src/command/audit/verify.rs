//! `toolcrib audit verify`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::{journal, notice, output};
use tools::counted;

/// Verify that a journal is unaltered, and print its head
///
/// Detects rows that were edited, deleted, added or moved. Rows cut off at the end, or a rewritten file, are detected only with
/// an earlier head, so keep the printed head in another place.
#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// The journal file, or the ID of a recorded session
    #[arg(value_name = "FILE|ID")]
    file: PathBuf,

    /// An earlier head, as printed by this command
    #[arg(long, value_name = "COUNT:HASH")]
    head: Option<String>,

    /// Print the head or the damage as one JSON document
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match journal::verify(&self.file, self.head.as_deref()) {
            Ok((count, head, erased)) if self.json => output::json(
                &json!({"count": count, "head": head, "erased": erased, "damage": null}),
            )?,
            Ok((_, head, erased)) => {
                output::page(&format!("{head}\n"))?;
                if erased > 0 {
                    notice::note(&format!("erased: {}", counted(erased, "row")));
                }
            }
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
