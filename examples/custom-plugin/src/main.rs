//! Run with `cargo run -p example-custom-plugin`: a program that links a crate of tools.

#![allow(clippy::print_stdout)]

use serde_json::json;
use tools::{Grant, Host};
use tools_builtin::fs::Workspace;

// Links the crate. The compiler drops a dependency that no code names.
use example_custom_plugin as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Returns an error if one of the crates is not linked.
    tools::expect_linked!("example-custom-plugin", "toolcrib-time")?;

    for entry in tools::list()
        .iter()
        .filter(|entry| entry.name().starts_with("text."))
    {
        println!(
            "{:17} {} [{}]",
            entry.name(),
            entry.tool().description,
            entry.source()
        );
    }
    // Lists the tools that cannot be used, each with its reason.
    for problem in tools::problems() {
        eprintln!("{problem}");
    }
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**"])?)
        .with_service(Workspace::open(".")?);
    println!(
        "{}",
        tools::execute(&cx, "text.measure", json!({"text": "link a crate"}))
            .await?
            .to_text()
    );
    println!(
        "{}",
        tools::execute(
            &cx,
            "text.shout",
            json!({"text": "its tools run", "marks": 1})
        )
        .await?
        .to_text()
    );
    println!(
        "{}",
        tools::execute(&cx, "text.measure_file", json!({"path": "Cargo.toml"}))
            .await?
            .to_text()
    );
    let wrapping = json!({"text": "a line that is too long for its own good", "width": 12});
    println!(
        "{}",
        tools::execute(&cx, "text.wrap", wrapping).await?.to_text()
    );
    Ok(())
}
