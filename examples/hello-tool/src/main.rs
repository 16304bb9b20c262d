//! Run with `cargo run -p example-hello-tool`: one `#[tool]`, in the catalog because it is linked, executed.

#![allow(clippy::print_stdout)]

use serde_json::json;
use tools::{ToolContext, ToolError, tool};

/// Adds two integers.
#[tool(pure)]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a.saturating_add(b)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ToolError> {
    // Nobody registered it: being linked is enough.
    let tool = tools::get("add")?;
    println!("{} is declared by {}", tool.name(), tool.source());
    println!("parameters: {}", tool.tool().parameters);

    let result = tools::execute(&ToolContext::default(), "add", json!({"a": 1, "b": 2})).await?;
    println!("add(1, 2) = {}", result.to_text());

    // The counter checks every call; the error tells a model how to repair it.
    let error = tools::execute(&ToolContext::default(), "add", json!({"a": 1, "c": 2})).await;
    println!("add(1, c=2): {}", error.map_or_else(|error| error.to_string(), |result| result.to_text()));
    Ok(())
}
