//! Record: a call is written down before it is run, and so is how it ended, and every refusal.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use protocol::{Digest, ErrorCode, Json, ToolResult};
use tokio::time::Instant;

use super::clock::until_cancelled;
use crate::context::{CallScope, CallOrigin, ParentCall};
use crate::isolate::{Isolated, Panic};
use crate::journal::{
    Begun, CallArguments, CallKey, CallRecord, IntentId, Journal, JournalFuture, OutcomeRecord, Recorded,
};
use crate::timer::timer;
use crate::{Entry, ToolContext, ToolError, ToolErrorKind};

/// How long a journal may take to answer where it is not the time of a call that it takes: before that starts, and after it.
const JOURNAL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a journal may take to answer when the call is taken back while it is asked.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// One call, as far as the journal of its context is concerned.
pub(super) struct Record {
    journal: Arc<dyn Journal>,
    origin: CallOrigin,
    call_id: Option<Arc<str>>,
    key: Option<CallKey>,
    parent: Option<IntentId>,
    depth: u32,
    tool: String,
    tool_digest: Option<Digest>,
    arguments: Option<CallArguments>,
    attempt: u32,
    state: State,
}

enum State {
    /// Nothing is written of it.
    New,
    Begun {
        intent: IntentId,
        since: Instant,
    },
    /// There is nothing to write: the outcome is in the journal already, or the journal gives no answer.
    Settled,
}

/// Why a journal gave nothing.
enum JournalWaitError {
    Cancelled,
    Late,
    Broken(String),
}

/// Writes down, where the context has a journal, that a host does not run a call, for a reason of its own: nothing else of it
/// passes the counter.
///
/// # Errors
/// [`ToolErrorKind::Internal`] when it could not be written down.
pub async fn refuse(cx: &ToolContext, name: &str, code: ErrorCode, reason: &str) -> Result<(), ToolError> {
    let Some(mut record) = Record::for_call(cx, name) else { return Ok(()) };
    let by = Instant::now() + JOURNAL_TIMEOUT;
    let written = wait_until(by, || record.journal.refuse(record.call(), code, reason)).await;
    written.map_err(|error| record.broken(error))
}

impl Record {
    /// The record of a call that is made with this context, where that has a journal.
    #[inline]
    pub(super) fn for_call(cx: &ToolContext, tool: &str) -> Option<Box<Self>> {
        cx.recorder().map(|journal| Self::new(cx, tool, journal.clone()))
    }

    fn new(cx: &ToolContext, tool: &str, journal: Arc<dyn Journal>) -> Box<Self> {
        Box::new(Self {
            journal,
            origin: cx.origin(),
            call_id: cx.call_id().map(Arc::from),
            key: cx.next_key(),
            parent: cx.parent_call().map(|trace| trace.intent),
            depth: cx.depth(),
            // A name is what a model makes of it; that of a tool is no longer than this.
            tool: tool.chars().take(protocol::ToolName::MAX_LENGTH).collect(),
            tool_digest: None,
            arguments: None,
            attempt: 1,
            state: State::New,
        })
    }

    /// What the call gave when it was made before; it is not to be run then.
    ///
    /// # Errors
    /// [`ToolErrorKind::OutcomeUnknown`], [`ToolErrorKind::Diverged`]; [`ToolErrorKind::Internal`] when the journal is broken;
    /// and for a call that a tool made, the error that it ended with.
    pub(super) async fn replay(
        &mut self,
        entry: &Entry,
        caller: &ToolContext,
        arguments: &Json,
    ) -> Result<Option<ToolResult>, ToolErrorKind> {
        // A secret is not kept, nor a digest by which it could be guessed.
        let arguments = self.arguments.insert(CallArguments::new(entry.masked(arguments)));
        self.tool_digest = Some(entry.digest());
        let Some(key) = &self.key else { return Ok(None) };

        let by = Instant::now() + JOURNAL_TIMEOUT;
        let found = match wait_for_caller(caller, wait_until(by, || self.journal.find(key))).await {
            Ok(_) if caller.is_cancelled() => return Err(ToolErrorKind::Cancelled),
            Ok(found) => found,
            Err(error) => return Err(self.settle_failed(error)),
        };
        let Some(Recorded { attempt, tool_digest, arguments_digest, result, error }) = found else { return Ok(None) };
        if (tool_digest, arguments_digest) != (self.tool_digest, Some(arguments.digest())) {
            return Err(ToolErrorKind::Diverged { place: key.to_string() });
        }
        // How far a call came that was taken back, nobody knows.
        let result = result.filter(|_| error != Some(ErrorCode::Cancelled));
        if let Some(result) = &result {
            self.state = State::Settled;
            // The tool that made the call was told an error then, and would take a result for a success.
            if let (Some(code), true) = (error, self.depth > 0) {
                return Err(replayed_error(code, result.to_text()));
            }
        } else if !entry.tool().effects.is_idempotent() {
            return Err(ToolErrorKind::OutcomeUnknown);
        }
        self.attempt = attempt.saturating_add(1);
        Ok(result)
    }

