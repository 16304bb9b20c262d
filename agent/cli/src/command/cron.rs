//! `toolcrib cron`

mod run;
mod show;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use tools_builtin::cron::{CronError, Jobs};

use crate::error::Error;
use crate::exit::Exit;
use crate::notice;
use crate::root::RootOption;

/// Run the jobs of this workspace that are due, or list, pause, resume and remove them
///
/// The tool cron.add makes jobs, in a session or with `call`. They lie in the data folder.
#[derive(Args, Debug)]
pub(super) struct CronArgs {
    #[command(subcommand)]
    command: CronCommand,
}

#[derive(Debug, Subcommand)]
enum CronCommand {
    Run(Box<run::RunJobsArgs>),
    /// List the jobs of this workspace
    List {
        /// List the jobs of all workspaces
        #[arg(long)]
        all: bool,

        #[command(flatten)]
        root: RootOption,

        /// Print the jobs as JSON, one document per line
        #[arg(long)]
        json: bool,
    },
    /// Pause a job: no run begins until it is resumed
    Pause {
        /// The ID of the job
        id: i64,

        #[command(flatten)]
        root: RootOption,
    },
    /// Resume a paused job. Runs that were due meanwhile count as missed
    Resume {
        /// The ID of the job
        id: i64,

        #[command(flatten)]
        root: RootOption,
    },
    /// Remove a job. A run that has begun goes on
    Remove {
        /// The ID of the job
        id: i64,

        /// Remove a job of any workspace, also of one whose folder is gone
        #[arg(long)]
        all: bool,

        #[command(flatten)]
        root: RootOption,
    },
    /// Show the runs of a job, or of all jobs of this workspace, the newest first
    Log {
        /// The ID of the job
        id: Option<i64>,

        /// The maximum number of runs
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: u32,

        #[command(flatten)]
        root: RootOption,

        /// Print the runs as JSON, one document per line
        #[arg(long)]
        json: bool,
    },
}

impl CronArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        match self.command {
            CronCommand::Run(run) => return run.run().await,
            CronCommand::List { all, root, json } => {
                show::list(&Jobs::of_user(root.workspace()?)?, all, json).await?
            }
            CronCommand::Pause { id, root } => {
                Jobs::of_user(root.workspace()?)?
                    .set_paused(id, true, Timestamp::now())
                    .await?;
                notice::note(&format!("job {id} is paused"));
            }
            CronCommand::Resume { id, root } => {
                Jobs::of_user(root.workspace()?)?
                    .set_paused(id, false, Timestamp::now())
                    .await?;
                notice::note(&format!("job {id} is resumed"));
            }
            CronCommand::Remove { id, all, root } => {
                remove(id, all, root.workspace()?).await?;
                notice::note(&format!("job {id} is removed"));
            }
            CronCommand::Log {
                id,
                last,
                root,
                json,
            } => {
                show::log(&Jobs::of_user(root.workspace()?)?, id, last, json).await?;
            }
        }
        Ok(Exit::Success)
    }
}

/// Removes a job of the workspace, or with `all` of any.
async fn remove(id: i64, all: bool, workspace: String) -> Result<(), Error> {
    let jobs = Jobs::of_user(workspace)?;
    let other = match jobs.remove(id).await {
        Err(error @ CronError::Unknown { .. }) => (show::workspace(&jobs, id).await?, error),
        removed => return Ok(removed?),
    };
    match other {
        (Some(workspace), _) if all => Ok(Jobs::of_user(workspace)?.remove(id).await?),
        (Some(workspace), error) => {
            let hint = format!("job {id} is one of {workspace}; to remove it, add --all");
            Err(Error::Unfinished {
                error: Box::new(error.into()),
                hint,
            })
        }
        (None, error) => Err(error.into()),
    }
}

impl From<CronError> for Error {
    fn from(error: CronError) -> Self {
        Self::Jobs(error)
    }
}
