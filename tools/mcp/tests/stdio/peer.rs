//! A real server as a child process, in both generations of the protocol.

use std::sync::Arc;

use libtest_mimic::Trial;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::json;
use tools_mcp::client::{StdioServer, server_command};

use crate::setup::{run, trial};

pub(crate) const SERVER: &str = "server";

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().unwrap().clone();
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "echo",
            "Echoes.",
            Arc::new(schema),
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(
            json!(request.arguments).to_string(),
        )])
        .into())
    }
}

pub(crate) fn serve() {
    run(async {
        let served = Echo
            .serve((tokio::io::stdin(), tokio::io::stdout()))
            .await
            .unwrap();
        served.waiting().await.unwrap();
    });
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial(
        "a_real_server_is_listed_and_called_in_both_generations",
        async || {
            let program = std::env::current_exe().unwrap();
            let modern = vec![ProtocolVersion::V_2026_07_28];
            for mode in [
                ClientLifecycleMode::Initialize,
                ClientLifecycleMode::Discover {
                    preferred_versions: modern.clone(),
                },
                ClientLifecycleMode::Auto {
                    preferred_versions: modern.clone(),
                    legacy_version: None,
                },
            ] {
                let server = StdioServer::new("echo", server_command(&program).with_args([SERVER]));
                let (read, write, process) = server.connect().await.unwrap();
                let client = ClientConfig::default()
                    .serve_with_lifecycle((read, write), mode)
                    .await
                    .unwrap();
                let tools = client.list_all_tools().await.unwrap();
                assert_eq!(
                    tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
                    ["echo"]
                );
                let text = "x".repeat(300_000);
                for number in 0..3 {
                    let arguments = json!({"n": number, "text": text})
                        .as_object()
                        .unwrap()
                        .clone();
                    let call = CallToolRequestParams::new("echo").with_arguments(arguments.clone());
                    let content =
                        serde_json::to_value(&client.call_tool(call).await.unwrap().content)
                            .unwrap();
                    assert_eq!(content[0]["text"], json!(arguments).to_string());
                }
                client.cancel().await.unwrap();
                process.close().await;
            }
        },
    )]
}
