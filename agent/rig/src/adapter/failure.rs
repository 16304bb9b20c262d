//! What rig's errors are in our words.

use std::time::Duration;

use agent::ProviderError;
use rig_core::http_client::{Error as HttpError, HeaderMap};
use rig_core::{ProviderError as RigError, ProviderResponseError};
use rig_reqwest::reqwest;
use secrecy::SecretString;
use serde_json::Value;

use super::Format;
use super::transport::Silence;
use crate::attempt::Failure;
use crate::key::without_key;

/// The most that is told of what a service says, in characters.
const LONGEST_MESSAGE: usize = 500;

pub(super) fn failure(format: Format, key: &SecretString, error: &RigError) -> Failure {
    let provider = format.name().to_owned();
    let told = |text: &str| without_key(text, key).chars().take(LONGEST_MESSAGE).collect::<String>();
    let error = match (error, error.provider_response()) {
        (_, Some(response)) => answered(provider, response, told(&message(&response.body))),
        (RigError::Http(error), _) => broken(provider, error, told),
        (RigError::Request(_) | RigError::Url(_) | RigError::UnsupportedOption(_), _) => {
            ProviderError::Failed { provider, message: told(&error.to_string()) }
        }
        (error, _) => ProviderError::Malformed { provider, message: told(&error.to_string()) },
    };
    let may_pass = match &error {
        ProviderError::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
        ProviderError::Connection { .. } => true,
        _ => false,
    };
    Failure { error, may_pass }
}

fn answered(provider: String, response: &ProviderResponseError, message: String) -> ProviderError {
    match response.status {
        Some(status) if !status.is_success() => {
            let retry_after = response.headers.as_ref().and_then(retry_after);
            ProviderError::Status { provider, status: status.as_u16(), message, retry_after }
        }
        _ => ProviderError::Failed { provider, message },
    }
}

fn broken(provider: String, error: &HttpError, told: impl Fn(&str) -> String) -> ProviderError {
    let HttpError::Instance(source) = error else {
        return ProviderError::Connection { provider, message: told(&error.to_string()) };
    };
    let is_late = source.downcast_ref::<Silence>().is_some()
        || source.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout);
    let mut message = source.to_string();
    let mut cause = source.source();
    while let Some(deeper) = cause {
        message = format!("{message}: {deeper}");
        cause = deeper.source();
    }
    let message = told(&message);
    if is_late { ProviderError::Timeout { provider, message } } else { ProviderError::Connection { provider, message } }
}

/// What a body says for people, where it is JSON of a shape in use; else the body.
fn message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let places = ["/error/message", "/message", "/detail", "/error"];
    let found = parsed.as_ref().and_then(|value| places.iter().find_map(|place| value.pointer(place)?.as_str()));
    found.unwrap_or(body.trim()).to_owned()
}

/// The wait that a service asks for, in seconds or milliseconds. A date is not read: clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
