//! [`Job`]: a schedule and its work.

use std::fmt;
use tools_zone::find_zone;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use tools::policy::{Rule, SensitivePath};
use tools::{Grant, JsonSchema};

use crate::error::CronError;
use crate::next::next_after;
use crate::schedule::Schedule;

/// A job as it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// A job of a newer version may have limits that this one would not keep.
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// The times of the runs.
    pub schedule: Schedule,
    /// The IANA name of the time zone.
    pub zone: String,
    /// The work of a run.
    pub work: Work,
    /// The treatment of runs that were due while nothing served them.
    pub missed: Missed,
    /// The treatment of a run that was cut off.
    pub delivery: Delivery,
    /// The grant under which the job was made. A host intersects it with the grant of the day.
    pub grant: Grant,
    /// The names of the tools that the session had in which the job was made. A host offers no others.
    pub tools: Vec<String>,
    /// The rules by which that session denied calls or asked about them. A host applies them besides its own.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// The sensitive paths of that session. A host adds them to its own.
    #[serde(default)]
    pub paths: Vec<SensitivePath>,
    /// The principal of the session in which the job was made. A host runs the job as this principal.
    #[serde(default)]
    pub principal: Option<String>,
    /// True if that session had read text from the open world, which may have dictated the job. A host records it in each run.
    #[serde(default = "assume_exposed")]
    pub exposed: bool,
}

/// A job of an earlier version may have been made in any session.
fn assume_exposed() -> bool {
    true
}

/// The work of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// A session on this prompt.
    Prompt(String),
    /// One call.
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments.
        arguments: serde_json::Map<String, serde_json::Value>,
    },
}

/// The treatment of runs that were due while nothing served them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "tools::schemars", inline)]
pub enum Missed {
    /// Leaves them out.
    #[default]
    Skip,
    /// Makes up for all of them with one run.
    RunOnce,
}

/// The treatment of a run that was cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "tools::schemars", inline)]
pub enum Delivery {
    /// Reports it and does not repeat it.
    #[default]
    AtMostOnce,
    /// Repeats it.
    AtLeastOnce,
}

/// A job of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The id, which no other job ever has.
    pub id: i64,
    /// The workspace in which it was made.
    pub workspace: String,
    /// The job as it was made.
    pub spec: JobSpec,
    /// The next run, or `None` if there is none after the running one.
    pub next: Option<Timestamp>,
    /// True if no run begins.
    pub is_paused: bool,
    /// The end of its last pause.
    pub(crate) resumed: Option<Timestamp>,
}

/// A run of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The number of the run.
    pub id: i64,
    /// The job.
    pub job: i64,
    /// The time at which it was due.
    pub due: Timestamp,
    /// The time at which it began.
    pub started: Timestamp,
    /// The time at which it ended, or was found to have been cut off.
    pub ended: Option<Timestamp>,
    /// The outcome.
    pub outcome: Outcome,
    /// The id of its session, or `None` if it has none.
    pub session: Option<String>,
    /// The error, or the refused targets.
    pub note: Option<String>,
}

/// A run that begins. Its record is in the store already.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DueRun {
    /// The number of the run.
    pub id: i64,
    /// The job.
    pub job: Job,
    /// The time at which it was due.
    pub due: Timestamp,
    /// The time at which it begins.
    pub started: Timestamp,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// The error, or the refused targets.
    pub note: Option<String>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The run has not ended.
    Running,
    /// The run ended, and nothing was refused.
    Done,
    /// The run ended, and a call was refused.
    Refused,
    /// The run ended with an error.
    Failed,
    /// The process ended before the run, which may have had effects.
    CutOff,
    /// The run was missed, and the job leaves out missed runs.
    Skipped,
}

impl Outcome {
    /// All outcomes.
    const ALL: [Self; 6] = [
        Self::Running,
        Self::Done,
        Self::Refused,
        Self::Failed,
        Self::CutOff,
        Self::Skipped,
    ];

    /// Returns the word for the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::CutOff => "cut off",
            Self::Skipped => "skipped",
        }
    }

    /// Returns the outcome with this word.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl JobSpec {
    /// Returns the first run after a moment, or `None` if there is none.
    ///
    /// # Errors
    /// Returns [`CronError::Zone`] if this program does not know the zone.
    pub fn next_after(&self, moment: Timestamp) -> Result<Option<Timestamp>, CronError> {
        Ok(next_after(&self.schedule, &self.time_zone()?, moment))
    }

    /// Returns the first runs after a moment, in the zone of the job.
    ///
    /// # Errors
    /// Returns [`CronError::Zone`] if this program does not know the zone.
    pub fn upcoming(&self, moment: Timestamp, most: usize) -> Result<Vec<Zoned>, CronError> {
        let zone = self.time_zone()?;
        let first = next_after(&self.schedule, &zone, moment);
        let runs = std::iter::successors(first, |run| next_after(&self.schedule, &zone, *run));
        Ok(runs
            .take(most)
            .map(|run| run.to_zoned(zone.clone()))
            .collect())
    }

    /// Returns the time zone.
    ///
    /// # Errors
    /// Returns [`CronError::Zone`] if this program does not know the zone.
    pub fn time_zone(&self) -> Result<TimeZone, CronError> {
        Ok(find_zone(&self.zone)?)
    }
}

/// Writes the work on one line: `prompt: …` or `call: fs.list {"path":"."}`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt(prompt) => write!(f, "prompt: {prompt}"),
            Self::Call { tool, arguments } => {
                let arguments = serde_json::to_string(arguments).map_err(|_| fmt::Error)?;
                write!(f, "call: {tool} {arguments}")
            }
        }
    }
}
