//! `toolcrib always`

use std::path::PathBuf;

use clap::Args;
use tools::Clause;

use crate::config::{ConfigOptions, ProgramSettings as _, Values};
use crate::error::Error;
use crate::notice;
use crate::root::RootOption;
use host::exit::Exit;

/// Take back what you permitted always in this project
///
/// The answer `a` of a question writes such clauses into your settings file (toolcrib.toml), each with the root of its project. They hold in
/// sessions that you start there, and `toolcrib config` shows them.
#[derive(Args, Debug)]
pub(super) struct AlwaysArgs {
    #[command(flatten)]
    root: RootOption,

    /// Take this clause back; repeatable
    #[arg(long, value_name = "CLAUSE", required = true)]
    remove: Vec<Clause>,
}

impl AlwaysArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let settings = ConfigOptions::default().settings(Values::default())?;
        let root = PathBuf::from(self.root.workspace()?);
        let mut exit = Exit::Success;
        for clause in &self.remove {
            let mut entries = settings.access().always.iter();
            match entries.find(|entry| entry.value.root == root && entry.value.clause == *clause) {
                Some(entry) => {
                    let path = entry.value.remove()?;
                    notice::note(&format!("{} permits {clause} no longer", path.display()));
                }
                None => {
                    notice::warning(&format!(
                        "{clause} is not permitted always in {}",
                        root.display()
                    ));
                    exit = Exit::Usage;
                }
            }
        }
        Ok(exit)
    }
}
