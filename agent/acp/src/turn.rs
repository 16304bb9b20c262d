//! [`Prompts`]: the prompts of a session, one after another, with one answer each.

use std::sync::{Arc, Mutex};

use agent::{Outcome, RunHandle, RunObserver, StopReason, Summary};
use host::sessions::{CommandSession, SessionInput};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tools::{CancellationToken, Content, IgnorePoison as _};

use crate::board::{Board, limit_text};
use crate::rpc::RpcError;

/// The queue of a session.
#[derive(Clone)]
pub(crate) struct Prompts {
    sender: mpsc::UnboundedSender<Prompt>,
    board: Arc<Board>,
    /// The handles of the prompts without an answer, in order.
    open: Arc<Mutex<Vec<RunHandle>>>,
}

/// A prompt, which is answered when it is dropped at the latest.
struct Prompt {
    id: Value,
    content: Vec<Content>,
    handle: RunHandle,
    board: Arc<Board>,
    open: Arc<Mutex<Vec<RunHandle>>>,
    answer: Option<Result<&'static str, RpcError>>,
}

impl Prompts {
    pub(crate) fn new(board: Arc<Board>) -> (Self, PromptQueue) {
        let (sender, prompts) = mpsc::unbounded_channel();
        let open = Arc::default();
        let prompts = PromptQueue(prompts);
        let queue = Self {
            sender,
            board,
            open,
        };
        (queue, prompts)
    }

    /// Enqueues a prompt.
    pub(crate) fn push(&self, id: Value, content: Vec<Content>) {
        let handle = RunHandle::new();
        self.open.lock().ignore_poison().push(handle.clone());
        let prompt = Prompt {
            id,
            content,
            handle,
            board: self.board.clone(),
            open: self.open.clone(),
            answer: None,
        };
        // A session that has ended answers as it drops the prompt.
        let _ = self.sender.send(prompt);
    }

    /// Cancels all prompts without an answer.
    pub(crate) fn cancel(&self) {
        let open = self.open.lock().ignore_poison();
        open.iter().for_each(RunHandle::cancel);
    }

    /// Sends a message to the run of the first prompt. Returns false if there is none that takes it.
    pub(crate) fn steer(&self, content: Vec<Content>) -> bool {
        let first = self.open.lock().ignore_poison().first().cloned();
        first.is_some_and(|handle| handle.send(agent::Prompt::from(content)).is_ok())
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        let mut open = self.open.lock().ignore_poison();
        open.retain(|handle| !handle.is_same(&self.handle));
        // Decided under the lock: a cancellation comes before the answer, or finds no prompt.
        let is_cancelled = self.handle.token().is_cancelled();
        let answer = self.answer.take().unwrap_or_else(|| {
            let reason = "the session ended before the answer; load it to go on";
            Err(RpcError::new(RpcError::INTERNAL, reason))
        });
        let answer = if is_cancelled {
            Ok("cancelled")
        } else {
            answer
        };
        let answer = answer.map(|reason| json!({"stopReason": reason}));
        self.board.client.answer(&self.id, answer);
    }
}

/// The prompts that wait.
pub(crate) struct PromptQueue(mpsc::UnboundedReceiver<Prompt>);

impl PromptQueue {
    /// Runs the prompts of a session until the token is cancelled.
    pub(crate) async fn run(
        mut self,
        mut session: Box<dyn CommandSession>,
        board: Arc<Board>,
        observer: Arc<RunObserver>,
        token: CancellationToken,
    ) {
        loop {
            let next = token.run_until_cancelled(self.0.recv()).await;
            let Some(mut prompt) = next.flatten() else {
                // Those that wait are answered as they are dropped.
                self.0.close();
                while let Ok(prompt) = self.0.try_recv() {
                    prompt.handle.cancel();
                }
                return;
            };
            if prompt.handle.token().is_cancelled() {
                continue;
            }
            observer.set_handle(prompt.handle.clone());
            let answer = turn(&mut *session, &mut prompt, &board).await;
            if token.is_cancelled() {
                prompt.handle.cancel();
            }
            prompt.answer = Some(answer);
        }
    }
}

/// Finishes the run of an earlier process, and then runs the prompt.
async fn turn(
    session: &mut dyn CommandSession,
    prompt: &mut Prompt,
    board: &Board,
) -> Result<&'static str, RpcError> {
    board.say_notes();
    if session.earlier_run().is_some() {
        let ended = session.resume().await;
        board.end_turn();
        if let Err(error) = ended {
            return Err(RpcError::new(RpcError::INTERNAL, error.to_string()));
        }
        if prompt.handle.token().is_cancelled() {
            return Ok("cancelled");
        }
    }
    let content = std::mem::take(&mut prompt.content);
    let input = match &content[..] {
        [only] if only.as_text().map(str::trim) == Some("/compact") => SessionInput::Compact,
        _ => SessionInput::Content(content),
    };
    let ended = session.run(input).await;
    let summary = board.end_turn();
    let left = prompt.handle.take_waiting();
    if !left.is_empty() && !prompt.handle.token().is_cancelled() {
        board.say("\n\n(The run ended before it read your last message. Send it again.)");
    }
    match (summary, ended) {
        (Some(summary), _) => stop_reason(&summary, board),
        (None, Ok(end)) => match end.answer {
            Ok(_) => Ok("end_turn"),
            Err(error) => Err(RpcError::new(RpcError::INTERNAL, error.to_string())),
        },
        (None, Err(error)) => Err(RpcError::new(RpcError::INTERNAL, error.to_string())),
    }
}

/// Returns the reason that a run ended. Says what the protocol has no word for.
fn stop_reason(summary: &Summary, board: &Board) -> Result<&'static str, RpcError> {
    use agent::{FailureKind, Resource};
    Ok(match &summary.outcome {
        Outcome::Answer { stop, .. } => match stop {
            StopReason::Length => "max_tokens",
            StopReason::Refusal => "refusal",
            _ => "end_turn",
        },
        Outcome::Budget(exhausted) => {
            board.say(&limit_text(exhausted));
            match exhausted.resource {
                Resource::Steps => "max_turn_requests",
                _ => "end_turn",
            }
        }
        Outcome::Loop(repeated) => {
            board.say(&format!(
                "\n\n(The run has ended: it made the same call to {} {} times.)",
                repeated.tool, repeated.times
            ));
            "end_turn"
        }
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { message, failure } => {
            let code = match failure {
                Some(FailureKind::Authentication) => RpcError::AUTHENTICATION,
                _ => RpcError::INTERNAL,
            };
            return Err(RpcError::new(code, message.clone()));
        }
        _ => "end_turn",
    })
}
