//! Runs work for a client: passes its messages on, and suspends it while it waits for the client.

use std::collections::BTreeMap;
use std::pin::pin;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, InputRequests, InputRequiredResult, LoggingLevel, LoggingMessageNotificationParam,
    Task,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::same_json::same_json;
use crate::server::handler::{Generation, Handler};
use crate::server::peer::{Ask, LogLevel, Message, PeerError, server_request};
use crate::server::progress::ProgressLine;
use crate::server::running::{AskedOf, Finished, Running, Step, name_lacking};

/// The answer to a request of a client.
pub(super) enum Driven {
    Ended(Finished),
    InputRequired(InputRequiredResult),
    Task(Task),
}

impl Handler {
    /// Takes the work of a request state and passes it the answers of the client.
    ///
    /// # Errors
    /// Returns an error of the protocol if the state is not that of work for the same request.
    pub(super) async fn resume(
        &self,
        state: &str,
        asked: &AskedOf,
        answers: BTreeMap<String, Value>,
    ) -> Result<Running, ErrorData> {
        let Some(mut running) = self.calls.suspended.resume(state, asked).await else {
            let message = "the request state is unknown, used, expired or of another request; make the request anew";
            return Err(ErrorData::invalid_params(message, None));
        };
        running.waiting.answer(answers);
        Ok(running)
    }

    /// Runs a call until it ends, requires input or becomes a task, and passes its messages to the client. A cancelled request cancels
    /// the call.
    pub(super) async fn drive(
        &self,
        mut running: Running,
        mut takes_tasks: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<Driven, ErrorData> {
        let generation = Generation::of(context);
        let mut messages = Messages {
            handler: self,
            context,
            generation,
            progress: ProgressLine::default(),
        };
        let mut asked = FuturesUnordered::new();
        let mut task_after = pin!(tokio::time::sleep(self.options.limits.task_after));
        let mut status = None;
        let mut is_cancelled = false;
        loop {
            let step = if !running.waiting.0.is_empty() {
                // Requests that are made at the same time go to the client together.
                let Some(step) = running.next().now_or_never() else {
                    let requests = running.waiting.requests();
                    if requests.is_empty() {
                        continue;
                    }
                    return self.suspend(running, requests);
                };
                step
            } else {
                tokio::select! {
                    step = running.next() => step,
                    Some(()) = asked.next() => continue,
                    () = &mut task_after, if takes_tasks => Step::Message(Message::ContinueAsTask),
                    () = context.ct.cancelled(), if !is_cancelled => {
                        // A call that its client has cancelled must not go on as a task.
                        (is_cancelled, takes_tasks) = (true, false);
                        running.token.cancel();
                        continue;
                    }
                }
            };
            match step {
                Step::Ended(outcome) => {
                    let outcome = match generation {
                        Generation::Legacy => outcome,
                        Generation::Modern => name_lacking(outcome, &running.peer),
                    };
                    return outcome.map(Driven::Ended);
                }
                Step::Message(Message::Ask(ask)) if generation == Generation::Legacy => {
                    asked.push(send(*ask, context))
                }
                Step::Message(Message::Ask(ask)) => running.waiting.add(*ask),
                Step::Message(Message::ContinueAsTask) if takes_tasks => {
                    match self.calls.tasks.start(running, status.take()) {
                        Ok(task) => return Ok(Driven::Task(task)),
                        Err(call) => (running, takes_tasks) = (*call, false),
                    }
                }
                Step::Message(message) => {
                    if let Message::Progress(progress) = &message
                        && takes_tasks
                    {
                        status = Some(progress.clone());
                    }
                    messages.send(message).await;
                }
            }
        }
    }

    fn suspend(&self, running: Running, requests: InputRequests) -> Result<Driven, ErrorData> {
        let Some(state) = self.calls.suspended.suspend(running) else {
            let message = "the system has no random numbers for the request state";
            return Err(ErrorData::internal_error(message, None));
        };
        let required = InputRequiredResult::new(Some(requests), Some(state));
        Ok(Driven::InputRequired(required))
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
                let Some(token) = self.context.meta.get_progress_token() else {
                    return;
                };
                if let Some(notification) = self.progress.next(&token, progress) {
                    let _ = peer.notify_progress(notification).await;
                }
            }
            Message::Log {
                level,
                logger,
                data,
            } => {
                let is_wanted = match (self.generation, self.context.meta.log_level()) {
                    (_, Some(lowest)) => level >= LogLevel::from_rmcp(lowest),
                    (Generation::Legacy, None) => self.handler.logs(level),
                    (Generation::Modern, None) => false,
                };
                if is_wanted {
                    let level = same_json(&level).unwrap_or(LoggingLevel::Emergency);
                    let mut notification = LoggingMessageNotificationParam::new(level, data);
                    notification.logger = logger;
                    let _ = peer.notify_logging_message(notification).await;
                }
            }
            Message::Ask(_) | Message::ContinueAsTask => {}
        }
    }
}

/// Sends a request as a message of its own and passes the answer on.
fn send(ask: Ask, context: &RequestContext<RoleServer>) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        let mut answer = ask.answer;
        let answered = async {
            let request = server_request(ask.request).ok_or(PeerError::Gone)?;
            let result = context
                .peer
                .send_request(request)
                .await
                .map_err(|error| match error {
                    rmcp::ServiceError::McpError(error) => PeerError::Refused {
                        reason: error.message.into_owned(),
                    },
                    _ => PeerError::Gone,
                })?;
            let result = serde_json::to_value(result).unwrap_or_default();
            if ask.kind.accepts(&result) {
                Ok(result)
            } else {
                let reason = "its answer is of another kind".to_owned();
                Err(PeerError::Refused { reason })
            }
        };
        let answered = tokio::select! {
            answered = answered => answered,
            // The call no longer waits.
            () = answer.closed() => return,
        };
        let _ = answer.send(answered);
    })
}
