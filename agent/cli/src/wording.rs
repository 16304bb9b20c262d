//! Tool errors, counts and sizes as text for a person.

use agent::refusal;
use tools::{ToolError, ToolErrorKind};

use crate::program;

/// Returns the error's message for a person. The pipeline's own messages advise a model, such as not to retry.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::NotFound { near } if near.is_empty() => {
            format!("there is no tool named {tool:?}; run {} list to see all names", program::name())
        }
        ToolErrorKind::Timeout { limit } => {
            format!("{tool} exceeded its deadline of {limit:?} and was stopped; set a longer one with --timeout")
        }
        _ => refusal::for_person(error),
    }
}

/// Returns a count with its unit, such as `1 step` or `2 steps`.
pub(crate) fn counted(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Returns a size in the fitting unit, rounded: `512 bytes`, `65.5 kB` or `1.2 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1000 => return counted(bytes, "byte"),
        1000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    // Exact up to 2^53 bytes.
    format!("{} {name}", (bytes as f64 / unit * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (65_536, "65.5 kB"),
            (1_240_000, "1.2 MB"),
            (3_000_000_000, "3 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
