//! [`Running`]: work for a client, while it runs.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use rmcp::model::{CallToolResult, ErrorData, InputRequests};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tools::{CancellationToken, Json};

use crate::server::peer::{Ask, Message, Peer};
use crate::server::permit::Permit;

/// The time that cancelled work gets to end, so that the journal has its outcome.
pub(super) const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// The future of work.
pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The end of work.
pub(super) type Outcome = Result<Finished, ErrorData>;

/// The result of work.
pub(super) enum Finished {
    Call(CallToolResult),
    Method(Value),
}

/// Work for a client, with its messages to the client. Dropping it cancels the work.
pub(super) struct Running {
    /// Absent after its end.
    work: Option<Work>,
    messages: mpsc::Receiver<Box<Message>>,
    /// Cancels the work, which then ends soon.
    pub(super) token: CancellationToken,
    pub(super) asked: AskedOf,
    pub(super) peer: Peer,
    outcome: Option<Outcome>,
    /// The requests whose answers the next request of the client brings.
    pub(super) waiting: Waiting,
    /// Counts the work until its end.
    counted: Option<Counted>,
}

/// Counts work until it is dropped.
struct Counted {
    permit: Permit,
    _tracked: TaskTrackerToken,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.permit.end();
    }
}

/// The request of the client that the work is for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AskedOf {
    pub(super) method: &'static str,
    pub(super) name: String,
    pub(super) params: Json,
}

/// A step of running work.
pub(super) enum Step {
    Message(Message),
    Ended(Outcome),
}

impl Running {
    pub(super) fn new(
        asked: AskedOf,
        (peer, messages): (Peer, mpsc::Receiver<Box<Message>>),
        token: CancellationToken,
        (permit, tracked): (Permit, TaskTrackerToken),
        work: Work,
    ) -> Self {
        Self {
            work: Some(work),
            messages,
            token,
            asked,
            peer,
            outcome: None,
            waiting: Waiting::default(),
            counted: Some(Counted {
                permit,
                _tracked: tracked,
            }),
        }
    }

    /// Runs to the next step. All messages come before the end. A dropped future loses nothing.
    pub(super) async fn next(&mut self) -> Step {
        std::future::poll_fn(|cx| {
            loop {
                if let Poll::Ready(Some(message)) = self.messages.poll_recv(cx) {
                    return Poll::Ready(Step::Message(*message));
                }
                if let Some(outcome) = self.outcome.take() {
                    return Poll::Ready(Step::Ended(outcome));
                }
                let Some(work) = &mut self.work else {
                    return Poll::Pending;
                };
                match work.as_mut().poll(cx) {
                    Poll::Ready(outcome) => {
                        (self.work, self.counted) = (None, None);
                        self.outcome = Some(outcome);
                    }
                    // It may have sent messages.
                    Poll::Pending if !self.messages.is_empty() => {}
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Runs without a client, up to its end, which is the next step. Progress and log messages are lost meanwhile.
    pub(super) async fn run_alone(&mut self) {
        loop {
            match self.next().await {
                Step::Message(Message::Ask(ask)) => self.waiting.add(*ask),
                Step::Message(_) => {}
                Step::Ended(outcome) => {
                    self.outcome = Some(outcome);
                    return;
                }
            }
        }
    }
}

/// Returns the outcome with the capability that the client lacks, if the work failed for want of it. Clients understand it from
/// 2026-07-28 on.
pub(super) fn name_lacking(outcome: Outcome, peer: &Peer) -> Outcome {
    let has_failed = match &outcome {
        Ok(Finished::Call(result)) => result.is_error == Some(true),
        Ok(Finished::Method(_)) => false,
        Err(_) => true,
    };
    match peer.refused_capability().filter(|_| has_failed) {
        Some(lacking) => Err(ErrorData::missing_required_client_capability(lacking)),
        None => outcome,
    }
}

/// The requests that wait for answers of the client, by their keys.
#[derive(Default)]
pub(super) struct Waiting(pub(super) BTreeMap<String, Ask>);

impl Waiting {
    /// Keeps a request until the client answers it.
    pub(super) fn add(&mut self, ask: Ask) {
        self.0.insert(ask.key.clone(), ask);
    }

    /// Passes the client's answers on. Answers to unknown keys and answers of another kind are ignored.
    pub(super) fn answer(&mut self, answers: BTreeMap<String, Value>) {
        for (key, answer) in answers {
            let ask = self.0.get(&key);
            let is_accepted = ask.is_some_and(|ask| ask.kind.accepts(&answer));
            if is_accepted && let Some(ask) = self.0.remove(&key) {
                let _ = ask.answer.send(Ok(answer));
            }
        }
    }

    /// Returns the requests, without those whose answer the work no longer waits for.
    pub(super) fn requests(&mut self) -> InputRequests {
        self.0.retain(|_, ask| !ask.answer.is_closed());
        self.0
            .iter()
            .map(|(key, ask)| (key.clone(), ask.request.clone()))
            .collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        self.token.cancel();
        // The work ends in a task of its own, because the journal is to have its outcome.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let counted = self.counted.take();
            runtime.spawn(async move {
                let _ = tokio::time::timeout(CANCEL_GRACE, work).await;
                drop(counted);
            });
        }
    }
}
