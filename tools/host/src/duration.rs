//! Durations on the command line.

use std::time::Duration;

/// Parses `500ms`, `5s`, `2m`, `1h`, `30d` or `1.5s`; a bare number is in seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds_per_unit = match &text[digits.len()..] {
        "ms" => Some(0.001),
        "" | "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => None,
    };
    // `f64` also reads `inf`, `nan` and exponents.
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: Option<f64> = digits.parse().ok().filter(|_| plain);
    let (Some(number), Some(seconds_per_unit)) = (number, seconds_per_unit) else {
        return Err("expected a number with ms, s, m, h or d, such as 500ms or 5s".to_owned());
    };
    match Duration::try_from_secs_f64(number * seconds_per_unit) {
        Ok(Duration::ZERO) => Err("it must be greater than zero".to_owned()),
        Ok(duration) => Ok(duration),
        Err(_) => Err("it is too long".to_owned()),
    }
}

/// Formats a duration for people, in the fitting unit: `850ms`, `1.2s`, `3m`, `2.5h`, `14d`.
pub fn format(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (unit, name) = match duration.as_secs() {
        0 => return format!("{}ms", duration.as_millis()),
        1..60 => (1.0, "s"),
        60..3600 => (60.0, "m"),
        3600..86_400 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    format!("{}{name}", (seconds / unit * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        for (text, millis) in [
            ("500ms", 500),
            ("5s", 5000),
            ("5", 5000),
            ("1.5s", 1500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "s",
            "-1s",
            "0",
            "0ms",
            "1w",
            "inf",
            "nan",
            "1e3",
            "1..2",
            "5 s",
            "ä",
            "99999999999999999999999h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_shown_in_the_unit_that_fits() {
        for (millis, text) in [
            (0, "0ms"),
            (850, "850ms"),
            (1250, "1.3s"),
            (30_000, "30s"),
            (90_000, "1.5m"),
            (9_000_000, "2.5h"),
            (1_209_600_000, "14d"),
        ] {
            assert_eq!(format(Duration::from_millis(millis)), text);
        }
    }
}
