//! `toolcrib always`

use std::path::PathBuf;

use clap::Args;
use tools::{Clause, join};

use crate::config::{ConfigOptions, ProgramSettings as _, Values};
use crate::error::Error;
use crate::notice::{self, FAINT, STRONG, paint};
use crate::output;
use crate::root::RootOption;
use host::exit::Exit;
use tools::visible::visible;

/// Show and take back what you permitted always in this project
///
/// The answer `a` of a question writes such clauses into your settings file (toolcrib.toml), each with the root of its project. They hold in
/// sessions that you start there.
#[derive(Args, Debug)]
pub(super) struct AlwaysArgs {
    #[command(flatten)]
    root: RootOption,

    /// Take this clause back; repeatable
    #[arg(long, value_name = "CLAUSE")]
    remove: Vec<Clause>,
}

impl AlwaysArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let settings = ConfigOptions::default().settings(Values::default())?;
        let root = PathBuf::from(self.root.workspace()?);
        let entries = settings.access().always.iter();
        let mut entries: Vec<_> = entries.filter(|entry| entry.value.root == root).collect();
        if self.remove.is_empty() {
            if entries.is_empty() {
                notice::note("you permit nothing always here");
            }
            let lines = entries.iter().map(|entry| {
                let clause = paint(STRONG, visible(entry.value.clause.as_str()));
                let origin = format!("({})", visible(&entry.origin.to_string()));
                format!("{clause} {}\n", paint(FAINT, origin))
            });
            output::page(&join(lines, ""))?;
        }
        let mut exit = Exit::Success;
        for clause in &self.remove {
            match entries
                .iter()
                .position(|entry| entry.value.clause == *clause)
            {
                Some(at) => {
                    let path = entries.swap_remove(at).value.remove()?;
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
