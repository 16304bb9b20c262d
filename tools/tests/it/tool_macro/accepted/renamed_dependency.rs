//! The crate under another name, which `main.rs` gives it.

mod tools {}

/// Adds.
#[cribs::tool(pure, crate = ::cribs)]
fn add(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    a + b
}

/// Subtracts.
#[cribs::tool(pure, crate = "::cribs")]
fn subtract(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    a - b
}

#[test]
fn the_crate_has_another_name() {
    cribs::Catalog::new()
        .submit(&[&ADD_TOOL, &SUBTRACT_TOOL])
        .unwrap();
}
