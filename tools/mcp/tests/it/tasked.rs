//! A real MCP server in this process whose calls become tasks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    self, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, GetTaskParams, GetTaskResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{Host, Services, Tasks, ToolContext};
use tools_mcp::client::Import;

use crate::scripted::{cx, tool};

/// A hostile answer to a request for the state of a task.
type State = dyn Fn(&str) -> Result<Value, ErrorData> + Send + Sync;

/// A server each call of whose tool becomes a task.
#[derive(Clone)]
pub(crate) struct Tasked {
    pub(crate) manager: TaskManager,
    pub(crate) options: TaskOptions,
    pub(crate) tool: model::Tool,
    work: Arc<dyn Fn(TaskContext) -> TaskFuture + Send + Sync>,
    /// The id of hostile tasks.
    pub(crate) id: Option<String>,
    pub(crate) state: Option<Arc<State>>,
    pub(crate) polls: Arc<AtomicUsize>,
    pub(crate) cancelled: watch::Sender<usize>,
    pub(crate) is_gone: Arc<AtomicBool>,
    pub(crate) kill: Arc<Mutex<Vec<tokio::task::AbortHandle>>>,
}

impl Tasked {
    pub(crate) fn new<F, Fut>(work: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
    {
        Self {
            manager: TaskManager::new(),
            options: TaskOptions::new(),
            tool: tool("t"),
            work: Arc::new(move |context| Box::pin(work(context))),
            id: None,
            state: None,
            polls: Arc::default(),
            cancelled: watch::Sender::new(0),
            is_gone: Arc::default(),
            kill: Arc::default(),
        }
    }

    /// Work that ends when the sender says so, or when it is cancelled.
    pub(crate) fn until_told(result: CallToolResult) -> (Self, watch::Sender<bool>) {
        let (end, told) = watch::channel(false);
        let work = move |context: TaskContext| {
            let (mut told, result) = (told.clone(), result.clone());
            async move {
                tokio::select! {
                    _ = told.wait_for(|told| *told) => Ok(result),
                    () = context.cancelled() => Err(TaskExit::Cancelled),
                }
            }
        };
        (Self::new(work), end)
    }

    /// A server with this answer to each request for a state.
    pub(crate) fn hostile(
        state: impl Fn(&str) -> Result<Value, ErrorData> + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Some(Arc::new(state)),
            ..Self::new(|_| std::future::pending())
        }
    }

    pub(crate) fn import(&self, name: &str) -> Import {
        let server = self.clone();
        let open = move || {
            let server = server.clone();
            async move {
                if server.is_gone.load(Ordering::SeqCst) {
                    return Err(std::io::Error::other("it is gone"));
                }
                let (ours, theirs) = tokio::io::duplex(64 * 1024);
                let kill = server.kill.clone();
                let running = tokio::spawn(async move {
                    if let Ok(running) = server.serve(theirs).await {
                        let _ = running.waiting().await;
                    }
                });
                kill.lock().unwrap().push(running.abort_handle());
                Ok(tokio::io::split(ours))
            }
        };
        Import::from_streams(name.parse().unwrap(), open)
    }

    pub(crate) async fn cancelled(&self, count: usize) {
        self.cancelled
            .subscribe()
            .wait_for(|seen| *seen >= count)
            .await
            .unwrap();
    }
}

impl ServerHandler for Tasked {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tasks()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        assert!(context.client_capabilities().unwrap().supports_tasks());
        let mut task = self
            .manager
            .spawn(self.options.clone(), |context| (self.work)(context));
        task.task_id = self.id.clone().unwrap_or(task.task_id);
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        match &self.state {
            Some(state) => Ok(serde_json::from_value(state(&request.task_id)?).unwrap()),
            None => Ok(GetTaskResult::new(self.manager.get_task(&request.task_id)?)),
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.state.is_some() {
            Ok(())
        } else {
            self.manager
                .update_task(&request.task_id, request.input_responses)
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.cancelled.send_modify(|count| *count += 1);
        self.manager.cancel_task(&request.task_id)
    }
}

pub(crate) fn text(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A context that keeps tasks.
pub(crate) fn keeping() -> Host {
    let mut services = Services::new();
    Tasks::offer(&mut services);
    cx().with_services(services)
}

pub(crate) fn tasks(cx: &ToolContext) -> Arc<Tasks> {
    cx.service::<Tasks>().unwrap()
}

pub(crate) fn working(id: &str, interval: u64) -> Value {
    json!({
        "taskId": id, "status": "working", "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": null, "pollIntervalMs": interval,
    })
}
