//! Run with `cargo run -p example-delegate`: an agent gives two files to two sub-agents, which share its budget, and answers with a
//! value of a type. The model is a function, so no key is needed.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use agent::{
    BudgetLimits, Driver, Event, Provider, ProviderInfo, Request, RunOptions, Selection, Session,
    SubAgents, Turn, TurnFuture,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::protocol::Part;
use tools::{Grant, Host, JsonSchema, ToolCall};

tools::link!(tools_builtin);

/// The answer of the run.
#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
struct Report {
    /// The first line of each file.
    titles: Vec<String>,
}

/// A model that delegates the reading. Any provider takes its place.
struct Model;

impl Provider for Model {
    fn about(&self) -> &ProviderInfo {
        static FUNCTION: ProviderInfo = ProviderInfo::new("function");
        &FUNCTION
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let results: Vec<_> = request
            .messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(text_of)
            .collect();
        let turn = match (request.agent, &results[..]) {
            (None, []) => Turn::calls(["README.md", "CHANGELOG.md"].map(delegation)),
            (None, titles) => Turn::answer(json!({"titles": titles}).to_string()),
            // The last message is the task, which is a path.
            (Some(_), []) => {
                let path = request
                    .messages
                    .last()
                    .map(|task| task.to_text())
                    .unwrap_or_default();
                Turn::calls([ToolCall::new(
                    "1",
                    "fs.read",
                    json!({"path": path, "end": 1}),
                )])
            }
            (Some(_), [line, ..]) => Turn::answer(line),
        };
        Box::pin(async { Ok(turn) })
    }
}

/// Returns the call that gives a file to a sub-agent, which may read this file and nothing else.
fn delegation(path: &str) -> ToolCall {
    let name = path.trim_end_matches(".md").to_lowercase();
    let arguments: Value = json!({
        "name": name, "task": path, "tools": ["fs.read"], "grant": [format!("fs:read:{path}")], "budget": {"steps": 3},
    });
    ToolCall::new(name, "agent.spawn", arguments)
}

/// Returns the first line of a result.
fn text_of(part: &Part) -> Option<String> {
    match part {
        Part::ToolResult { result, .. } => result.to_text().lines().next().map(str::to_owned),
        _ => None,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:*.md", "agent:write:*"])?)
        .with_service(tools_builtin::fs::Workspace::open(".")?)
        .with_service(SubAgents::default());
    let mut session = Session::new(
        tools::list(),
        Selection::parse(["agent.spawn", "fs.read"])?,
        cx,
    );

    // The run and its sub-agents together make at most 8 requests and 4 calls.
    let options = RunOptions {
        limits: BudgetLimits {
            steps: Some(8),
            calls: Some(4),
            ..BudgetLimits::default()
        },
        ..RunOptions::default()
    };
    let driver = Driver::new(Arc::new(Model))
        .with_options(options)
        .with_events(|event: Event| {
            if let Event::SubAgent { agent, event, .. } = event
                && let Event::CallStarted {
                    name, arguments, ..
                } = *event
            {
                println!("{agent}: {name} {arguments}");
            }
        });
    let report: Report =
        agent::extract(&driver, &mut session, "Report the title of each document.").await?;
    println!("titles: {}", report.titles.join(", "));
    Ok(())
}
