//! Run-time behaviour of tools written with `#[tool]`.

// Clippy exempts only functions with `#[test]`.
pub mod accepted;
mod call;
mod definition;
mod outcome;
mod preview;
mod running;
mod syntax;

use serde_json::Value;
use tools::{Catalog, Grant, Host, Submission, Tool, ToolError, ToolResult};

/// Returns the definition of a tool after its registration.
fn tool(submission: &'static Submission) -> Tool {
    catalog(submission)
        .get(submission.name)
        .unwrap()
        .tool()
        .clone()
}

/// Returns the outcome of a call with all grants.
async fn called(
    submission: &'static Submission,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    let cx = Host::new().with_grant(Grant::all());
    catalog(submission)
        .execute(&cx, submission.name, arguments)
        .await
}

fn catalog(submission: &'static Submission) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(&[submission]).unwrap();
    catalog
}
