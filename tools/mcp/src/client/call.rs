//! [`RemoteTool`]: runs a tool of a server.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::Value;
use tools::handler::ConnectFuture;
use tools::{
    Digest, Handler, HandlerFuture, Input, ToolContext, ToolError, ToolErrorKind, ToolName,
    ToolResult, Violation,
};

use crate::client::defaults::fill;
use crate::client::failure::failure;
use crate::client::imported::Imported;
use crate::client::result::{readable_result, tool_result};
use crate::client::rounds;
use crate::client::tasks;

/// Runs a tool of a server.
pub(super) struct RemoteTool {
    pub(super) imported: Arc<Imported>,
    /// The name that the server knows.
    pub(super) name: Arc<str>,
    pub(super) tool: ToolName,
    /// The digest of the definition that the tool was registered with.
    pub(super) digest: Digest,
    /// The schema of the arguments at the server.
    pub(super) schema: Arc<JsonObject>,
}

impl RemoteTool {
    async fn run(&self, cx: ToolContext, arguments: Input) -> Result<ToolResult, ToolErrorKind> {
        if arguments.json().extent().has_big_integer {
            // The protocol library would round it.
            let violations = vec![Violation {
                pointer: String::new(),
                expected: "integers of at most 64 bits, because this tool supports no larger ones"
                    .to_owned(),
                found: "a larger one".to_owned(),
                near: Vec::new(),
            }];
            return Err(ToolErrorKind::InvalidArguments { violations });
        }
        // Whatever effects the user has declared: the texts are a stranger's.
        cx.record_exposure();
        let peer = self.imported.listed_peer().await?;
        self.imported.check(&self.tool, &self.digest)?;
        let answered = rounds::request(&self.imported, &peer, &cx, |answers| {
            let mut params = CallToolRequestParams::new(self.name.to_string());
            // The pipeline shares the arguments, so this is their one copy.
            let mut arguments = arguments.value().clone();
            fill(&self.schema, &mut arguments);
            params.arguments = match arguments {
                Value::Object(arguments) => Some(arguments),
                _ => None,
            };
            (params.input_responses, params.request_state) = (answers.responses, answers.state);
            ClientRequest::from(CallToolRequest::new(params))
        });
        match answered.await? {
            ServerResult::CallToolResult(result) => Ok(tool_result(result)),
            ServerResult::CreateTaskResult(created) => {
                tasks::follow(&self.imported, &cx, created.task).await
            }
            // A result without content is none of a call's for rmcp.
            ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
                Ok(tool_result(CallToolResult::default()))
            }
            // A result with a defective block is none for rmcp either.
            other => match serde_json::to_value(other) {
                Ok(value) => Ok(readable_result(value)),
                Err(_) => Err(failure(
                    self.imported.name(),
                    ServiceError::UnexpectedResponse,
                )),
            },
        }
    }
}

impl Handler for RemoteTool {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async { self.run(cx, arguments).await.map_err(Into::into) })
    }

    fn connect<'a>(&'a self, cx: &'a ToolContext) -> Option<ConnectFuture<'a>> {
        Some(Box::pin(async {
            cx.record_exposure();
            self.imported.listed_peer().await?;
            self.imported
                .check(&self.tool, &self.digest)
                .map_err(Into::into)
        }))
    }

    fn is_remote(&self) -> bool {
        true
    }

    /// Checks that the definition is approved before a person is asked about the call.
    fn check(&self, _cx: &ToolContext, _arguments: &Input) -> Result<(), ToolError> {
        self.imported
            .check_permitted(&self.tool, &self.digest)
            .map_err(Into::into)
    }
}
