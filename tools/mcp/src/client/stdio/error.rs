//! [`StdioError`]: why there is no connection to a process.

use std::time::Duration;

use tools::ToolError;
use tools_exec::supervise::{Exit, StartError};

/// Why there is no connection to a process.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The process was not started.
    #[error("the server was not started: {reason}")]
    Start {
        /// The reason and the next step.
        reason: String,
    },
    /// The walls around the process could not be made.
    #[error("{0}")]
    Walls(#[from] ToolError),
    /// The server wrote a line that is too long.
    #[error(
        "the server wrote a line of more than {limit} bytes, which ended the connection; ask it for less at once"
    )]
    LineTooLong {
        /// The limit.
        limit: usize,
    },
    /// The server sends requests that do nothing, one after the other.
    #[error(
        "the server has sent more than {most} pings within {period:?}, which keep other requests from leaving; repair or remove it"
    )]
    Flood {
        /// The most pings.
        most: usize,
        /// The period in which they are counted.
        period: Duration,
    },
    /// The process has ended.
    #[error("the server has ended ({exit:?}){}{}", list_remarks(.remarks), show_words(.last_words))]
    Ended {
        /// How it ended.
        exit: Exit,
        /// The end of its standard error, and of the lines of its standard output that are no messages.
        last_words: String,
        /// Reasons that the host knows, such as requests that walls have refused.
        remarks: Vec<String>,
    },
    /// The supervisor of the process died, so its end is unknown.
    #[error(
        "the supervisor of the server died; look for processes of the server, and connect again"
    )]
    Lost,
}

impl From<StartError> for StdioError {
    fn from(error: StartError) -> Self {
        Self::Start {
            reason: error.to_string(),
        }
    }
}

fn list_remarks(remarks: &[String]) -> String {
    remarks.iter().map(|remark| format!("; {remark}")).collect()
}

fn show_words(last_words: &str) -> String {
    if last_words.is_empty() {
        "; its log may say why".to_owned()
    } else {
        format!("; it wrote: {last_words}")
    }
}
