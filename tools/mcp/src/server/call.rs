//! `tools/call`: from a request of a client through the pipeline to its answer.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult,
    ErrorData,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tools::protocol::wire::Format;
use tools::{Arguments, CancellationToken, Content, Entry, Host, Json, ToolError, ToolErrorKind};

use crate::server::drive::Driven;
use crate::server::handler::{Generation, Handler};
use crate::server::options::{CallRequest, Options};
use crate::server::peer::Peer;
use crate::server::person::PeerPerson;
use crate::server::progress::PeerProgress;
use crate::server::result::call_tool_result;
use crate::server::running::{AskedOf, Finished, Outcome, Running};
use crate::server::served::ServedTools;

impl Handler {
    /// Runs a call, or goes on with the call that the request resumes. `unread` are its arguments if they are no object.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        unread: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments: Json = unread
            .unwrap_or_else(|| Value::Object(request.arguments.unwrap_or_default()))
            .into();
        let asked = AskedOf {
            method: "tools/call",
            name: request.name.into_owned(),
            params: arguments,
        };
        let answers = request.input_responses.unwrap_or_default();
        let capabilities = context.client_capabilities().unwrap_or_default();
        let takes_tasks =
            capabilities.supports_tasks() && Generation::of(context) == Generation::Modern;
        let running = match request.request_state {
            Some(state) => self.resume(&state, &asked, answers).await?,
            None => {
                let tools = self.shared.tools.borrow().clone();
                let entry = match tools.find(&asked.name) {
                    Ok(entry) => entry,
                    Err(error) => return refuse(&asked.name, &error),
                };
                let Some(permit) = self.options.calls.begin() else {
                    let kind = ToolErrorKind::Overloaded { retry_after: None };
                    let error = ToolError::new(entry.name().as_str(), kind);
                    let result = Host::new().error_result(Some(&entry), &error);
                    return Ok(call_tool_result(&entry, result).into());
                };
                let peer = Peer::new(capabilities, takes_tasks, answers, permit.clone());
                let (cx, token) = self.context(&entry, &peer.0, context);
                let arguments = asked.params.clone();
                let work = Box::pin(execute(tools, entry, cx, arguments, self.options.clone()));
                let tracked = self.calls.running.token();
                Running::new(asked, peer, token, (permit, tracked), work)
            }
        };
        match self.drive(running, takes_tasks, context).await? {
            Driven::Ended(Finished::Call(result)) => Ok(result.into()),
            Driven::InputRequired(required) => Ok(required.into()),
            Driven::Task(task) => Ok(CallToolResponse::Task(CreateTaskResult::new(task))),
            Driven::Ended(Finished::Method(_)) => {
                Err(ErrorData::internal_error("the call has no result", None))
            }
        }
    }

    /// Returns the context of a call, and the token that cancels it.
    fn context(
        &self,
        entry: &Entry,
        peer: &Peer,
        context: &RequestContext<RoleServer>,
    ) -> (Host, CancellationToken) {
        let id = context.id.to_string();
        let cx = (self.shared.context)(&CallRequest {
            tool: entry.name(),
            id: &id,
            peer,
            connection: self.connection(context),
        });
        let token = cx.cancellation().child_token();
        let mut cx = cx
            .with_cancellation(token.clone())
            .with_wire(Format::Mcp)
            .with_service(peer.clone());
        if context.meta.get_progress_token().is_some() || peer.takes_tasks() {
            cx = cx.with_progress(Arc::new(PeerProgress(peer.clone())));
        }
        if peer.supports("elicitation/create") {
            let person = Arc::new(PeerPerson(peer.clone()));
            cx = cx.with_person(person.clone());
            if cx.approver().is_none() {
                cx = cx.with_approver(person);
            }
        }
        (cx, token)
    }
}

/// Runs the pipeline.
async fn execute(
    tools: Arc<ServedTools>,
    entry: Arc<Entry>,
    cx: Host,
    arguments: Json,
    options: Arc<Options>,
) -> Outcome {
    let given = Arguments::Json(arguments.clone());
    let outcome = tools::call::execute(tools, &cx, entry.name().as_str(), given).await;
    match outcome {
        Ok(result) => Ok(Finished::Call(call_tool_result(&entry, result))),
        Err(error) if error.is_recoverable() => {
            let mut result = cx.error_result(Some(&entry), &error);
            let advice = options.advice.as_ref();
            let advice = advice.and_then(|advice| advice(&entry, &arguments, &error));
            result.content.extend(advice.map(Content::text));
            Ok(Finished::Call(call_tool_result(&entry, result)))
        }
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// Returns the answer to a call of a tool that is not there: an error of the protocol if the name is unknown.
fn refuse(name: &str, error: &ToolError) -> Result<CallToolResponse, ErrorData> {
    match error.kind() {
        ToolErrorKind::NotFound { near } => {
            let name = tools::visible_line(name, 200);
            let hint = ToolError::did_you_mean(near);
            let hint = hint.as_deref().unwrap_or("list the tools");
            let message = format!("unknown tool: {name}; {hint}");
            Err(ErrorData::invalid_params(message, None))
        }
        _ => {
            let result = Host::new().with_wire(Format::Mcp).error_result(None, error);
            Ok(CallToolResult::error(vec![ContentBlock::text(result.to_text())]).into())
        }
    }
}
