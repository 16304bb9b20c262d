//! Compiler errors for functions that `#[tool]` refuses. `TRYBUILD=overwrite cargo test -p toolcrib-tools --test ui` rewrites
//! the expected errors; read them before committing.
//!
//! Tools that compile are in `it/tool_macro/accepted`. A passing case here would make trybuild build every dependency instead of
//! checking it, and compile the cases one at a time.

#[test]
fn a_refused_tool_says_why() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
