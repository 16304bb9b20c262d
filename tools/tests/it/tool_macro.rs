//! What tools written with `#[tool]` are and do at run time.

// Only functions with `#[test]` are exempt by themselves.
pub mod accepted;
mod call;
mod definition;
mod outcome;
mod running;

use serde_json::Value;
use tools::{Catalog, Grant, Submission, Tool, ToolContext, ToolError, ToolResult};

/// The definition of a tool, after a catalog took it.
fn tool(submission: &'static Submission) -> Tool {
    catalog(submission).get(submission.name).unwrap().tool().clone()
}

/// The outcome of a call that is granted everything.
async fn called(submission: &'static Submission, arguments: Value) -> Result<ToolResult, ToolError> {
    let cx = ToolContext::new().with_grant(Grant::all());
    catalog(submission).execute(&cx, submission.name, arguments).await
}

fn catalog(submission: &'static Submission) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.submit(&[submission]).unwrap();
    catalog
}
