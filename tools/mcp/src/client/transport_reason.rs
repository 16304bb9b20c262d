//! [`TransportReason`]: why a transport has failed.

use std::time::Duration;

use rmcp::service::ServiceError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::{streamable_http_client::StreamableHttpError, worker::WorkerQuitReason};
use tools_http::HttpError;

/// The time until a call on a new connection can succeed.
pub(super) const RECONNECTION: Duration = Duration::from_secs(2);

/// The reason why a transport has failed.
pub(super) enum TransportReason {
    /// The server cannot be reached. The reason has the next step.
    Unreachable(String),
    /// The connection ended, or an answer was none of the protocol.
    Broken(String),
}

impl TransportReason {
    pub(super) fn into_reason(self) -> String {
        match self {
            Self::Unreachable(reason) | Self::Broken(reason) => reason,
        }
    }
}

/// Returns the reason of an error without the type of its transport.
pub(super) fn transport_reason(error: &DynamicTransportError) -> TransportReason {
    match http_failure(error) {
        Some(StreamableHttpError::Client(error)) => TransportReason::Unreachable(error.to_string()),
        Some(StreamableHttpError::HttpStatus(error)) => {
            TransportReason::Unreachable(format!("{error}; try again later"))
        }
        Some(error) => TransportReason::Broken(format!(
            "{error}; check that its URL is that of an MCP endpoint"
        )),
        None => TransportReason::Broken(error.error.to_string()),
    }
}

fn http_failure(error: &DynamicTransportError) -> Option<&StreamableHttpError<HttpError>> {
    type Quit = WorkerQuitReason<StreamableHttpError<HttpError>>;
    match error.error.downcast_ref::<Quit>() {
        Some(WorkerQuitReason::Fatal { error, .. }) => Some(error),
        _ => error.error.downcast_ref(),
    }
}

/// Returns the answer of a server that refused a request, and the time to wait if it may accept a later one. Returns `None` for other
/// errors.
pub(super) fn refusal(error: &DynamicTransportError) -> Option<(String, Option<Duration>)> {
    match http_failure(error)? {
        StreamableHttpError::HttpStatus(error) => {
            let text = error.retry_after.as_ref();
            let seconds = text.and_then(|text| text.trim().parse().ok());
            let wait = seconds
                .map_or(RECONNECTION, Duration::from_secs)
                .max(RECONNECTION);
            // The program behind a gateway may have it.
            let outcome = match error.status {
                500.. => "the call may have run; find out whether it did before you repeat it",
                _ => "the call did not run",
            };
            Some((format!("{error}; {outcome}"), Some(wait)))
        }
        StreamableHttpError::UnexpectedServerResponse(answer) => Some((answer.to_string(), None)),
        _ => None,
    }
}

/// Returns the reason of an error without the type of its transport.
pub(super) fn reason(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => transport_reason(error).into_reason(),
        other => other.to_string(),
    }
}
