//! [`counted`]: counts in messages.

use std::fmt::Display;

/// Returns a count with its unit in the right number, such as `1 entry` or `2 entries`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let unit = if count == N::from(1) { one } else { many };
    format!("{count} {unit}")
}
