//! [`Refusal`]: why a request of a program was refused.

use http::StatusCode;
use tools::protocol::Target;
use tools::visible_line;

use crate::HttpError;

/// The length of a sentence in characters.
const MAX_SENTENCE: usize = 300;

/// Why a request was refused.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// The grant and the rules do not permit these targets.
    Unpermitted(Vec<Target>),
    /// A tunnel to this host was used for another one.
    Tunnel { host: String, reason: String },
    /// The request is not one that the proxy answers.
    Request(&'static str),
    /// The host or its address is refused, or the request failed.
    Failed(HttpError),
}

impl Refusal {
    /// Returns the status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Unpermitted(_)
            | Self::Tunnel { .. }
            | Self::Failed(HttpError::Address { .. }) => StatusCode::FORBIDDEN,
            Self::Request(_) | Self::Failed(HttpError::Url { .. }) => StatusCode::BAD_REQUEST,
            Self::Failed(HttpError::Time { .. }) => StatusCode::GATEWAY_TIMEOUT,
            Self::Failed(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// Returns a sentence for the program and for the model.
    pub(super) fn sentence(&self) -> String {
        let text = match self {
            Self::Unpermitted(targets) => {
                let clauses: Vec<_> = targets
                    .iter()
                    .map(|target| target.to_clause().to_string())
                    .collect();
                let host = targets.first().map_or("", Target::value);
                format!(
                    "{host} is not among the hosts that the grant names; ask for {}",
                    clauses.join(" and ")
                )
            }
            Self::Tunnel { host, reason } => format!("the tunnel to {host} was closed: {reason}"),
            Self::Request(reason) => (*reason).to_owned(),
            Self::Failed(error) => error.to_string(),
        };
        // The program chose some of the words.
        visible_line(&text, MAX_SENTENCE)
    }
}
