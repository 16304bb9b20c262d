//! The requests of clients.

use std::sync::atomic::Ordering;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};

use crate::server::handler::Handler;
use crate::server::peer::LogLevel;

impl Handler {
    fn info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging()
            .enable_tasks()
            .build();
        if let Some(methods) = &self.options.methods {
            let others = serde_json::from_value(Value::Object(methods.capabilities()));
            let others: ServerCapabilities = others.unwrap_or_default();
            capabilities.prompts = others.prompts;
            capabilities.resources = others.resources;
            capabilities.completions = others.completions;
        }
        capabilities.tools.get_or_insert_default().list_changed = Some(true);
        let identity = Implementation::new(&self.options.name, &self.options.version);
        ServerConfig::new(capabilities).with_server_info(identity)
    }
}

// By hand: the macros of `rmcp` build the router of all tools anew for each call, which then took 276 times as long as a
// direct one.
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.options.info.get_or_init(|| self.info()).clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.tools.borrow().clone();
        let cursor = request
            .and_then(|request| request.cursor)
            // Some clients have an empty text for the first page.
            .filter(|cursor| !cursor.is_empty());
        let size = self.options.limits.page_size.max(1);
        let Some(page) = tools.definitions.page(cursor.as_deref(), size) else {
            let message = "the cursor is none of this server; list the tools from the start";
            return Err(ErrorData::invalid_params(message, None));
        };
        let mut result = ListToolsResult::with_all_items(page.tools);
        result.next_cursor = page.next;
        Ok(result)
    }

    /// Returns the name and the schema, because `rmcp` reads no more of it, for each call.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools = self.shared.tools.borrow();
        let tool = tools.definition(name)?;
        Some(Tool::new_with_raw(
            tool.name.clone(),
            None,
            tool.input_schema.clone(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // `rmcp` moves the future of a request several times, so it is small.
        Box::pin(self.call(request, None, &context)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.unread(request, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(
            self.calls.tasks.find(&request.task_id)?.snapshot(),
        ))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.calls.tasks.find(&request.task_id)?;
        task.answer(request.input_responses);
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.calls.tasks.find(&request.task_id)?.cancel();
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.plain_method("completion/complete", request, &context)
            .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.plain_method("prompts/list", request.unwrap_or_default(), &context)
            .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let answer = self
            .method::<GetPromptResult>("prompts/get", request, &context)
            .await?;
        Ok(answer.map_or_else(Into::into, Into::into))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.plain_method("resources/list", request.unwrap_or_default(), &context)
            .await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let request = request.unwrap_or_default();
        self.plain_method("resources/templates/list", request, &context)
            .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let answer = self
            .method::<ReadResourceResult>("resources/read", request, &context)
            .await?;
        Ok(answer.map_or_else(Into::into, Into::into))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.plain_method::<Map<String, Value>>("resources/subscribe", request, &context)
            .await
            .map(drop)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.plain_method::<Map<String, Value>>("resources/unsubscribe", request, &context)
            .await
            .map(drop)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_level
            .store(LogLevel::from_rmcp(request.level) as u8, Ordering::Relaxed);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // `rmcp` takes out the kinds that the capabilities do not have.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut tools = self.shared.tools.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = tools.changed() => if changed.is_err() { return Ok(()) },
            }
            if context.accepted().tools_list_changed == Some(true)
                && context.sink().notify_tool_list_changed().await.is_err()
            {
                return Ok(());
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut tools = self.shared.tools.subscribe();
        let ended = self.ended.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = ended.cancelled() => return,
                    changed = tools.changed() => if changed.is_err() { return },
                }
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }
}
