//! Run with `cargo run -p example-plain-http`: tools for a model behind a plain HTTP client, without an agent.

#![allow(clippy::print_stdout)]

use agent::{Selection, ToolSet, WireToolSet};
use serde_json::{Value, json};
use tools::protocol::wire::{Format, InvalidCall, Strictness, WireCall, WireResult};
use tools::{Grant, Host, ToolContext, ToolError, ToolResult};

tools::link!(tools_builtin);

/// The format of the service. Another service also has another URL, and its message at another place of the reply.
const FORMAT: Format = Format::OpenAiChat;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = format!("{}/chat/completions", loopback_model::serve()?);
    // A proxy of the environment would not find the model of this process.
    let http = reqwest::Client::builder().no_proxy().build()?;

    let workspace = tools_builtin::fs::Workspace::open(".")?;
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:examples/**"])?)
        .with_service(workspace);
    let set = ToolSet::new(
        tools::list(),
        &Selection::parse(["fs.list", "fs.read"])?,
        cx.services(),
    );
    let wire = set.wire(FORMAT, Strictness::Relaxed);

    let mut messages = vec![json!({"role": "user", "content": "What is in this project?"})];
    for _ in 0..5 {
        let request = json!({"model": "loopback", "messages": messages, "tools": wire.value()});
        let reply = http
            .post(&url)
            .json(&request)
            .send()
            .await?
            .error_for_status()?;
        let message = reply.json::<Value>().await?["choices"][0]["message"].take();
        let calls = FORMAT.read_calls(&message);
        if calls.is_empty() {
            println!("{}", message["content"].as_str().unwrap_or_default());
            return Ok(());
        }
        // The message goes back as it came, with its calls and everything beside them.
        messages.push(message);
        let mut results = Vec::new();
        for call in calls {
            results.push(answer(call, &set, wire, &cx).await?);
        }
        messages.extend(FORMAT.write_results(&results));
    }
    Err("the model still made calls in its fifth turn".into())
}

/// Runs a call and returns its result for the model. Only a cancelled run and a broken journal are errors here.
async fn answer(
    call: Result<WireCall, InvalidCall>,
    set: &ToolSet,
    wire: &WireToolSet,
    cx: &ToolContext,
) -> Result<WireResult, ToolError> {
    let call = match call {
        Ok(read) => read.call,
        Err(invalid) => {
            let result = ToolResult::error(invalid.to_string());
            return Ok(WireResult::new(invalid.id, invalid.name, result));
        }
    };
    let (id, name) = (call.id.clone(), call.name.clone());
    Ok(WireResult::new(id, name, set.answer(cx, wire, call).await?))
}
