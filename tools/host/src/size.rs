//! [`Size`]: a number of bytes.

use std::fmt;
use std::str::FromStr;

use tools::counted;

/// The units of a setting, the largest first. Of two near ones, the decimal unit is preferred.
const UNITS: [(&str, u64); 7] = [
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("kB", 1000),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// The largest number that is shown to people with a smaller unit than possible, because it is exact there.
const MAX_EXACT: u64 = 1023;

/// A number of bytes, such as `200MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

impl Size {
    /// Returns the size of this many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the size for people: in the unit in which it is round, or else rounded. Returns `512 bytes`, `256 KiB`, `2 MB` or
    /// `1.2 MB`.
    pub fn to_text(self) -> String {
        let (name, unit) = self.exact_unit();
        let number = self.0 / unit;
        match UNITS
            .iter()
            .filter(|(name, _)| !name.contains('i'))
            .find(|(_, unit)| *unit <= self.0)
        {
            _ if unit > 1 && number <= MAX_EXACT => format!("{number} {name}"),
            // Exact up to 2^53 bytes.
            Some((name, unit @ 2..)) => format!(
                "{} {name}",
                (self.0 as f64 / *unit as f64 * 10.0).round() / 10.0
            ),
            _ => counted(self.0, "byte"),
        }
    }

    /// Returns the largest unit in which the size is a whole number.
    fn exact_unit(self) -> (&'static str, u64) {
        let exact = UNITS
            .into_iter()
            .find(|(_, unit)| self.0 > 0 && self.0.is_multiple_of(*unit));
        exact.unwrap_or(("B", 1))
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

/// Parses a whole number with `B`, `kB`, `KiB`, `MB`, `MiB`, `GB` or `GiB`.
impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&text[digits.len()..]));
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let Some((_, unit)) = unit.filter(|_| is_number) else {
            return Err(
                "expected a whole number with B, kB, KiB, MB, MiB, GB or GiB, such as 200MB",
            );
        };
        digits
            .parse()
            .ok()
            .and_then(|number: u64| number.checked_mul(*unit))
            .map(Self)
            .ok_or("it is too large")
    }
}

/// Formats the size without rounding, in the largest unit that is exact.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = self.exact_unit();
        write!(f, "{}{name}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_and_shown_exactly() {
        for (text, bytes) in [
            ("0B", 0),
            ("512B", 512),
            ("4kB", 4000),
            ("64KiB", 65_536),
            ("200MB", 200_000_000),
            ("3GB", 3_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), text);
        }
        assert_eq!("200mb".parse(), Ok(Size(200_000_000)));
        assert_eq!(Size(1_000_001).to_string(), "1000001B");
        assert_eq!(
            "128000KiB".parse::<Size>().unwrap().to_string().parse(),
            Ok(Size(128_000 << 10))
        );
    }

    #[test]
    fn a_size_is_shown_in_the_unit_in_which_it_is_round() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1234, "1.2 kB"),
            (65_536, "64 KiB"),
            (262_144, "256 KiB"),
            (100_000, "100 kB"),
            (94_208, "92 KiB"),
            (1_240_000, "1.2 MB"),
            (16 << 20, "16 MiB"),
            (3_000_000_000, "3 GB"),
        ] {
            assert_eq!(Size(bytes).to_text(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "MB",
            "200",
            "-1MB",
            "1.5GB",
            "1 GB",
            "1Mi",
            "1TB",
            "ä",
            "99999999999GB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
