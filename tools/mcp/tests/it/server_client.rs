//! A real client of `rmcp` in either generation, and the servers that it talks to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tools::{CancellationToken, Catalog, Effects, Host, Tool};
use tools_mcp::server::{ServeError, ServedTools, ToolServer};

/// The generations of the protocol.
pub(crate) const BOTH: [ClientLifecycleMode; 2] = [legacy(), modern()];

pub(crate) const fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

pub(crate) const fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: Vec::new(),
    }
}

/// A client that answers elicitations with `answer`, if it has one, and reports what it hears.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) answer: Option<Value>,
    pub(crate) takes_tasks: bool,
    /// The time before each answer.
    pub(crate) delay: Duration,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) heard: mpsc::UnboundedSender<Value>,
}

impl Person {
    pub(crate) fn new(answer: Option<Value>) -> (Self, mpsc::UnboundedReceiver<Value>) {
        let (heard, receiver) = mpsc::unbounded_channel();
        (
            Self {
                answer,
                takes_tasks: false,
                delay: Duration::ZERO,
                asked: Arc::default(),
                heard,
            },
            receiver,
        )
    }

    pub(crate) fn silent() -> Self {
        Self::new(None).0
    }

    /// A person whose client takes tasks and elicitations.
    pub(crate) fn with_tasks() -> Self {
        Self {
            takes_tasks: true,
            ..Self::new(Some(Value::Null)).0
        }
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = match self.answer {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        if self.takes_tasks {
            capabilities.extensions = ClientCapabilities::builder()
                .enable_tasks()
                .build()
                .extensions;
        }
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(&request).unwrap();
        self.asked
            .lock()
            .unwrap()
            .push(asked["message"].as_str().unwrap().to_owned());
        tokio::time::sleep(self.delay).await;
        match &self.answer {
            Some(Value::Null) => Ok(ElicitResult::new(ElicitationAction::Decline)),
            Some(content) => {
                Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content.clone()))
            }
            None => Err(ErrorData::internal_error("not supported", None)),
        }
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self
            .heard
            .send(json!({"progress": params.progress, "message": params.message}));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.heard.send(json!({"log": params.data}));
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        let _ = self.heard.send(json!("tools changed"));
    }
}

/// A client and the server at the other end of its streams.
pub(crate) struct Connected {
    pub(crate) client: RunningService<RoleClient, Person>,
    pub(crate) serving: tokio::task::JoinHandle<Result<(), ServeError>>,
    pub(crate) shutdown: CancellationToken,
}

/// Connects a client over a pair of streams.
pub(crate) async fn connect(
    server: &ToolServer,
    mode: ClientLifecycleMode,
    person: Person,
) -> Connected {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let shutdown = CancellationToken::new();
    let (server, token) = (server.clone(), shutdown.clone());
    let serving = tokio::spawn(async move {
        let (read, write) = tokio::io::split(far);
        server.serve_streams(read, write, token).await
    });
    let client = person
        .serve_with_lifecycle(near, versions(mode))
        .await
        .unwrap();
    Connected {
        client,
        serving,
        shutdown,
    }
}

/// Names the version, which a constant cannot.
pub(crate) fn versions(mode: ClientLifecycleMode) -> ClientLifecycleMode {
    match mode {
        ClientLifecycleMode::Discover { .. } => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        mode => mode,
    }
}

/// Returns a server of the catalog whose calls have this context.
pub(crate) fn server(catalog: Catalog, cx: Host) -> ToolServer {
    ToolServer::new(
        ServedTools::new(catalog.list(), catalog).unwrap(),
        move |_| cx.clone(),
    )
}

/// Returns a definition without parameters.
pub(crate) fn tool(name: &str) -> Tool {
    Tool::new(name, "A tool of a test.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure)
}

/// Calls a tool.
pub(crate) async fn call(
    client: &RunningService<RoleClient, Person>,
    name: &str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    client
        .call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments))
        .await
}

/// Returns the text of a result, and true if it is an error.
pub(crate) fn text_of(result: &CallToolResult) -> (String, bool) {
    let text = result
        .content
        .iter()
        .filter_map(|block| Some(block.as_text()?.text.clone()))
        .collect::<Vec<_>>();
    (text.join("\n"), result.is_error == Some(true))
}
