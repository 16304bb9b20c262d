//! [`CronError`].

use std::io;
use std::path::PathBuf;
use tools_zone::UnknownZone;

use tools::ToolError;
use tools_store::StoreError;

use crate::schedule::InvalidCron;

/// A job in the store that cannot be read: a newer version made it, or its row is broken. It can be removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the job {id} cannot be read: {reason}; remove it and make it again, or update the program"
)]
#[non_exhaustive]
pub struct UnreadableJob {
    /// The id.
    pub id: i64,
    /// The workspace in which it was made.
    pub workspace: String,
    /// The reason.
    pub reason: String,
}

/// An error from keeping or serving jobs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CronError {
    /// The store cannot be opened or used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A job in the store cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableJob),
    /// The lock of a job cannot be used.
    #[error("the lock {} of a job cannot be used: {source}; check the permissions of its folder", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        source: io::Error,
    },
    /// There is no folder for the jobs.
    #[error("there is no folder for the data of this user; set HOME or XDG_DATA_HOME")]
    NoHome,
    /// There is no such job.
    #[error("there is no job {id}{}", list_jobs(jobs))]
    Unknown {
        /// The id.
        id: i64,
        /// The jobs that there are.
        jobs: Vec<i64>,
    },
    /// The workspace has too many jobs.
    #[error(
        "this workspace has {most} jobs, which is the most; remove one that is no longer needed"
    )]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// The runs are too close to each other.
    #[error("the interval of {seconds} s is too short; the shortest one is {shortest} s")]
    TooOften {
        /// The interval.
        seconds: u32,
        /// The limit.
        shortest: u32,
    },
    /// The prompt or the arguments are too long.
    #[error(
        "the {part} has {bytes} bytes, and at most {most} are kept; shorten it, or put it into a file that the prompt names"
    )]
    TooLong {
        /// The prompt or the arguments.
        part: &'static str,
        /// The size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// No run would ever be due.
    #[error("the schedule has no run after {now}; choose a date that exists and is in the future")]
    Never {
        /// The current time, in the zone of the job.
        now: String,
    },
    /// No time is given.
    #[error("no time is given; give one of `cron`, `every` and `at`")]
    NoTime,
    /// Several times are given.
    #[error("several times are given; give only one of `cron`, `every` and `at`")]
    SeveralTimes,
    /// The text of one time is wrong.
    #[error(
        "{text:?} is no time; write `2026-12-24T09:00`, which is in the zone of the job, or add an offset such as `+01:00` or `Z`, or a zone such as `[Europe/Berlin]`"
    )]
    Time {
        /// The text.
        text: String,
    },
    /// The text of one time has an offset that the zone in its brackets does not have then.
    #[error(
        "the offset of {text:?} disagrees with its brackets, where it is {there}; leave one of the two out"
    )]
    Offset {
        /// The text.
        text: String,
        /// The offset of the zone in brackets.
        there: String,
    },
    /// The text of one time names another zone than the job.
    #[error(
        "{text:?} names the zone {in_brackets}, and `zone` is {zone}; leave one of the two out"
    )]
    OtherZone {
        /// The text.
        text: String,
        /// The zone in brackets.
        in_brackets: String,
        /// The zone of the job.
        zone: String,
    },
    /// The cron expression is wrong.
    #[error(transparent)]
    Cron(#[from] InvalidCron),
    /// There is no such time zone.
    #[error(transparent)]
    Zone(#[from] UnknownZone),
}

impl From<rusqlite::Error> for CronError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<CronError> for ToolError {
    fn from(error: CronError) -> Self {
        Self::execution_failed(error.to_string())
    }
}

/// The jobs that an error lists at most.
const LISTED: usize = 100;

fn list_jobs(jobs: &[i64]) -> String {
    let listed: Vec<_> = jobs.iter().take(LISTED).map(i64::to_string).collect();
    match jobs.len() - listed.len() {
        _ if jobs.is_empty() => "; no job is kept".to_owned(),
        0 => format!("; the jobs are {}", listed.join(", ")),
        more => format!("; the jobs are {} and {more} more", listed.join(", ")),
    }
}
