//! The crate is known under another name only.

extern crate tools as cribs;

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

fn main() {
    cribs::Catalog::new().submit(&[&ADD_TOOL, &SUBTRACT_TOOL]).unwrap();
}
