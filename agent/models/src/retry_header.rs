//! The headers by which a service decides about retries.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// Returns the service's own decision about a retry (`x-should-retry` of OpenAI and Anthropic). Returns `None` if there is none.
pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    headers
        .get("x-should-retry")?
        .to_str()
        .ok()?
        .trim()
        .to_ascii_lowercase()
        .parse()
        .ok()
}

/// Returns the delay that a service requests: seconds or a date (RFC 9110, section 10.2.3), or milliseconds in OpenAI's header.
///
/// A date is compared with the service's own `date` header if there is one, because clocks differ.
pub(crate) fn requested_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let date = |name: &str| httpdate::parse_http_date(text(name)?).ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0);
    let seconds = seconds.or_else(|| number("retry-after"));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A past date means no delay.
    Some(
        date("retry-after")?
            .duration_since(date("date").unwrap_or(now))
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example date of RFC 9110.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn delay(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        requested_delay(&headers, SystemTime::UNIX_EPOCH + NOW)
    }

    #[test]
    fn a_delay_is_requested_in_seconds_or_milliseconds() {
        assert_eq!(
            delay(&[("retry-after", "120")]),
            Some(Duration::from_secs(120))
        );
        assert_eq!(
            delay(&[("retry-after", " 0.25 ")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            delay(&[("retry-after", "7"), ("retry-after-ms", "1500")]),
            Some(Duration::from_millis(1500))
        );
    }

    #[test]
    fn a_delay_is_requested_by_a_date_in_each_form_of_the_standard() {
        for date in [
            "Sun, 06 Nov 1994 08:51:37 GMT",
            "Sunday, 06-Nov-94 08:51:37 GMT",
            "Sun Nov  6 08:51:37 1994",
        ] {
            assert_eq!(
                delay(&[("retry-after", date)]),
                Some(Duration::from_secs(120)),
                "{date}"
            );
        }
        assert_eq!(
            delay(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn a_date_is_compared_with_the_clock_of_the_service() {
        let date = ("date", "Sun, 06 Nov 1994 10:00:00 GMT");
        assert_eq!(
            delay(&[("retry-after", "Sun, 06 Nov 1994 10:00:30 GMT"), date]),
            Some(Duration::from_secs(30))
        );
        let unreadable = ("date", "now");
        assert_eq!(
            delay(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), unreadable]),
            Some(Duration::from_secs(10))
        );
    }

    #[test]
    fn a_decision_is_a_boolean_in_any_case() {
        let decision = |text: &str| {
            should_retry(
                &[("x-should-retry".parse().unwrap(), text.parse().unwrap())]
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!(
            ["true", "False", " true", "1", ""].map(decision),
            [Some(true), Some(false), Some(true), None, None]
        );
        assert_eq!(should_retry(&HeaderMap::new()), None);
    }

    #[test]
    fn an_invalid_delay_is_ignored() {
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e300",
            "Sun, 06 Nov 1994",
            "Sun, 32 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(delay(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(delay(&[]), None);
    }
}
