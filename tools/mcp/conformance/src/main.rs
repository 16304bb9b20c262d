//! The server that the official conformance suite of MCP tests. Run it with `.ci/mcp-conformance`.
//!
//! The suite names each tool, prompt and resource that it calls. The tools are registered in the process-wide catalog and run through
//! the pipeline, like those of any other program.

mod input_tools;
mod methods;
mod plain_tools;
mod task_tools;

use std::error::Error;
use std::io::{self, Write as _};

use tokio::net::TcpListener;
use tools::{CancellationToken, Effects, Handler, Host, Tool, ToolContext, ToolError};
use tools_mcp::server::{HttpOptions, Peer, PeerError, ServedTools, ServerLimits, ToolServer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:0".to_owned());
    plain_tools::register_all()?;
    input_tools::register_all()?;
    task_tools::register_all()?;
    let served = || ServedTools::new(tools::list(), tools::snapshot());
    let server =
        ToolServer::new(served()?, |_| Host::new()).with_identity("toolcrib-conformance", "1.0.0");
    let server = server
        .with_methods(methods::Fixtures)
        .with_limits(ServerLimits {
            task_after: task_tools::TASK_AFTER,
            ..ServerLimits::default()
        });
    let changed = server.clone();
    let mut changes = tools::subscribe();
    tokio::spawn(async move {
        while changes.changed().await.is_some() {
            if let Ok(tools) = served() {
                changed.replace_tools(tools);
            }
        }
    });
    let listener = TcpListener::bind(&address).await?;
    writeln!(
        io::stdout(),
        "http://{}{}",
        listener.local_addr()?,
        HttpOptions::PATH
    )?;
    let shutdown = CancellationToken::new();
    let signal = shutdown.clone();
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        signal.cancel();
    });
    server
        .serve_http(listener, &HttpOptions::new(), shutdown)
        .await?;
    Ok(())
}

/// Registers a tool of the suite.
fn register(
    name: &str,
    parameters: serde_json::Value,
    handler: impl Handler,
) -> Result<(), Box<dyn Error>> {
    let tool = Tool::new(name, "A fixture of the conformance suite.", parameters)?;
    tools::register(tool.with_effects(Effects::Pure), handler)?;
    Ok(())
}

/// Returns the client of a call.
fn peer(cx: &ToolContext) -> Result<std::sync::Arc<Peer>, ToolError> {
    cx.service()
        .ok_or_else(|| ToolError::execution_failed("the call has no MCP client"))
}

fn fail(error: PeerError) -> ToolError {
    ToolError::execution_failed(error.to_string())
}
