//! [`Refused`]: the requests of a program that were refused.

use http::StatusCode;
use tools::protocol::Target;
use tools::visible_line;

use crate::HttpError;

/// The number of refusals that are remembered.
const MAX_REMEMBERED: usize = 100;

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
        // The program chose some of the words.
        visible_line(&self.text(), MAX_SENTENCE)
    }

    fn text(&self) -> String {
        match self {
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
        }
    }

    /// Returns true if the result of the program names it. A server that does not answer is the program's own affair.
    fn is_notable(&self) -> bool {
        !self.status().is_server_error()
    }
}

/// The refusals of a proxy, each once.
#[derive(Debug, Default)]
pub(super) struct Refused {
    pub(super) sentences: Vec<String>,
}

impl Refused {
    pub(super) fn add(&mut self, refusal: &Refusal) {
        let sentence = refusal.sentence();
        let is_new = refusal.is_notable() && !self.sentences.contains(&sentence);
        if is_new && self.sentences.len() < MAX_REMEMBERED {
            self.sentences.push(sentence);
        }
    }
}
