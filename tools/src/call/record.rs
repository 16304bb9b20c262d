//! Record: writes each call to the journal before it runs, and its outcome or refusal afterwards. Replays recorded calls.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use protocol::wire::Format;
use protocol::{Digest, ErrorCode, Json, ToolResult};
use tokio::time::Instant;

use super::clock::{by_time, until_cancelled};
use crate::context::{CallOrigin, CallScope, ParentCall, ToolContext, error_result};
use crate::entry::Entry;
use crate::isolate::{Isolated, Panic};
use crate::journal::{
    BeginResult, CallArguments, CallKey, CallRecord, IntentId, Journal, JournalFuture,
    OutcomeRecord,
};
use crate::policy::Ruling;
use crate::resolve::{Resolve as _, Scope};
use crate::timer::timer;
use crate::tool_error::{ToolError, ToolErrorKind};

/// The time limit of a journal before the call's deadline starts and after the call has ended.
const JOURNAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The time that a journal gets to finish an operation after the call was cancelled.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// The journal record of a call, while the call runs.
pub(super) struct Record {
    journal: Arc<dyn Journal>,
    origin: CallOrigin,
    call_id: Option<Arc<str>>,
    key: Option<CallKey>,
    parent: Option<IntentId>,
    depth: u32,
    /// The format in which the model knows the tools. It does not read the errors of nested calls.
    wire: Option<Format>,
    tool: String,
    /// The tool, once its call is known to the journal.
    entry: Option<Arc<Entry>>,
    tool_digest: Option<Digest>,
    arguments: Option<CallArguments>,
    attempt: u32,
    ruling: Option<Cow<'static, str>>,
    state: RecordState,
}

enum RecordState {
    /// The journal has no record of the call.
    New,
    Begun {
        intent: IntentId,
        since: Instant,
    },
    /// There is nothing left to write: the outcome is recorded already, or the journal failed.
    Settled,
}

/// The reason why waiting for the journal failed.
enum JournalWaitError {
    Cancelled,
    Late,
    Broken(String),
}

/// Returns a future that records a refused call. Returns `None` if the context has no journal. The future returns
/// [`ToolErrorKind::Internal`] if the journal failed.
pub(super) fn refuse(
    cx: &ToolContext,
    name: &str,
    code: ErrorCode,
    reason: &str,
) -> Option<impl Future<Output = Result<(), ToolError>> + Send + use<>> {
    let mut record = Record::for_call(cx, name)?;
    let reason = reason.to_owned();
    Some(async move {
        let by = Instant::now() + JOURNAL_TIMEOUT;
        let written = wait_until(by, || record.journal.refuse(record.call(), code, &reason)).await;
        written.map_err(|error| record.broken(error))
    })
}

impl Record {
    /// Creates the record of a call. Returns `None` if the context has no journal.
    #[inline]
    pub(super) fn for_call(cx: &ToolContext, tool: &str) -> Option<Box<Self>> {
        cx.recorder()
            .map(|journal| Self::new(cx, tool, journal.clone()))
    }

    fn new(cx: &ToolContext, tool: &str, journal: Arc<dyn Journal>) -> Box<Self> {
        Box::new(Self {
            journal,
            origin: cx.origin(),
            call_id: cx.call_id().map(Arc::from),
            key: cx.next_key(),
            parent: cx.parent_call().map(|parent| parent.intent),
            depth: cx.depth(),
            wire: cx.wire().filter(|_| cx.depth() == 0),
            // The name comes from a model and can be of any length; a valid one is at most this long.
            tool: tool.chars().take(protocol::ToolName::MAX_LENGTH).collect(),
            entry: None,
            tool_digest: None,
            arguments: None,
            attempt: 1,
            ruling: None,
            state: RecordState::New,
        })
    }

