//! Durations and sizes with units.

const TIMES: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
];

/// Parses a duration such as `30s`, `500ms`, `2m` or `1h`. Returns milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    quantity(text, TIMES).ok_or_else(|| {
        format!("{text:?} is not a duration; write a number above 0 with a unit, such as \"500ms\", \"30s\", \"2m\" or \"1h\"")
    })
}

/// Parses a size such as `64KiB`, `1MB` or `4096`. Returns bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    quantity(text, SIZES).ok_or_else(|| {
        format!("{text:?} is not a size; write a number of bytes above 0, or a number with a unit, such as \"64KiB\", \"1MiB\", \"500kB\" or \"2MB\"")
    })
}

/// Parses a positive integer with a unit. Returns `None` if the text has another form or the product exceeds 64 bits.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(*factor)
        .filter(|&product| product > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        for (text, expected) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("5 s", 5_000),
        ] {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "30",
            "s",
            "0s",
            "-1s",
            "1.5s",
            "30 sec",
            "30S",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_may_go_without_a_unit() {
        for (text, expected) in [
            ("4096", 4096),
            ("1B", 1),
            ("64KiB", 65_536),
            ("1MiB", 1 << 20),
            ("2MB", 2_000_000),
            ("3kB", 3_000),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "KiB", "1GiB2", "-1", "1.5MiB", "64kib"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
