//! Converts rig's errors.

use std::error::Error;
use std::time::SystemTime;

use agent::{FailureKind, ProviderError};
use rig_core::http_client::Error as HttpError;
use rig_core::{ProviderError as RigError, ProviderResponseError};
use rig_reqwest::reqwest;
use secrecy::SecretString;

use super::payload::{WrongContentType, WrongPayload};
use super::retry_header::{requested_delay, should_retry};
use super::service_error::ServiceError;
use super::transport::TimedOut;
use super::{Api, generation};
use crate::key::without_key;
use crate::retry::Failure;

/// The most characters kept of a service's message.
const MAX_MESSAGE_CHARS: usize = 1000;

pub(super) fn failure(api: Api, key: &SecretString, error: &RigError) -> Failure {
    let provider = api.name().to_owned();
    let redacted = |text: &str| {
        without_key(text, key)
            .chars()
            .take(MAX_MESSAGE_CHARS)
            .collect::<String>()
    };
    match (error, error.provider_response()) {
        (_, Some(response)) => response_failure(provider, response, redacted),
        (RigError::Http(error), _) => transport_failure(provider, error, redacted),
        (RigError::UnsupportedOption(unsupported), _) => {
            permanent(generation::unsupported(api, unsupported))
        }
        (RigError::Request(_) | RigError::Url(_), _) => permanent(ProviderError::Failed {
            provider,
            message: redacted(&error.to_string()),
        }),
        // As after a reset, a part of the reply is missing.
        (RigError::Truncated, _) => {
            let message = "the reply ended before its finish".to_owned();
            Failure {
                error: ProviderError::Malformed { provider, message },
                is_transient: true,
            }
        }
        (error, _) => permanent(ProviderError::Malformed {
            provider,
            message: redacted(&error.to_string()),
        }),
    }
}

/// Returns true if the reply broke off after it had begun.
pub(super) fn is_cut(error: &RigError) -> bool {
    let RigError::Http(error) = error else {
        return false;
    };
    let HttpError::Instance(source) = &**error else {
        return false;
    };
    let timed_out = source
        .downcast_ref::<TimedOut>()
        .is_some_and(|timed_out| !timed_out.is_before_reply);
    let client = source.downcast_ref::<reqwest::Error>();
    timed_out || client.is_some_and(|error| error.is_body() || error.is_decode())
}

fn permanent(error: ProviderError) -> Failure {
    Failure {
        error,
        is_transient: false,
    }
}

fn response_failure(
    provider: String,
    response: &ProviderResponseError,
    redacted: impl Fn(&str) -> String,
) -> Failure {
    let Some(status) = response.status.filter(|status| !status.is_success()) else {
        return reported_failure(provider, &response.body, redacted);
    };
    let (headers, status) = (response.headers.as_ref(), status.as_u16());
    let service = ServiceError::from_body(&response.body);
    let kind = service.kind(Some(status));
    let retry_after = headers
        .and_then(|headers| requested_delay(headers, SystemTime::now()))
        .or(service.retry_after);
    let is_transient = kind != FailureKind::Quota
        && headers
            .and_then(should_retry)
            .unwrap_or_else(|| is_transient_status(status));
    let message = redacted(&service.message);
    Failure {
        error: ProviderError::Status {
            provider,
            status,
            kind,
            message,
            retry_after,
        },
        is_transient,
    }
}

/// Returns the failure of a request whose reply, or its stream, holds this error.
fn reported_failure(provider: String, body: &str, redacted: impl Fn(&str) -> String) -> Failure {
    let service = ServiceError::from_body(body);
    let kind = service.kind(None);
    let status = service.status;
    let is_transient = match status {
        _ if kind == FailureKind::Quota => false,
        Some(status) => is_transient_status(status),
        None => {
            let is_passing = matches!(
                kind,
                FailureKind::RateLimit | FailureKind::Overloaded | FailureKind::Internal
            );
            is_passing && service.has_code()
        }
    };
    let message = redacted(&service.message);
    Failure {
        error: ProviderError::Reported {
            provider,
            kind,
            status,
            message,
            retry_after: service.retry_after,
        },
        is_transient,
    }
}

fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

fn transport_failure(
    provider: String,
    error: &HttpError,
    redacted: impl Fn(&str) -> String,
) -> Failure {
    let HttpError::Instance(source) = error else {
        return Failure {
            error: ProviderError::Connection {
                provider,
                message: redacted(&error.to_string()),
            },
            is_transient: true,
        };
    };
    let message = redacted(&with_causes(&**source));
    match source.downcast_ref() {
        Some(WrongPayload::Error(body)) => return reported_failure(provider, body, redacted),
        // As after a reset, a part of the reply is missing.
        Some(WrongPayload::Garbled(_)) => {
            return Failure {
                error: ProviderError::Malformed { provider, message },
                is_transient: true,
            };
        }
        None => {}
    }
    if source.is::<WrongContentType>() {
        return permanent(ProviderError::Malformed { provider, message });
    }
    let timed_out = source.downcast_ref::<TimedOut>();
    let client = source.downcast_ref::<reqwest::Error>();
    if timed_out.is_some() || client.is_some_and(reqwest::Error::is_timeout) {
        // The model may have begun its turn once the reply has begun.
        let is_transient = timed_out.is_some_and(|timed_out| timed_out.is_before_reply)
            || client.is_some_and(|error| error.is_connect() || error.is_request());
        return Failure {
            error: ProviderError::Timeout { provider, message },
            is_transient,
        };
    }
    Failure {
        error: ProviderError::Connection { provider, message },
        is_transient: true,
    }
}

fn with_causes(error: &(dyn Error + Send + Sync)) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |message, cause| {
        format!("{message}: {cause}")
    })
}
