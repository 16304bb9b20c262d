//! An agent with the tools of @name@. A script plays the model, so it needs no key.

use std::error::Error;
use std::sync::Arc;

use agent::{Driver, Event, Outcome, Scripted, Selection, Session};
use tools::{Grant, Host};

use @library@ as _;

/// The turns of the model. The lamp of the hall is not granted.
const SCRIPT: &str = r#"[
    {"calls": [
        {"name": "text.count", "arguments": {"text": "to be or not", "unit": "characters"}},
        {"name": "lamp.switch", "arguments": {"room": "kitchen", "state": "on"}},
        {"name": "lamp.switch", "arguments": {"room": "hall", "state": "on"}}
    ]},
    {"text": "There is light in the kitchen."}
]"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // For a real model, enable `toolcrib-models` in Cargo.toml, and write here, with the key in OPENAI_API_KEY:
    // let model = agent_models::Remote::openai(&agent::ProviderOptions::default())?;
    let model = Scripted::from_json(SCRIPT)?;

    // What calls may change. `with_approver` asks a person about others.
    let host = Host::new().with_grant(Grant::parse(["lamp:write:kitchen"])?);
    let tools = Selection::parse(["text.*", "lamp.*"])?;
    let mut session = Session::new(tools::list(), tools, host);
    let driver = Driver::new(Arc::new(model)).with_events(|event: Event| match event {
        Event::CallStarted { name, arguments, .. } => println!("{name} {arguments}"),
        Event::Result { result, .. } => println!("  = {}", result.to_text()),
        _ => {}
    });
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Make light in the kitchen.".to_owned());
    let summary = driver.run(&mut session, prompt).await?;
    match summary.outcome {
        Outcome::Answer { text, .. } => println!("{text}"),
        other => println!("{other:?}"),
    }
    Ok(())
}
