//! Run with `cargo run -p example-rig-agent`: the tools of a catalog in an agent of rig.

#![allow(clippy::print_stdout)]

use agent::{Selection, ToolSet};
use rig_agent::AgentBuilder;
use rig_core::providers::openai::OpenAIConfig;
use rig_reqwest::{ReqwestClient, reqwest};
use tools::protocol::wire::Format;
use tools::{Grant, Host};

tools::link!(tools_builtin);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Any model of rig. This one plays on the loopback, where a proxy of the environment would not find it.
    let http = ReqwestClient::from(reqwest::Client::builder().no_proxy().build()?);
    let config = OpenAIConfig::new("no key").with_base_url(loopback_model::serve()?);
    let model = config.connect(http).chat("loopback");

    let workspace = tools_builtin::fs::Workspace::open(".")?;
    let cx = Host::new()
        .with_grant(Grant::parse(["fs:read:examples/**"])?)
        .with_service(workspace);

    let set = ToolSet::new(
        tools::list(),
        &Selection::parse(["fs.list", "fs.read"])?,
        cx.services(),
    );
    let tools = agent_rig::tools(&set, &cx, Format::OpenAiChat);
    let agent = AgentBuilder::new(model).dynamic_tools(tools).build();

    // The listing is granted. The other call is denied, and the model reads why.
    let answer = agent
        .prompt("What is in this project?")
        .max_turns(5)
        .await?;
    println!("{}", answer.output());
    Ok(())
}
