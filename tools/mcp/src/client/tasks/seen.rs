//! [`Seen`]: a server's task as it was last seen.

use std::sync::Arc;

use rmcp::model::{DetailedTask, ErrorData, InputRequests, TaskPayload};
use rmcp::service::ServiceError;
use serde_json::Value;
use tools::tasks::TaskState;
use tools::{ToolErrorKind, ToolResult};

use crate::client::failure::failure;
use crate::client::imported::show_text;
use crate::client::result::readable_result;
use crate::client::server_name::ServerName;

/// A server's task as it was last seen.
#[derive(Clone)]
pub(super) enum Seen {
    Working {
        status: Option<String>,
    },
    /// The server has questions.
    Asking(Arc<InputRequests>),
    Completed(Arc<ToolResult>),
    Failed(Arc<ToolErrorKind>),
    Cancelled,
    /// The server no longer knows the task.
    Lost {
        reason: String,
    },
}

impl Seen {
    /// Reads the answer of a server.
    pub(super) fn from_remote(server: &ServerName, task: DetailedTask) -> Self {
        let status = task.task.status_message.as_deref().map(show_text);
        match task.payload {
            TaskPayload::InputRequired { input_requests } => Self::Asking(Arc::new(input_requests)),
            TaskPayload::Completed { result } => {
                Self::Completed(Arc::new(readable_result(Value::Object(result))))
            }
            TaskPayload::Failed { error } => {
                match serde_json::from_value::<ErrorData>(Value::Object(error)) {
                    Ok(error) => Self::failed(failure(server, ServiceError::McpError(error))),
                    Err(_) => Self::failed(failure(server, ServiceError::UnexpectedResponse)),
                }
            }
            TaskPayload::Cancelled => Self::Cancelled,
            _ => Self::Working { status },
        }
    }

    pub(super) fn failed(kind: ToolErrorKind) -> Self {
        Self::Failed(Arc::new(kind))
    }

    pub(super) fn has_ended(&self) -> bool {
        !matches!(self, Self::Working { .. } | Self::Asking(_))
    }

    pub(super) fn state(&self) -> TaskState {
        match self {
            Self::Working { status: None } => TaskState::Running("runs".to_owned()),
            Self::Working {
                status: Some(status),
            } => TaskState::Running(format!("runs: {status}")),
            Self::Asking(_) => TaskState::Waiting("has a question; task.result asks it".to_owned()),
            Self::Completed(result) if result.is_error => TaskState::Ended("failed".to_owned()),
            Self::Completed(_) => TaskState::Ended("completed".to_owned()),
            Self::Failed(_) => TaskState::Ended("failed".to_owned()),
            Self::Cancelled => TaskState::Ended("cancelled".to_owned()),
            Self::Lost { reason } => TaskState::Ended(format!("lost: {reason}")),
        }
    }

    /// Returns the result of a task that has ended.
    pub(super) fn result(&self, server: &ServerName) -> Result<ToolResult, ToolErrorKind> {
        let failed = |message| Err(ToolErrorKind::ExecutionFailed { message });
        match self {
            Self::Completed(result) => Ok(ToolResult::clone(result)),
            Self::Failed(kind) => Err(ToolErrorKind::clone(kind)),
            Self::Cancelled => failed(format!("the task at the MCP server {server} was cancelled")),
            Self::Lost { reason } => failed(format!(
                "the task is lost: {reason}; find out whether it did its work"
            )),
            Self::Working { .. } | Self::Asking(_) => failed("the task has not ended".to_owned()),
        }
    }
}
