//! The errors of requests to a server as errors of calls.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ErrorCode;
use rmcp::service::ServiceError;
use tools::ToolErrorKind;

use crate::client::imported::{Imported, show_text};
use crate::client::result::plain;
use crate::client::server_name::ServerName;
use crate::client::transport_reason::{RECONNECTION, refusal, transport_reason};

/// The code of a server that needs the person to visit a URL first.
const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);

/// The time that a call waits for the reason why its connection has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Imported {
    /// Returns the reason why the connection has ended, such as the last words of a process, if it is known soon.
    async fn end(&self) -> Option<Arc<str>> {
        tokio::time::timeout(LAST_WORDS, self.down()).await.ok()
    }

    /// Converts the error of a request that runs for a call.
    pub(super) async fn failure(&self, error: ServiceError) -> ToolErrorKind {
        // A login, or one with more scopes, may permit the request.
        if error.auth_challenge().is_some() || error.is_authorization_required() {
            return ToolErrorKind::unavailable(self.login_required().to_string());
        }
        let end = match error {
            ServiceError::TransportClosed => self.end().await,
            _ => None,
        };
        let mut kind = failure(self.name(), error);
        if let ToolErrorKind::ExecutionFailed { message: text }
        | ToolErrorKind::Unavailable { reason: text }
        | ToolErrorKind::Transient { message: text, .. } = &mut kind
        {
            *text = self.import.server.mask(std::mem::take(text));
            text.extend(end.iter().map(|end| format!("; {end}")));
        }
        kind
    }
}

/// Converts the error of a request that runs for a call. A missing login is a failure like others.
pub(super) fn failure(server: &ServerName, error: ServiceError) -> ToolErrorKind {
    let failed = |message| ToolErrorKind::ExecutionFailed { message };
    match error {
        ServiceError::McpError(error) => {
            let mut message = show_text(&error.message);
            if let Some(data) = error
                .data
                .as_ref()
                .filter(|data| !data.is_null() && error.code != URL_ELICITATION_REQUIRED)
            {
                message += &format!(" ({})", show_text(&plain(data)));
            }
            match error.code {
                ErrorCode::METHOD_NOT_FOUND => ToolErrorKind::unavailable(format!(
                    "the MCP server {server} does not support this: {message}"
                )),
                ErrorCode::INVALID_PARAMS => failed(format!(
                    "the MCP server {server} refused the call: {message}; correct the arguments"
                )),
                URL_ELICITATION_REQUIRED => failed(format!(
                    "the MCP server {server} needs the user to visit a URL first: {message}: {}",
                    error
                        .data
                        .map(|data| show_text(&data.to_string()))
                        .unwrap_or_default()
                )),
                code => failed(format!(
                    "the MCP server {server} failed with error {}: {message}",
                    code.0
                )),
            }
        }
        // Transient, so the pipeline repeats the call if the effects of the tool allow it.
        ServiceError::TransportClosed => ToolErrorKind::Transient {
            message: format!(
                "the connection to the MCP server {server} ended during the call, which may have run; \
                 find out whether it did before you repeat it"
            ),
            retry_after: Some(RECONNECTION),
        },
        ServiceError::TransportSend(error) if refusal(&error).is_some() => {
            let (reason, retry_after) = refusal(&error).unwrap_or_default();
            let message = format!(
                "the MCP server {server} refused the call: {}",
                show_text(&reason)
            );
            match retry_after {
                Some(_) => ToolErrorKind::Transient {
                    message,
                    retry_after,
                },
                None => failed(message),
            }
        }
        ServiceError::TransportSend(error) => ToolErrorKind::Transient {
            message: format!(
                "the call could not be sent to the MCP server {server}, which may have received a part of it: {}",
                show_text(&transport_reason(&error).into_reason())
            ),
            retry_after: Some(RECONNECTION),
        },
        ServiceError::UnexpectedResponse => failed(format!(
            "the MCP server {server} answered the call with a result of another kind"
        )),
        other => failed(format!(
            "the MCP server {server} failed: {}",
            show_text(&other.to_string())
        )),
    }
}
