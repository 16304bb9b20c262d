//! What rig's errors are in our words.

use std::time::{Duration, SystemTime};

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
            let headers = response.headers.as_ref();
            let retry_after = headers.and_then(|headers| asked_pause(headers, SystemTime::now()));
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

/// The wait that a service asks for: seconds or a date (RFC 9110, section 10.2.3), or milliseconds in a header that OpenAI has.
/// A date is held against the service's own clock, where the answer tells it, because clocks differ.
fn asked_pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let date = |name: &str| httpdate::parse_http_date(text(name)?).ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A date that is past asks for no wait.
    Some(date("retry-after")?.duration_since(date("date").unwrap_or(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the date that RFC 9110 spells in all its forms.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn pause(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        asked_pause(&headers, SystemTime::UNIX_EPOCH + NOW)
    }

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_milliseconds() {
        assert_eq!(pause(&[("retry-after", "120")]), Some(Duration::from_secs(120)));
        assert_eq!(pause(&[("retry-after", " 0.25 ")]), Some(Duration::from_millis(250)));
        assert_eq!(pause(&[("retry-after", "7"), ("retry-after-ms", "1500")]), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn a_pause_is_asked_for_by_a_date_in_each_form_of_the_standard() {
        for date in ["Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT", "Sun Nov  6 08:51:37 1994"] {
            assert_eq!(pause(&[("retry-after", date)]), Some(Duration::from_secs(120)), "{date}");
        }
        assert_eq!(pause(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn a_date_is_held_against_the_clock_of_the_service() {
        let date = ("date", "Sun, 06 Nov 1994 10:00:00 GMT");
        assert_eq!(pause(&[("retry-after", "Sun, 06 Nov 1994 10:00:30 GMT"), date]), Some(Duration::from_secs(30)));
        let unreadable = ("date", "now");
        assert_eq!(
            pause(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), unreadable]),
            Some(Duration::from_secs(10))
        );
    }

    #[test]
    fn what_is_no_pause_asks_for_none() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e300", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT"] {
            assert_eq!(pause(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(pause(&[]), None);
    }
}
