//! What counts is the type, not how it is spelled.

use std::fmt;

use tools::tool;

struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")
    }
}

type Outcome<T> = Result<T, Failure>;
type Nothing = ();

/// Fails.
#[tool(pure)]
fn fails() -> Outcome<u8> {
    Err(Failure)
}

/// Does nothing.
#[tool(pure)]
fn nothing() -> Nothing {}

/// May fail as input and output do.
#[tool(reads = "fs:a")]
fn io() -> std::io::Result<&'static str> {
    Ok("a")
}

/// Fails with anything.
#[tool(pure)]
async fn anything() -> Result<Vec<tools::Content>, Box<dyn std::error::Error>> {
    Ok(vec![])
}

/// Does not say what it returns.
#[tool(pure)]
fn opaque() -> Result<impl serde::Serialize, tools::ToolError> {
    Ok(1)
}

#[test]
fn a_result_may_have_another_name() {
    tools::Catalog::new().submit(&[&FAILS_TOOL, &NOTHING_TOOL, &IO_TOOL, &ANYTHING_TOOL, &OPAQUE_TOOL]).unwrap();
}
