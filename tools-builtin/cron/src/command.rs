//! The command `cron`.

mod job_scope;
mod run;
mod show;

use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
};
use jiff::Timestamp;

use crate::error::CronError;
use crate::jobs::Jobs;

pub(crate) const CRON: Command = Command {
    about: "Run the jobs of this workspace that are due, or list, pause, resume and remove them",
    details: "The tool cron.add makes jobs, in a session or with `call`. They lie in the data folder.",
    group: CommandGroup::Use,
    rank: 50,
    examples: "cron run --grant 'fs:write:reports/**'  # Run the jobs when they are due
               cron run --once                         # Run what is due now, for a timer
               cron list                               # List the jobs of this workspace",
    commands: &[RUN, LIST, PAUSE, RESUME, REMOVE, LOG],
    ..Command::new("cron")
};

const RUN: Command = Command {
    about: "Run the jobs of this workspace that are due, each in a session of its own, until Ctrl-C",
    details: "A job has the tools and the grant of the session that made it, as far as these flags and the settings allow them today. \
              Nobody is asked: a call that needs a question is refused, and `cron log` says so. A second `cron run` takes jobs that this \
              one is not running.",
    arguments: &[
        Argument::flag(
            "once",
            "Run the jobs that are due now, and end: with code 1 if a job failed, or else 5 if one was refused. A timer that does so \
                   at least once an hour misses none",
        ),
        Argument::Sessions,
        Argument::Output,
    ],
    run: Some(|arguments, cx| Box::pin(run::run(arguments, cx))),
    ..Command::new("run")
};

const LIST: Command = Command {
    about: "List the jobs of this workspace",
    arguments: &[
        Argument::flag("all", "List the jobs of all workspaces"),
        Argument::Root,
        Argument::flag("json", "Print the jobs as JSON, one document per line"),
    ],
    run: Some(|arguments, cx| Box::pin(show::list(arguments, cx))),
    ..Command::new("list")
};

const PAUSE: Command = Command {
    about: "Pause a job: no run begins until it is resumed",
    arguments: &[ID, Argument::Root],
    run: Some(|arguments, cx| Box::pin(set_paused(arguments, cx, true))),
    ..Command::new("pause")
};

const RESUME: Command = Command {
    about: "Resume a paused job. Runs that were due meanwhile count as missed",
    arguments: &[ID, Argument::Root],
    run: Some(|arguments, cx| Box::pin(set_paused(arguments, cx, false))),
    ..Command::new("resume")
};

const REMOVE: Command = Command {
    about: "Remove a job. A run that has begun goes on",
    arguments: &[
        ID,
        Argument::flag(
            "all",
            "Remove a job of any workspace, also of one whose folder is gone",
        ),
        Argument::Root,
    ],
    run: Some(|arguments, cx| Box::pin(remove(arguments, cx))),
    ..Command::new("remove")
};

const LOG: Command = Command {
    about: "Show the runs of a job, or of all jobs of this workspace, the newest first",
    arguments: &[
        Argument::value::<i64>(ValueForm::Optional, "id", "ID", "The ID of the job"),
        Argument::value::<u32>(
            ValueForm::Default("50"),
            "last",
            "N",
            "The maximum number of runs",
        ),
        Argument::Root,
        Argument::flag("json", "Print the runs as JSON, one document per line"),
    ],
    run: Some(|arguments, cx| Box::pin(show::log(arguments, cx))),
    ..Command::new("log")
};

const ID: Argument = Argument::value::<i64>(ValueForm::Required, "id", "ID", "The ID of the job");

async fn set_paused(
    arguments: &Arguments,
    cx: &dyn CommandContext,
    is_paused: bool,
) -> Result<Exit, CommandError> {
    let id = arguments.value("id")?.unwrap_or_default();
    Jobs::of_user(cx.workspace()?)?
        .set_paused(id, is_paused, Timestamp::now())
        .await?;
    let state = if is_paused { "paused" } else { "resumed" };
    cx.note(&format!("job {id} is {state}"));
    Ok(Exit::Success)
}

/// Removes a job of the workspace, or with `--all` of any.
async fn remove(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let id = arguments.value("id")?.unwrap_or_default();
    let jobs = Jobs::of_user(cx.workspace()?)?;
    match jobs.remove(id).await {
        Err(error @ CronError::Unknown { .. }) => match show::workspace(&jobs, id).await? {
            Some(workspace) if arguments.is_given("all") => {
                Jobs::of_user(workspace)?.remove(id).await?;
            }
            Some(workspace) => {
                let mut error = CommandError::from(error);
                let hint = format!("job {id} is one of {workspace}; to remove it, add --all");
                error.hint = Some(hint);
                return Err(error);
            }
            None => return Err(error.into()),
        },
        removed => removed?,
    }
    cx.note(&format!("job {id} is removed"));
    Ok(Exit::Success)
}

impl From<CronError> for CommandError {
    fn from(error: CronError) -> Self {
        let exit = match error {
            CronError::Unknown { .. } => Exit::NotFound,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}
