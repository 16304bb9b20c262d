//! Run with `cargo run -p example-custom-plugin`: a program that links a crate of tools, and so has them.

#![allow(clippy::print_stdout)]

use serde_json::json;
use tools::ToolContext;

// The one line that a plugin needs. A dependency that nothing names would not be linked.
use example_custom_plugin as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // And the one that notices if it were ever lost.
    tools::expect_linked!("example-custom-plugin")?;

    for entry in tools::list() {
        println!("{:13} {} [{}]", entry.name(), entry.tool().description, entry.source());
    }
    let cx = ToolContext::new();
    println!("{}", tools::execute(&cx, "text.measure", json!({"text": "link a crate"})).await?.to_text());
    println!("{}", tools::execute(&cx, "text.shout", json!({"text": "its tools run", "marks": 1})).await?.to_text());
    Ok(())
}
