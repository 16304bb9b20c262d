//! [`Broken`]: the reasons for which a request has no turn, and the errors that they become.

use std::error::Error;
use std::time::{Duration, SystemTime};

use agent::{FailureKind, ProviderError};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;

use crate::documents::NoDocuments;
use crate::key::without_key;
use crate::retry::Failure;
use crate::retry_header::{requested_delay, should_retry};
use crate::service_error::ServiceError;

/// The most characters kept of a service's message.
const MAX_MESSAGE_CHARS: usize = 1000;

/// The most characters of a garbled document in a message.
const SHOWN: usize = 80;

/// The reason for which a request has no turn.
#[derive(Debug)]
pub(crate) enum Broken {
    Status {
        status: StatusCode,
        headers: HeaderMap,
        body: String,
    },
    /// An error under the status of success. Holds its body.
    Reported(String),
    /// A part of a reply that is no JSON.
    Garbled(String),
    /// The type of a reply that is neither a stream nor JSON.
    ContentType(String),
    /// The reply is longer than this many bytes.
    TooLong(usize),
    /// The reply ended before its finish.
    Truncated,
    TimedOut {
        awaited: &'static str,
        limit: Duration,
        /// True if no byte of the reply had arrived.
        is_before_reply: bool,
    },
    Transport(reqwest::Error),
}

impl From<NoDocuments<'_>> for Broken {
    fn from(none: NoDocuments<'_>) -> Self {
        match none {
            NoDocuments::Words(words) => Self::Reported(words.to_owned()),
            NoDocuments::Garbled(text) => Self::garbled(text),
        }
    }
}

impl Broken {
    pub(crate) fn garbled(text: &str) -> Self {
        Self::Garbled(text.chars().take(SHOWN).collect())
    }

    /// Returns true if the service does not stream to this user, such as OpenAI's newest models to an organization that is not verified.
    pub(crate) fn refuses_stream(&self) -> bool {
        let Self::Status { status, body, .. } = self else {
            return false;
        };
        let is_refused = *status == StatusCode::BAD_REQUEST;
        let body = is_refused.then(|| serde_json::from_str::<Value>(body).ok());
        body.flatten()
            .is_some_and(|body| body["error"]["param"] == "stream")
    }

    /// Returns true if the reply broke off after it had begun.
    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::TimedOut {
                is_before_reply, ..
            } => !is_before_reply,
            // Such an attempt is reported, so that budgets count its prompt. One that fails before the body is not.
            Self::Transport(error) => error.is_body() || error.is_decode(),
            _ => false,
        }
    }

    /// Returns the failure, without the key.
    pub(crate) fn failure(self, provider: &str, key: &SecretString) -> Failure {
        let redacted = |text: &str| {
            let text = without_key(text, key);
            text.chars().take(MAX_MESSAGE_CHARS).collect::<String>()
        };
        let provider = provider.to_owned();
        // As after a reset, a part of a garbled or truncated reply is missing.
        let is_transient = matches!(self, Self::Garbled(_) | Self::Truncated);
        let message = match self {
            Self::Status {
                status,
                headers,
                body,
            } => return service_failure(provider, Some((status, &headers)), &body, redacted),
            Self::Reported(body) => return service_failure(provider, None, &body, redacted),
            Self::Transport(error) => return transport_failure(provider, error, redacted),
            Self::TimedOut {
                awaited,
                limit,
                is_before_reply,
            } => {
                let message = format!("{awaited} took more than {} ms", limit.as_millis());
                // The model may have begun its turn once the reply has begun.
                return Failure::new(
                    ProviderError::Timeout { provider, message },
                    is_before_reply,
                );
            }
            Self::Garbled(text) => redacted(&format!("a part of the reply is no JSON: {text}")),
            Self::Truncated => "the reply ended before its finish".to_owned(),
            Self::ContentType(kind) => redacted(&format!(
                "the reply has the content type {kind:?} and is neither an event stream nor JSON"
            )),
            Self::TooLong(limit) => format!("the reply has more than {limit} bytes"),
        };
        Failure::new(ProviderError::Malformed { provider, message }, is_transient)
    }
}

/// Returns the failure that a service reports, under a status of its own or under that of success.
fn service_failure(
    provider: String,
    reply: Option<(StatusCode, &HeaderMap)>,
    body: &str,
    redacted: impl Fn(&str) -> String,
) -> Failure {
    let service = ServiceError::from_body(body);
    let kind = service.kind(reply.map(|(status, _)| status.as_u16()));
    let message = redacted(&service.message);
    let mut is_transient = match service.status {
        Some(status) => is_transient_status(status),
        None => {
            let is_passing = matches!(
                kind,
                FailureKind::RateLimit | FailureKind::Overloaded | FailureKind::Internal
            );
            is_passing && service.has_code()
        }
    };
    let error = match reply {
        Some((status, headers)) => {
            let status = status.as_u16();
            // The service's own decision counts in both directions, also against a status that is mostly worth a retry.
            is_transient = should_retry(headers).unwrap_or_else(|| is_transient_status(status));
            let retry_after = requested_delay(headers, SystemTime::now());
            ProviderError::Status {
                provider,
                status,
                kind,
                message,
                retry_after: retry_after.or(service.retry_after),
            }
        }
        None => ProviderError::Reported {
            provider,
            kind,
            status: service.status,
            message,
            retry_after: service.retry_after,
        },
    };
    // No retry of the same request helps then.
    is_transient &= !matches!(kind, FailureKind::Quota | FailureKind::ContextLength);
    Failure::new(error, is_transient)
}

fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

fn transport_failure(
    provider: String,
    error: reqwest::Error,
    redacted: impl Fn(&str) -> String,
) -> Failure {
    let error = error.without_url();
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let message = causes.fold(error.to_string(), |message, cause| {
        format!("{message}: {cause}")
    });
    let message = redacted(&message);
    if error.is_timeout() {
        let is_transient = error.is_connect() || error.is_request();
        return Failure::new(ProviderError::Timeout { provider, message }, is_transient);
    }
    Failure::transient(ProviderError::Connection { provider, message })
}