    /// Writes down that the call is about to be run. Gives the context to run it with.
    ///
    /// # Errors
    /// The call may not be run: [`ToolErrorKind::Internal`] when that could not be written down, [`ToolErrorKind::Timeout`] when
    /// it took all the time of the call, [`ToolErrorKind::OutcomeUnknown`] when somebody else has begun it meanwhile.
    pub(super) async fn begin(&mut self, call: &CallScope, cx: ToolContext) -> Result<ToolContext, ToolErrorKind> {
        if call.caller.is_cancelled() {
            return Err(ToolErrorKind::Cancelled);
        }
        let since = Instant::now();
        let begun = wait_until(call.deadline, || self.journal.begin(self.call(), self.attempt));
        match wait_for_caller(&call.caller, begun).await {
            Ok(Begun::Now(intent)) => {
                self.state = State::Begun { intent, since };
                if call.caller.is_cancelled() {
                    return Err(ToolErrorKind::Cancelled);
                }
                Ok(cx.with_parent_call(ParentCall::new(self.origin.clone(), self.key.clone(), intent)))
            }
            Ok(Begun::Before(_)) => Err(ToolErrorKind::OutcomeUnknown),
            Err(JournalWaitError::Late) => {
                self.state = State::Settled;
                Err(ToolErrorKind::Timeout { limit: call.limit })
            }
            Err(error) => Err(self.settle_failed(error)),
        }
    }

    /// Writes down how the call ended, or that it was refused.
    ///
    /// # Errors
    /// Returns the error of the outcome, or [`ToolErrorKind::Internal`] if it could not be written down.
    pub(super) async fn close(mut self, outcome: Result<ToolResult, ToolError>) -> Result<ToolResult, ToolError> {
        let by = Instant::now() + JOURNAL_TIMEOUT;
        let written = match (&self.state, &outcome) {
            (State::Settled, _) | (State::New, Ok(_)) => return outcome,
            (State::New, Err(error)) => {
                let reason = error.to_string();
                wait_until(by, || self.journal.refuse(self.call(), error.code(), &reason)).await
            }
            (State::Begun { intent, since }, outcome) => {
                let duration = since.elapsed();
                let told;
                let outcome = match outcome {
                    Ok(result) => OutcomeRecord { result, error: None, duration },
                    Err(error) => {
                        told = ToolResult::from(error);
                        OutcomeRecord { result: &told, error: Some(error.code()), duration }
                    }
                };
                wait_until(by, || self.journal.end(*intent, outcome)).await
            }
        };
        match written {
            Ok(()) => outcome,
            Err(error) => Err(self.broken(error)),
        }
    }

    fn call(&self) -> CallRecord<'_> {
        CallRecord {
            session: self.origin.session.as_deref(),
            principal: self.origin.principal.as_deref(),
            correlation_id: self.origin.correlation_id.as_deref(),
            call_id: self.call_id.as_deref(),
            key: self.key.as_ref(),
            parent: self.parent,
            depth: self.depth,
            tool: &self.tool,
            tool_digest: self.tool_digest,
            arguments: self.arguments.as_ref(),
        }
    }

    fn broken(&mut self, error: JournalWaitError) -> ToolError {
        ToolError::new(self.tool.clone(), self.settle_failed(error))
    }

    fn settle_failed(&mut self, error: JournalWaitError) -> ToolErrorKind {
        // Who has just given no answer is not asked to write that down.
        self.state = State::Settled;
        let message = match error {
            JournalWaitError::Cancelled => return ToolErrorKind::Cancelled,
            JournalWaitError::Late => format!("the journal did not answer within {JOURNAL_TIMEOUT:?}; see to its file and its disk"),
            JournalWaitError::Broken(message) => message,
        };
        ToolErrorKind::Internal { message }
    }
}

/// An error of a call that a tool made, when that tool is run again. Whether to try once more is all that a tool can tell by it.
fn replayed_error(code: ErrorCode, message: String) -> ToolErrorKind {
    match code {
        ErrorCode::Transient => ToolErrorKind::Transient { message, retry_after: None },
        _ => ToolErrorKind::ExecutionFailed { message },
    }
}

/// What the journal says of a call that is wanted. Where the call is taken back meanwhile, it is heard for a moment longer: what
/// has arrived there is to have an end.
async fn wait_for_caller<T>(caller: &ToolContext, told: impl Future<Output = Result<T, JournalWaitError>>) -> Result<T, JournalWaitError> {
    let mut told = pin!(told);
    // A journal that has its answer at hand costs less than watching the caller.
    if let Poll::Ready(told) = poll_fn(|task| Poll::Ready(told.as_mut().poll(task))).await {
        return told;
    }
    if let Some(told) = until_cancelled(caller, told.as_mut()).await {
        return told;
    }
    let mut timer = timer(Instant::now() + CANCEL_GRACE);
    poll_fn(|task| match (told.as_mut().poll(task), &mut timer) {
        (Poll::Ready(told), _) => Poll::Ready(told),
        (Poll::Pending, Some(timer)) => timer.as_mut().poll(task).map(|()| Err(JournalWaitError::Cancelled)),
        (Poll::Pending, None) => Poll::Ready(Err(JournalWaitError::Cancelled)),
    })
    .await
}

/// What the journal says, in time. Its panic goes no further.
async fn wait_until<'a, T>(by: Instant, ask: impl FnOnce() -> JournalFuture<'a, T>) -> Result<T, JournalWaitError> {
    let mut told = pin!(Isolated::new(ask));
    let mut alarm = None;
    poll_fn(|task| {
        if let Poll::Ready(told) = told.as_mut().poll(task) {
            return Poll::Ready(match told {
                Ok(told) => told.map_err(|error| JournalWaitError::Broken(error.to_string())),
                Err(Panic(message)) => Err(JournalWaitError::Broken(format!("the journal panicked: {message}"))),
            });
        }
        let alarm = alarm.get_or_insert_with(|| timer(by));
        alarm.as_mut().map_or(Poll::Pending, |timer| timer.as_mut().poll(task).map(|()| Err(JournalWaitError::Late)))
    })
    .await
}
