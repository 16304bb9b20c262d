//! [`Size`]: a number of bytes in a setting.

use std::fmt;
use std::str::FromStr;

const UNITS: [(&str, u64); 4] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1)];

/// A number of bytes, such as `200MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(u64);

impl Size {
    /// Returns the size of this many bytes.
    pub(crate) const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    #[cfg(feature = "journal")]
    pub(crate) fn bytes(self) -> u64 {
        self.0
    }
}

/// Parses a whole number with `B`, `kB`, `MB` or `GB`.
impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text[digits.len()..]));
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let Some((_, unit)) = unit.filter(|_| is_number) else {
            return Err("expected a whole number with B, kB, MB or GB, such as 200MB");
        };
        digits.parse().ok().and_then(|number: u64| number.checked_mul(*unit)).map(Self).ok_or("it is too large")
    }
}

/// Formats the size without rounding, in the largest unit that is exact.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = UNITS.iter().find(|(_, unit)| self.0 > 0 && self.0.is_multiple_of(*unit));
        let (name, unit) = exact.unwrap_or(&("B", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_and_shown_exactly() {
        for (text, bytes) in [("0B", 0), ("512B", 512), ("4kB", 4000), ("200MB", 200_000_000), ("3GB", 3_000_000_000)] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), text);
        }
        assert_eq!("200mb".parse(), Ok(Size(200_000_000)));
        assert_eq!(Size(1_000_001).to_string(), "1000001B");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "MB", "200", "-1MB", "1.5GB", "1 GB", "1MiB", "1TB", "ä", "99999999999GB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
