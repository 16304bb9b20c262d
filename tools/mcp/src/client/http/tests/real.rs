//! A real server in both generations of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;

use super::super::HttpServer;

#[derive(Clone)]
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

/// Serves on loopback until the test ends.
async fn serve(json_response: bool) -> String {
    let config = StreamableHttpServerConfig::default().with_json_response(json_response);
    let service: StreamableHttpService<Echo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Echo), Default::default(), config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
    });
    url
}

#[tokio::test]
async fn a_real_server_is_listed_and_called_in_both_generations() {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    for json_response in [false, true] {
        let server = HttpServer::new(&serve(json_response).await).unwrap();
        for (mode, version) in [
            (ClientLifecycleMode::Initialize, "2025-11-25"),
            (
                ClientLifecycleMode::Discover {
                    preferred_versions: modern.clone(),
                },
                "2026-07-28",
            ),
            (
                ClientLifecycleMode::Auto {
                    preferred_versions: modern.clone(),
                    legacy_version: None,
                },
                "2026-07-28",
            ),
        ] {
            let client = ClientConfig::default()
                .serve_with_lifecycle(server.transport().await.unwrap(), mode)
                .await
                .unwrap();
            let spoken = client.peer_info().map(|info| info.protocol_version.clone());
            assert!(
                spoken.is_none_or(|spoken| spoken.as_str() == version),
                "{version}"
            );
            let tools = client.list_all_tools().await.unwrap();
            assert_eq!(
                tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
                ["echo"]
            );
            let calls = (0..20).map(|number| {
                let arguments = json!({"n": number}).as_object().unwrap().clone();
                client.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments))
            });
            for (number, result) in futures_util::future::join_all(calls)
                .await
                .into_iter()
                .enumerate()
            {
                let content = serde_json::to_value(&result.unwrap().content).unwrap();
                assert_eq!(content[0]["text"], json!({"n": number}).to_string());
            }
            client.cancel().await.unwrap();
        }
    }
}
