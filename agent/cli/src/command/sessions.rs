//! `toolcrib sessions`

#[cfg(feature = "default")]
mod change;
#[cfg(feature = "default")]
mod list;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::ConfigOptions;
#[cfg(feature = "default")]
use crate::config::Values;
use crate::error::Error;
use crate::exit::Exit;
use crate::root::RootOption;

/// List the recorded sessions of this workspace, the newest first; erase or fork one
///
/// Each `run` and `chat` is recorded in the state folder, unless --no-journal or a setting turns that off. --resume continues a session.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct SessionsArgs {
    #[command(subcommand)]
    command: Option<SessionsCommand>,

    /// List the sessions of all workspaces
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    root: RootOption,

    /// Print the sessions as JSON, one document per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// Copy a session and print the ID of the copy, to be continued with --resume. Finished calls are not run again
    Fork {
        /// The ID or its beginning [default: the newest session of this workspace]
        id: Option<String>,

        #[command(flatten)]
        root: RootOption,
    },
    /// Erase sessions: their conversations and calls
    Erase {
        /// The IDs or their beginnings; with --journal, the names
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,

        /// Erase sessions in this file. Their rows keep the hashes, so that the file can still be verified
        #[arg(long, value_name = "FILE")]
        journal: Option<PathBuf>,
    },
    /// Remove old sessions, and the oldest ones if all together are too large
    ///
    /// The settings sessions.max_age, sessions.max_bytes and sessions.keep are the limits, and `config` shows them. Every new
    /// session does so too. Open sessions are kept.
    Prune {
        #[command(flatten)]
        config: ConfigOptions,
    },
}

impl SessionsArgs {
    #[cfg(feature = "default")]
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.command {
            None => {
                let workspace = (!self.all).then(|| self.root.workspace()).transpose()?;
                list::list(workspace.as_deref(), self.json)?;
            }
            Some(SessionsCommand::Fork { id, root }) => {
                change::fork(id.as_deref(), &root.workspace()?)?
            }
            Some(SessionsCommand::Erase { ids, journal: None }) => change::erase(&ids)?,
            Some(SessionsCommand::Erase {
                ids,
                journal: Some(file),
            }) => change::erase_in_file(&ids, &file)?,
            Some(SessionsCommand::Prune { config }) => {
                change::prune(&config.settings(Values::default())?)?
            }
        }
        Ok(Exit::Success)
    }

    #[cfg(not(feature = "default"))]
    pub(super) fn run(self) -> Result<Exit, Error> {
        Err(Error::NoJournal)
    }
}
