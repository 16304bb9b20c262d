//! [`describe_size`]: a number of bytes for people.

use tools::counted;

/// The units, the largest first. Of two near ones, the decimal unit is preferred.
const UNITS: [(&str, u64); 6] = [
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("kB", 1000),
    ("KiB", 1 << 10),
];

/// The largest number that is shown with a smaller unit than possible, because it is exact there.
const MAX_EXACT: u64 = 1023;

/// Returns a number of bytes in the unit in which it is round, or else rounded. Returns `512 bytes`, `256 KiB`, `2 MB` or `1.2 MB`.
pub fn describe_size(bytes: u64) -> String {
    let mut units = UNITS.iter();
    let round = units.find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    let mut decimal = UNITS.iter().filter(|(name, _)| !name.contains('i'));
    match (round, decimal.find(|(_, unit)| *unit <= bytes)) {
        (Some((name, unit)), _) if bytes / unit <= MAX_EXACT => format!("{} {name}", bytes / unit),
        // Exact up to 2^53 bytes.
        (_, Some((name, unit))) => {
            let rounded = (bytes as f64 / *unit as f64 * 10.0).round() / 10.0;
            format!("{rounded} {name}")
        }
        _ => counted(bytes, "byte"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(describe_size(bytes), text);
        }
    }
}
