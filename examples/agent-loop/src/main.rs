//! Run with `cargo run -p example-agent-loop`: an agent loop with a scripted model, offline.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use agent::{Driver, Event, Scripted, Selection, Session};
use tools::{Grant, Host};

tools::link!(tools_builtin);

/// The turns of the model. The second turn repairs a call that the pipeline refused in the first.
const SCRIPT: &str = r#"[
    {"text": "I look around.", "calls": [
        {"name": "fs.list", "arguments": {"path": "."}},
        {"name": "time.now", "arguments": {"zone": "UTC"}},
        {"name": "fs.read", "arguments": {"file": "README.md"}}
    ]},
    {"calls": [{"name": "fs.read", "arguments": {"path": "Cargo.toml"}}]},
    {"text": "It is a Rust workspace."}
]"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = tools_builtin::fs::Workspace::open(".")?;
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:**", "clock:read:**"])?)
        .with_service(workspace);
    let mut session = Session::new(tools::list(), Selection::default(), cx);

    let driver = Driver::new(Arc::new(Scripted::from_json(SCRIPT)?))
        .with_max_steps(5)
        .with_events(|event: Event| match event {
            Event::Text { text } => println!("model: {text}"),
            Event::CallStarted {
                name, arguments, ..
            } => println!("call: {name} {arguments}"),
            Event::Result { name, result, .. } => {
                let text = result.to_text();
                let first = text.lines().next().unwrap_or_default();
                println!(
                    "{}: {name}: {first:.100}",
                    if result.is_error { "error" } else { "result" }
                );
            }
            _ => {}
        });
    let summary = driver.run(&mut session, "What is this project?").await?;
    println!(
        "{} steps, {} calls, {} of them failed",
        summary.steps, summary.calls, summary.failed_calls
    );
    Ok(())
}
