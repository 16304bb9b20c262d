//! A tool behind a `cfg`, and tools inside of a function.
#![deny(warnings)]
#![allow(clippy::non_minimal_cfg)] // Conditions that never and always hold are the shortest ones.

use tools::tool;

/// Is not there.
#[tool(pure)]
#[cfg(any())]
fn absent(
    /// A type that is not there either.
    absent: Absent,
) {
}

/// Is there.
#[tool(pure)]
#[cfg(not(any()))]
#[must_use]
#[inline]
fn present() -> u8 {
    1
}

#[test]
fn a_tool_exists_in_some_builds_or_inside_a_function() {
    /// Has only its context in scope.
    #[tool(pure)]
    fn inner() -> u8 {
        present()
    }
    assert_eq!(inner(), 1);
    tools::Catalog::new()
        .submit(&[&PRESENT_TOOL, &INNER_TOOL])
        .unwrap();
}
