//! Runs work for a client: passes its messages on, and suspends it while it waits for the client.

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, InputRequests, InputRequiredResult, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::generation::Generation;
use super::handler::Handler;
use super::log_level::LogLevel;
use super::peer::{Ask, Message, Peer, PeerError};
use super::progress::ProgressLine;
use super::request_kind::server_request;
use super::running::{AskedOf, Finished, Outcome, Running, Step};

/// The answer to a request of a client.
pub(super) enum Driven {
    Ended(Finished),
    InputRequired(InputRequiredResult),
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
        let Some(mut running) = self.shared.suspended.resume(state, asked).await else {
            let message = "the request state is unknown, used, expired or of another request; make the request anew";
            return Err(ErrorData::invalid_params(message, None));
        };
        running.answer(answers);
        Ok(running)
    }

    /// Runs a call until it ends or requires input, and passes its messages to the client. A cancelled request cancels the call.
    pub(super) async fn drive(
        &self,
        mut running: Running,
        context: &RequestContext<RoleServer>,
    ) -> Result<Driven, ErrorData> {
        let generation = Generation::of(context);
        let mut messages = Messages { handler: self, context, generation, progress: ProgressLine::default() };
        let mut asked = None;
        let mut is_cancelled = false;
        loop {
            if running.is_waiting() {
                // Requests that are made at the same time go to the client together.
                let Some(step) = running.next().now_or_never() else {
                    let requests = running.input_requests();
                    if requests.is_empty() {
                        continue;
                    }
                    return self.suspend(running, requests);
                };
                match step {
                    Step::Message(Message::Ask(ask)) => running.wait_for(*ask),
                    Step::Message(message) => messages.send(message).await,
                    Step::Ended(outcome) => return end(outcome, &running.peer, generation),
                }
                continue;
            }
            let step = tokio::select! {
                step = running.next() => step,
                Some(()) = next_answer(&mut asked) => continue,
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    running.cancel();
                    continue;
                }
            };
            match step {
                Step::Ended(outcome) => return end(outcome, &running.peer, generation),
                Step::Message(Message::Ask(ask)) if generation == Generation::Legacy => {
                    asked.get_or_insert_default().push(send(*ask, context))
                }
                Step::Message(Message::Ask(ask)) => running.wait_for(*ask),
                Step::Message(message) => messages.send(message).await,
            }
        }
    }

    fn suspend(&self, running: Running, requests: InputRequests) -> Result<Driven, ErrorData> {
        let Some(state) = self.shared.suspended.suspend(running) else {
            return Err(ErrorData::internal_error("too many calls wait for input; answer them first", None));
        };
        Ok(Driven::InputRequired(InputRequiredResult::new(Some(requests), Some(state))))
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

/// Returns the answer at the end of a call. From 2026-07-28 on, a call that failed for want of a capability names the capability.
fn end(outcome: Outcome, peer: &Peer, generation: Generation) -> Result<Driven, ErrorData> {
    let has_failed = match &outcome {
        Ok(Finished::Call(result)) => result.is_error == Some(true),
        Ok(Finished::Method(_)) => false,
        Err(_) => true,
    };
    match peer.refused().filter(|_| has_failed && generation == Generation::Modern) {
        Some(kind) => Err(ErrorData::missing_required_client_capability(kind.required())),
        None => outcome.map(Driven::Ended),
    }
}

/// Waits until the client has answered one of the requests. Returns `None` if there is none.
async fn next_answer(asked: &mut Option<FuturesUnordered<BoxFuture<'_, ()>>>) -> Option<()> {
    asked.as_mut()?.next().await
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
