//! What the compiler says about `#[tool]`. `TRYBUILD=overwrite cargo test -p toolcrib-tools --test ui` writes the expected
//! errors anew; read them before they are committed.

#[test]
fn tools_compile_or_say_why_not() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
