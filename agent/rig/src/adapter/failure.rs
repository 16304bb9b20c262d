//! Converts rig's errors.

use std::time::{Duration, SystemTime};

use agent::ProviderError;
use rig_core::http_client::{Error as HttpError, HeaderMap};
use rig_core::{ProviderError as RigError, ProviderResponseError};
use rig_reqwest::reqwest;
use secrecy::SecretString;
use serde_json::Value;

use super::Api;
use super::transport::TimedOut;
use crate::key::without_key;
use crate::retry::Failure;

/// The most characters kept of a service's message.
const MAX_MESSAGE_CHARS: usize = 500;

pub(super) fn failure(api: Api, key: &SecretString, error: &RigError) -> Failure {
    let provider = api.name().to_owned();
    let redacted = |text: &str| without_key(text, key).chars().take(MAX_MESSAGE_CHARS).collect::<String>();
    let error = match (error, error.provider_response()) {
        (_, Some(response)) => response_error(provider, response, redacted(&message(&response.body))),
        (RigError::Http(error), _) => transport_error(provider, error, redacted),
        (RigError::UnsupportedOption(unsupported), _) => ProviderError::Options {
            provider,
            reason: format!("{unsupported}; remove the option, or change the model"),
        },
        (RigError::Request(_) | RigError::Url(_), _) => {
            ProviderError::Failed { provider, message: redacted(&error.to_string()) }
        }
        (error, _) => ProviderError::Malformed { provider, message: redacted(&error.to_string()) },
    };
    let is_transient = match &error {
        ProviderError::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
        ProviderError::Connection { .. } => true,
        _ => false,
    };
    Failure { error, is_transient }
}

fn response_error(provider: String, response: &ProviderResponseError, message: String) -> ProviderError {
    match response.status {
        Some(status) if !status.is_success() => {
            let headers = response.headers.as_ref();
            let retry_after = headers.and_then(|headers| requested_delay(headers, SystemTime::now()));
            ProviderError::Status { provider, status: status.as_u16(), message, retry_after }
        }
        _ => ProviderError::Failed { provider, message },
    }
}

fn transport_error(provider: String, error: &HttpError, redacted: impl Fn(&str) -> String) -> ProviderError {
    let HttpError::Instance(source) = error else {
        return ProviderError::Connection { provider, message: redacted(&error.to_string()) };
    };
    let is_late = source.downcast_ref::<TimedOut>().is_some()
        || source.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout);
    let mut message = source.to_string();
    let mut cause = source.source();
    while let Some(deeper) = cause {
        message = format!("{message}: {deeper}");
        cause = deeper.source();
    }
    let message = redacted(&message);
    if is_late { ProviderError::Timeout { provider, message } } else { ProviderError::Connection { provider, message } }
}

/// Returns the error message in a JSON body of a known shape, or else the body.
fn message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let places = ["/error/message", "/message", "/detail", "/error"];
    let found = parsed.as_ref().and_then(|value| places.iter().find_map(|place| value.pointer(place)?.as_str()));
    found.unwrap_or(body.trim()).to_owned()
}

/// Returns the delay that a service requests: seconds or a date (RFC 9110, section 10.2.3), or milliseconds in OpenAI's header.
///
/// A date is compared with the service's own `date` header if there is one, because clocks differ.
fn requested_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let date = |name: &str| httpdate::parse_http_date(text(name)?).ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A past date means no delay.
    Some(date("retry-after")?.duration_since(date("date").unwrap_or(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example date of RFC 9110.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn delay(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        requested_delay(&headers, SystemTime::UNIX_EPOCH + NOW)
    }

    #[test]
    fn a_delay_is_requested_in_seconds_or_milliseconds() {
        assert_eq!(delay(&[("retry-after", "120")]), Some(Duration::from_secs(120)));
        assert_eq!(delay(&[("retry-after", " 0.25 ")]), Some(Duration::from_millis(250)));
        assert_eq!(delay(&[("retry-after", "7"), ("retry-after-ms", "1500")]), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn a_delay_is_requested_by_a_date_in_each_form_of_the_standard() {
        for date in ["Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT", "Sun Nov  6 08:51:37 1994"] {
            assert_eq!(delay(&[("retry-after", date)]), Some(Duration::from_secs(120)), "{date}");
        }
        assert_eq!(delay(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn a_date_is_compared_with_the_clock_of_the_service() {
        let date = ("date", "Sun, 06 Nov 1994 10:00:00 GMT");
        assert_eq!(delay(&[("retry-after", "Sun, 06 Nov 1994 10:00:30 GMT"), date]), Some(Duration::from_secs(30)));
        let unreadable = ("date", "now");
        assert_eq!(
            delay(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), unreadable]),
            Some(Duration::from_secs(10))
        );
    }

    #[test]
    fn an_invalid_delay_is_ignored() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e300", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT"] {
            assert_eq!(delay(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(delay(&[]), None);
    }
}
