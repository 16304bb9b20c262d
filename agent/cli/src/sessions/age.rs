//! Ages and sizes of sessions as texts.

use std::time::Duration;

/// Formats an age in its largest unit, such as `3h`.
pub(crate) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Formats a size in its largest unit, such as `1.2 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    // Exact up to 2^53 bytes.
    format!("{:.1} {name}", bytes as f64 / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_have_their_largest_unit() {
        for (seconds, text) in [(59, "59s"), (60, "1m"), (7199, "1h"), (86_400, "1d"), (8_640_000, "100d")] {
            assert_eq!(age(Duration::from_secs(seconds)), text);
        }
        for (bytes, text) in [(512, "0.5 kB"), (65_536, "65.5 kB"), (1_240_000, "1.2 MB"), (3_000_000_000, "3.0 GB")] {
            assert_eq!(size(bytes), text);
        }
    }
}
