//! `tools/call`: from a request of a client through the pipeline to its answer.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequiredResult,
    LoggingMessageNotificationParam,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tools::protocol::wire::Format;
use tools::{Arguments, CancellationToken, Entry, Json, ToolContext, ToolError, ToolErrorKind};

use super::approval::PeerApprover;
use super::generation::Generation;
use super::handler::Handler;
use super::log_level::LogLevel;
use super::peer::{Ask, Message, Peer, PeerError};
use super::progress::{PeerProgress, ProgressLine};
use super::question::PeerPerson;
use super::request_kind::server_request;
use super::result::call_tool_result;
use super::running::{AskedOf, Outcome, Running, Step};
use super::served::ServedTools;
use super::CallRequest;

impl Handler {
    /// Runs a call, or goes on with the call that the request resumes.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let arguments: Json = Value::Object(arguments.unwrap_or_default()).into();
        let asked = AskedOf { name: name.into_owned(), params: arguments };
        let answers = input_responses.unwrap_or_default();
        let running = match request_state {
            Some(state) => {
                let Some(mut running) = self.shared.suspended.resume(&state, &asked).await else {
                    let message = "the request state is unknown, used, expired or of another request; make the call anew";
                    return Err(ErrorData::invalid_params(message, None));
                };
                running.answer(answers);
                running
            }
            None => {
                let tools = self.shared.tools.borrow().clone();
                let entry = match tools.find(&asked.name) {
                    Ok(entry) => entry,
                    Err(error) => return refused(&asked.name, &error),
                };
                let capabilities = context.client_capabilities().unwrap_or_default();
                let peer = Peer::new(capabilities, answers);
                let Ok(permit) = self.options.calls.clone().try_acquire_owned() else {
                    let error = ToolError::new(entry.name().as_str(), ToolErrorKind::Overloaded { retry_after: None });
                    return Ok(call_tool_result(&entry, ToolContext::new().error_result(Some(&entry), &error)).into());
                };
                let (cx, token) = self.context(&entry, &peer.0, context);
                let work = Box::pin(execute(tools, entry, cx, asked.params.clone()));
                Running::new(asked, peer, token, Some(permit), work)
            }
        };
        self.drive(running, context).await
    }

    /// Returns the context of a call, and the token that cancels it.
    fn context(
        &self,
        entry: &Entry,
        peer: &Peer,
        context: &RequestContext<RoleServer>,
    ) -> (ToolContext, CancellationToken) {
        let id = context.id.to_string();
        let cx = (self.shared.context)(&CallRequest { tool: entry.name(), id: &id });
        let token = cx.cancellation().child_token();
        let mut cx = cx.with_cancellation(token.clone()).with_wire(Format::Mcp).with_service(peer.clone());
        if context.meta.get_progress_token().is_some() {
            cx = cx.with_progress(PeerProgress::new(peer.clone()));
        }
        if peer.supports("elicitation/create") {
            cx = cx.with_person(Arc::new(PeerPerson::new(peer.clone())));
            if cx.approver().is_none() {
                cx = cx.with_approver(Arc::new(PeerApprover::new(peer.clone())));
            }
        }
        (cx, token)
    }

    /// Runs a call until it ends or requires input, and passes its messages to the client. A cancelled request cancels the call.
    async fn drive(
        &self,
        mut running: Running,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let generation = Generation::of(context);
        let mut messages = Messages { handler: self, context, generation, progress: ProgressLine::default() };
        let mut asked = FuturesUnordered::new();
        let mut is_cancelled = false;
        loop {
            let step = tokio::select! {
                step = running.next() => step,
                Some(()) = asked.next() => continue,
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    running.cancel();
                    continue;
                }
            };
            match step {
                Step::Ended(outcome) => return end(outcome, &running.peer, generation),
                Step::Message(Message::Ask(ask)) if generation == Generation::Legacy => asked.push(send(ask, context)),
                Step::Message(Message::Ask(ask)) => {
                    running.wait_for(ask);
                    // Requests that are made at the same time go to the client together.
                    while let Some(step) = running.next().now_or_never() {
                        match step {
                            Step::Message(Message::Ask(ask)) => running.wait_for(ask),
                            Step::Message(message) => messages.send(message).await,
                            Step::Ended(outcome) => return end(outcome, &running.peer, generation),
                        }
                    }
                    return self.suspend(running);
                }
                Step::Message(message) => messages.send(message).await,
            }
        }
    }

    fn suspend(&self, mut running: Running) -> Result<CallToolResponse, ErrorData> {
        let requests = running.input_requests();
        let Some(state) = self.shared.suspended.suspend(running) else {
            return Err(ErrorData::internal_error("too many calls wait for input; answer them first", None));
        };
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }
}