    /// Returns the recorded result of the call, which must then not run again. Returns `None` if the call has to run.
    ///
    /// # Errors
    /// - [`ToolErrorKind::Diverged`] if the journal has a different call at this place.
    /// - [`ToolErrorKind::OutcomeUnknown`] if the call was begun, its outcome is missing and its effects forbid a second run.
    /// - The recorded error of a nested call.
    /// - [`ToolErrorKind::Internal`] if the journal failed, and [`ToolErrorKind::Cancelled`] if the call was cancelled.
    pub(super) async fn replay(
        &mut self,
        entry: &Arc<Entry>,
        scope: &Scope,
        caller: &ToolContext,
        arguments: &Json,
    ) -> Result<Option<ToolResult>, ToolErrorKind> {
        // Neither a secret nor a digest of it is stored, because the secret could be guessed from its digest.
        let own = entry.mask(arguments);
        let shown = entry.with_kept_call(own.clone(), arguments, &|name| scope.resolve(name).ok());
        let arguments = self.arguments.insert(CallArguments::new(own, shown));
        self.tool_digest = Some(entry.digest());
        self.entry = Some(entry.clone());
        let Some(key) = &self.key else {
            return Ok(None);
        };

        let by = Instant::now() + JOURNAL_TIMEOUT;
        let found = match wait_for_caller(caller, wait_until(by, || self.journal.find(key))).await {
            Ok(_) if caller.is_cancelled() => return Err(ToolErrorKind::Cancelled),
            Ok(found) => found,
            Err(error) => return Err(self.settle_failed(error)),
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let digests = (found.tool_digest, found.arguments_digest);
        // The run took another way than the recorded one, so that no later record fits either.
        if digests != (self.tool_digest, Some(arguments.digest())) {
            return Err(ToolErrorKind::Diverged {
                place: key.to_string(),
            });
        }
        // A cancelled call may have run in part, so its effects are unknown.
        let is_cancelled = found.error == Some(ErrorCode::Cancelled);
        let result = found.result.filter(|_| !is_cancelled);
        if let Some(result) = &result {
            self.state = RecordState::Settled;
            // The outer tool received an error at the time. It would take a result for a success.
            if let (Some(code), true) = (found.error, self.depth > 0) {
                return Err(replayed_error(code, result.to_text()));
            }
        // The process may have died before or after the effect. A second payment is worse than a question.
        } else if !entry.tool().effects.is_idempotent() {
            return Err(ToolErrorKind::OutcomeUnknown);
        }
        self.attempt = found.attempt.saturating_add(1);
        Ok(result)
    }

    /// Sets the decision about the call, for its intent or refusal. Returns the rulings.
    pub(super) fn set_rulings<'a>(
        &mut self,
        rulings: impl Iterator<Item = Ruling<'a>>,
    ) -> Vec<Ruling<'a>> {
        let rulings: Vec<_> = rulings.collect();
        self.ruling = Some(Ruling::summary_of(&rulings));
        rulings
    }

    /// Records the intent to run the call.
    ///
    /// # Errors
    /// The call must not run after an error:
    ///
    /// - [`ToolErrorKind::Internal`] if the journal failed.
    /// - [`ToolErrorKind::Timeout`] if the journal did not answer before the deadline.
    /// - [`ToolErrorKind::OutcomeUnknown`] if another process began the call meanwhile.
    /// - [`ToolErrorKind::Cancelled`] if the call was cancelled.
    pub(super) async fn begin(&mut self, call: &CallScope) -> Result<(), ToolErrorKind> {
        if call.caller.is_cancelled() {
            return Err(ToolErrorKind::Cancelled);
        }
        let since = Instant::now();
        let begun = wait_until(call.deadline.at(), || {
            self.journal.begin(self.call(), self.attempt)
        });
        match wait_for_caller(&call.caller, begun).await {
            Ok(BeginResult::Started(intent)) => {
                self.state = RecordState::Begun { intent, since };
                if call.caller.is_cancelled() {
                    return Err(ToolErrorKind::Cancelled);
                }
                let (origin, key) = (self.origin.clone(), self.key.clone());
                call.set_recorded(ParentCall::new(origin, key, intent));
                Ok(())
            }
            // Of many calls at one place, one is run.
            Ok(BeginResult::AlreadyStarted(_)) => Err(ToolErrorKind::OutcomeUnknown),
            // A journal that was late once would make the call wait for it again at its end.
            Err(JournalWaitError::Late) => {
                self.state = RecordState::Settled;
                Err(ToolErrorKind::Timeout { limit: call.limit })
            }
            Err(error) => Err(self.settle_failed(error)),
        }
    }

    /// Records the outcome or the refusal of the call and returns the outcome.
    ///
    /// # Errors
    /// Returns the error of the outcome, or [`ToolErrorKind::Internal`] if the journal failed.
    pub(super) async fn close(
        mut self,
        outcome: Result<ToolResult, ToolError>,
    ) -> Result<ToolResult, ToolError> {
        let by = Instant::now() + JOURNAL_TIMEOUT;
        let written = match (&self.state, &outcome) {
            (RecordState::Settled, _) | (RecordState::New, Ok(_)) => return outcome,
            (RecordState::New, Err(error)) => {
                let reason = error.to_string();
                wait_until(by, || {
                    self.journal.refuse(self.call(), error.code(), &reason)
                })
                .await
            }
            (RecordState::Begun { intent, since }, outcome) => {
                let duration = since.elapsed();
                let failed;
                let outcome = match outcome {
                    Ok(result) => OutcomeRecord {
                        result,
                        error: None,
                        duration,
                    },
                    Err(error) => {
                        failed = error_result(self.wire, self.entry.as_deref(), error);
                        OutcomeRecord {
                            result: &failed,
                            error: Some(error.code()),
                            duration,
                        }
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
            ruling: self.ruling.as_deref(),
        }
    }

    fn broken(&mut self, error: JournalWaitError) -> ToolError {
        ToolError::new(self.tool.clone(), self.settle_failed(error))
    }

    fn settle_failed(&mut self, error: JournalWaitError) -> ToolErrorKind {
        // The failed journal is not asked to record its own failure.
        self.state = RecordState::Settled;
        let message = match error {
            JournalWaitError::Cancelled => return ToolErrorKind::Cancelled,
            JournalWaitError::Late => {
                format!(
                    "the journal did not answer within {JOURNAL_TIMEOUT:?}; check its file and its disk"
                )
            }
            JournalWaitError::Broken(message) => message,
        };
        ToolErrorKind::Internal { message }
    }
}

/// Returns the error of a replayed nested call, from its recorded code and message. Only `Transient` is kept as a kind: it tells the
/// outer tool whether to retry.
fn replayed_error(code: ErrorCode, message: String) -> ToolErrorKind {
    match code {
        ErrorCode::Transient => ToolErrorKind::Transient {
            message,
            retry_after: None,
        },
        _ => ToolErrorKind::ExecutionFailed { message },
    }
}

/// Waits for the journal until the caller cancels, and then up to [`CANCEL_GRACE`] longer, so that an operation which has reached the
/// journal can finish.
async fn wait_for_caller<T>(
    caller: &ToolContext,
    answer: impl Future<Output = Result<T, JournalWaitError>>,
) -> Result<T, JournalWaitError> {
    let mut answer = pin!(answer);
    // Polled once without watching the caller, which costs more than a journal that answers at once.
    if let Poll::Ready(answer) = poll_fn(|task| Poll::Ready(answer.as_mut().poll(task))).await {
        return answer;
    }
    if let Some(answer) = until_cancelled(caller, answer.as_mut()).await {
        return answer;
    }
    let mut timer = timer(Instant::now() + CANCEL_GRACE);
    poll_fn(|task| match (answer.as_mut().poll(task), &mut timer) {
        (Poll::Ready(answer), _) => Poll::Ready(answer),
        (Poll::Pending, Some(timer)) => timer
            .as_mut()
            .poll(task)
            .map(|()| Err(JournalWaitError::Cancelled)),
        (Poll::Pending, None) => Poll::Ready(Err(JournalWaitError::Cancelled)),
    })
    .await
}

/// Waits for the journal until `by` and catches its panics.
async fn wait_until<'a, T>(
    by: Instant,
    operation: impl FnOnce() -> JournalFuture<'a, T>,
) -> Result<T, JournalWaitError> {
    match by_time(by, Isolated::new(operation)).await {
        Some(Ok(answer)) => answer.map_err(|error| JournalWaitError::Broken(error.to_string())),
        Some(Err(Panic(message))) => Err(JournalWaitError::Broken(format!(
            "the journal panicked: {message}"
        ))),
        None => Err(JournalWaitError::Late),
    }
}
