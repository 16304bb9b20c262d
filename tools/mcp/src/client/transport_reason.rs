//! [`TransportReason`]: why a transport has failed.

use rmcp::service::ServiceError;
use rmcp::transport::DynamicTransportError;

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
    #[cfg(feature = "http")]
    {
        use rmcp::transport::streamable_http_client::StreamableHttpError;
        use rmcp::transport::worker::WorkerQuitReason;
        use tools_http::HttpError;

        let failed = match error
            .error
            .downcast_ref::<WorkerQuitReason<StreamableHttpError<HttpError>>>()
        {
            Some(WorkerQuitReason::Fatal { error, .. }) => Some(error),
            _ => error.error.downcast_ref::<StreamableHttpError<HttpError>>(),
        };
        match failed {
            Some(StreamableHttpError::Client(error)) => {
                return TransportReason::Unreachable(error.to_string());
            }
            Some(StreamableHttpError::HttpStatus(error)) => {
                return TransportReason::Unreachable(format!("{error}; try again later"));
            }
            Some(error) => {
                return TransportReason::Broken(format!(
                    "{error}; check that its URL is that of an MCP endpoint"
                ));
            }
            None => {}
        }
    }
    TransportReason::Broken(error.error.to_string())
}

/// Returns the reason of an error without the type of its transport.
pub(super) fn reason(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => transport_reason(error).into_reason(),
        other => other.to_string(),
    }
}