/// Passes the messages of a call to its client.
struct Messages<'a> {
    handler: &'a Handler,
    context: &'a RequestContext<RoleServer>,
    generation: Generation,
    progress: ProgressLine,
}

impl Messages<'_> {
    /// Sends progress or a log message, if the client wants it. A client that is gone loses it.
    async fn send(&mut self, message: Message) {
        let peer = &self.context.peer;
        match message {
            Message::Progress(progress) => {
                let Some(token) = self.context.meta.get_progress_token() else { return };
                if let Some(notification) = self.progress.next(&token, progress) {
                    let _ = peer.notify_progress(notification).await;
                }
            }
            Message::Log { level, logger, data } => {
                let is_wanted = match (self.generation, self.context.meta.log_level()) {
                    (_, Some(lowest)) => level >= LogLevel::from_rmcp(lowest),
                    (Generation::Legacy, None) => self.handler.logs(level),
                    (Generation::Modern, None) => false,
                };
                if is_wanted {
                    let mut notification = LoggingMessageNotificationParam::new(level.to_rmcp(), data);
                    notification.logger = logger;
                    let _ = peer.notify_logging_message(notification).await;
                }
            }
            Message::Ask(_) => {}
        }
    }
}

/// Runs the pipeline.
async fn execute(tools: Arc<ServedTools>, entry: Arc<Entry>, cx: ToolContext, arguments: Json) -> Outcome {
    let outcome = tools::call::execute(tools, &cx, entry.name().as_str(), Arguments::Json(arguments)).await;
    match outcome {
        Ok(result) => Ok(call_tool_result(&entry, result)),
        Err(error) if error.is_recoverable() => Ok(call_tool_result(&entry, cx.error_result(Some(&entry), &error))),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// Returns the answer to a call of a tool that is not there: an error of the protocol if the name is unknown.
fn refused(name: &str, error: &ToolError) -> Result<CallToolResponse, ErrorData> {
    match error.kind() {
        ToolErrorKind::NotFound { near } => {
            let name = tools::visible_line(name, 200);
            let hint = match near.is_empty() {
                true => "list the tools".to_owned(),
                false => format!("did you mean {}?", near.join(", ")),
            };
            Err(ErrorData::invalid_params(format!("unknown tool: {name}; {hint}"), None))
        }
        _ => {
            let result = ToolContext::new().with_wire(Format::Mcp).error_result(None, error);
            Ok(CallToolResult::error(vec![ContentBlock::text(result.to_text())]).into())
        }
    }
}

/// Returns the answer at the end of a call. From 2026-07-28 on, a call that failed for want of a capability names the capability.
fn end(outcome: Outcome, peer: &Peer, generation: Generation) -> Result<CallToolResponse, ErrorData> {
    let has_failed = outcome.as_ref().map_or(true, |result| result.is_error == Some(true));
    match peer.refused().filter(|_| has_failed && generation == Generation::Modern) {
        Some(kind) => Err(ErrorData::missing_required_client_capability(kind.required())),
        None => outcome.map(Into::into),
    }
}

/// Sends a request as a message of its own and passes the answer on.
fn send(ask: Ask, context: &RequestContext<RoleServer>) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        let Ask { request, mut answer, kind, .. } = ask;
        let answered = async {
            let request = server_request(request).ok_or(PeerError::Gone)?;
            let result = context.peer.send_request(request).await.map_err(|error| match error {
                rmcp::ServiceError::McpError(error) => PeerError::Refused { reason: error.message.into_owned() },
                _ => PeerError::Gone,
            })?;
            let result = serde_json::to_value(result).unwrap_or_default();
            let refused = || PeerError::Refused { reason: "its answer is of another kind".to_owned() };
            if kind.accepts(&result) { Ok(result) } else { Err(refused()) }
        };
        let answered = tokio::select! {
            answered = answered => answered,
            // The call no longer waits.
            () = answer.closed() => return,
        };
        let _ = answer.send(answered);
    })
}
