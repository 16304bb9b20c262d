//! A real MCP server in this process, with tools and answers of a test's choice.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{Grant, Host, SharedCatalog};
use tools_mcp::client::{Import, Imported, Servers};

pub(crate) const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
pub(crate) const LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;
pub(crate) const BOTH: [ProtocolVersion; 2] = [MODERN, LEGACY];

pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<CallToolResponse, ErrorData>> + Send>>;
pub(crate) type Call =
    dyn Fn(CallToolRequestParams, RequestContext<RoleServer>) -> Answer + Send + Sync;

/// A server of one revision.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) revision: ProtocolVersion,
    pub(crate) tools: watch::Sender<Vec<model::Tool>>,
    pub(crate) page: usize,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) lists: Arc<AtomicUsize>,
    /// Lists wait while a test holds this.
    pub(crate) hold: Arc<tokio::sync::Mutex<()>>,
    /// Cuts the present connection.
    pub(crate) kill: Arc<Mutex<Option<tokio::task::AbortHandle>>>,
    pub(crate) call: Arc<Call>,
}

impl Scripted {
    pub(crate) fn new(revision: ProtocolVersion, tools: Vec<model::Tool>) -> Self {
        Self {
            revision,
            tools: watch::Sender::new(tools),
            page: usize::MAX,
            ttl_ms: None,
            lists: Arc::default(),
            hold: Arc::default(),
            kill: Arc::default(),
            call: Arc::new(|params, _| {
                let text = json!({"arguments": params.arguments, "tool": params.name}).to_string();
                Box::pin(async {
                    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
                })
            }),
        }
    }

    pub(crate) fn with_call<F, Fut>(mut self, call: F) -> Self
    where
        F: Fn(CallToolRequestParams, RequestContext<RoleServer>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CallToolResponse, ErrorData>> + Send + 'static,
    {
        self.call = Arc::new(move |params, context| Box::pin(call(params, context)));
        self
    }

    pub(crate) fn import(&self, name: &str) -> Import {
        let scripted = self.clone();
        let open = move || {
            let scripted = scripted.clone();
            async move {
                let (ours, mut near) = tokio::io::duplex(64 * 1024);
                let (mut far, theirs) = tokio::io::duplex(64 * 1024);
                let kill = scripted.kill.clone();
                tokio::spawn(async move {
                    if let Ok(running) = scripted.serve(theirs).await {
                        let _ = running.waiting().await;
                    }
                });
                let wire = tokio::spawn(async move {
                    tokio::io::copy_bidirectional(&mut near, &mut far).await
                });
                *kill.lock().unwrap() = Some(wire.abort_handle());
                Ok(tokio::io::split(ours))
            }
        };
        Import::from_streams(name.parse().unwrap(), open)
    }

    pub(crate) fn kill(&self) {
        self.kill.lock().unwrap().take().unwrap().abort();
    }
}

/// Returns a tool of a server, with any arguments.
pub(crate) fn tool(name: &str) -> model::Tool {
    defined(
        json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}}),
    )
}

pub(crate) fn defined(definition: Value) -> model::Tool {
    serde_json::from_value(definition).unwrap()
}

impl ServerHandler for Scripted {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .build(),
        )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        vec![self.revision.clone()].into()
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut tools = self.tools.subscribe();
        tokio::spawn(async move {
            while tools.changed().await.is_ok()
                && context.peer.notify_tool_list_changed().await.is_ok()
            {}
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut tools = self.tools.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = tools.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        drop(self.hold.lock().await);
        let start: usize = request
            .and_then(|request| request.cursor)
            .map_or(0, |cursor| cursor.parse().unwrap());
        let tools = self.tools.borrow();
        let end = start.saturating_add(self.page).min(tools.len());
        let mut result = ListToolsResult::with_all_items(tools[start..end].to_vec());
        result.next_cursor = (end < tools.len()).then(|| end.to_string());
        result.ttl_ms = self.ttl_ms;
        Ok(result)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        (self.call)(params, context).await
    }
}

/// Imports a server alone.
pub(crate) async fn imported(import: Import) -> (SharedCatalog, Servers, Arc<Imported>) {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let imported = servers.import(import).unwrap();
    imported.ready().await.unwrap();
    (catalog, servers, imported)
}

/// Returns a context that may call every imported tool.
pub(crate) fn cx() -> Host {
    Host::new().with_grant(Grant::parse(["world:write:**"]).unwrap())
}
