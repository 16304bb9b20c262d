//! Run with `cargo run -p example-hello-tool`: defines one `#[tool]` and executes it.

#![allow(clippy::print_stdout)]

use serde_json::json;
use tools::{Host, ToolError, tool};

/// Adds two integers.
#[tool(pure)]
fn add(
    /// The first summand.
    a: i64,
    /// The second summand.
    b: i64,
) -> i64 {
    a.saturating_add(b)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ToolError> {
    // No registration is needed: the tool is linked.
    let tool = tools::get("add")?;
    println!("{} is declared by {}", tool.name(), tool.source());
    println!("parameters: {}", tool.tool().parameters);

    let result = tools::execute(&Host::new(), "add", json!({"a": 1, "b": 2})).await?;
    println!("add(1, 2) = {}", result.to_text());

    // The pipeline checks every call; the error tells the model how to repair it.
    let error = tools::execute(&Host::new(), "add", json!({"a": 1, "c": 2})).await;
    println!(
        "add(1, c=2): {}",
        error.map_or_else(|error| error.to_string(), |result| result.to_text())
    );
    Ok(())
}
