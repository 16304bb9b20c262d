//! [`counted`]: a number with its unit.

/// Returns a number with its unit, such as `1 step` or `3 steps`.
pub fn counted(count: impl Into<u64>, unit: &str) -> String {
    let count = count.into();
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
