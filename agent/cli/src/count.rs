//! Counts of the command line.

use std::num::NonZeroUsize;

/// Parses a count of at least one.
pub(crate) fn parse(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 on".to_owned())
}
