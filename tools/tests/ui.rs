//! Compiler errors for functions that `#[tool]` refuses. `TRYBUILD=overwrite cargo test -p toolcrib-tools --test ui` writes the expected
//! errors anew; read them before they are committed. Tools that compile are in `it/tool_macro/accepted`: one program here would make
//! trybuild build every dependency instead of checking it, and compile the cases one at a time.

#[test]
fn a_refused_tool_says_why() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
