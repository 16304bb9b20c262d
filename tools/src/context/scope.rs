//! The running call of a context, and the methods for running tools.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::sync::Arc;
use std::time::Duration;

use protocol::{Access, Target};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::deadline::CallDeadline;
use super::{NotInherited, ParentCall, Services, ToolContext};
use crate::context::{Need, Progress};
use crate::entry::Entry;
use crate::resolve::{Resolve, Scope};
use crate::sync::atomic::{AtomicBool, Ordering, fence};
use crate::sync::{Mutex, OnceLock, lock};
use crate::tool_error::{ToolError, ToolErrorKind};

/// The maximum nesting depth of calls.
const MAX_DEPTH: u32 = 16;

/// The timeout of a call if neither its tool nor its caller sets one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The replacement for a timeout that is too long to be added to the current time.
pub(super) const FOREVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// A running call.
pub(crate) struct CallScope {
    pub(crate) entry: Arc<Entry>,
    /// The caller's context: its grant bounds that of this call, and this call ends with it.
    pub(crate) caller: ToolContext,
    pub(crate) deadline: CallDeadline,
    pub(crate) limit: Duration,
    pub(crate) depth: u32,
    /// The targets approved for this call, in addition to the grant.
    pub(super) approved: Vec<Target>,
    /// Created on first use, because most tools never watch it.
    token: OnceLock<CancellationToken>,
    is_ended: AtomicBool,
    /// True if this call or an outer one holds a permit of the blocking pool.
    pub(crate) has_blocking_permit: AtomicBool,
    /// Its number in the table of an admission, once it is enqueued.
    pub(crate) queue_number: OnceLock<QueueNumber>,
    /// The number of this attempt, from 1.
    pub(crate) attempt: u32,
    pub(crate) scope: Scope,
    /// The span of the call, for work outside of the call's task. It ends with the call, and not with this.
    pub(crate) span: ScopeSpan,
    /// The call as the journal has it, once its intent is recorded. Here and not in the settings, which would be copied for it.
    pub(super) recorded: OnceLock<Arc<ParentCall>>,
}

/// The number of a call in the table of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueNumber {
    /// [`Admission::number`](crate::Admission::number)
    pub(crate) admission: u64,
    pub(crate) call: u64,
}

impl CallScope {
    /// Returns the token that is cancelled when the call ends in any way. It also cancels nested calls.
    pub(crate) fn token(&self) -> &CancellationToken {
        let token = self
            .token
            .get_or_init(|| self.caller.cancellation().child_token());
        // With the fence in `end`, either this thread sees the end or `end` sees the token.
        fence(Ordering::SeqCst);
        if self.is_ended.load(Ordering::Relaxed) {
            token.cancel();
        }
        token
    }

    /// Ends the call and cancels its token.
    pub(crate) fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
    }

    /// Sets the record of the running call, which its nested calls have as their parent.
    pub(crate) fn set_recorded(&self, record: ParentCall) {
        self.recorded.get_or_init(|| Arc::new(record));
    }

    fn next_attempt(&self) -> Self {
        Self {
            entry: self.entry.clone(),
            caller: self.caller.clone(),
            deadline: self.deadline.share(),
            limit: self.limit,
            depth: self.depth,
            approved: self.approved.clone(),
            token: OnceLock::new(),
            is_ended: AtomicBool::new(false),
            // The last attempt has released its own permit.
            has_blocking_permit: self.caller.has_blocking_permit().into(),
            queue_number: self.queue_number.clone(),
            attempt: self.attempt.saturating_add(1),
            scope: self.scope.clone(),
            span: self.span.clone(),
            recorded: self.recorded.clone(),
        }
    }

    /// Returns the scope of work that goes on after the call. It has another caller, a new deadline, and nothing that the call holds.
    pub(super) fn detach(&self, caller: ToolContext) -> Self {
        let (deadline, limit) = caller.deadline_for(&self.entry);
        Self {
            entry: self.entry.clone(),
            deadline: CallDeadline::new(deadline),
            limit,
            depth: self.depth,
            approved: self.approved.clone(),
            token: OnceLock::new(),
            is_ended: AtomicBool::new(false),
            has_blocking_permit: false.into(),
            queue_number: OnceLock::new(),
            attempt: self.attempt,
            scope: self.scope.clone(),
            span: ScopeSpan::default(),
            recorded: self.recorded.clone(),
            caller,
        }
    }

    /// Returns the queue numbers of the outer calls, the outermost first.
    pub(crate) fn outer_queue_numbers(&self) -> Vec<QueueNumber> {
        let outer = std::iter::successors(self.caller.call(), |call| call.caller.call());
        let mut numbers: Vec<_> = outer
            .filter_map(|call| call.queue_number.get().copied())
            .collect();
        numbers.reverse();
        numbers
    }

    /// Returns true if the call ended or was cancelled.
    pub(crate) fn is_over(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
            || self
                .token
                .get()
                .is_some_and(CancellationToken::is_cancelled)
            || self.caller.is_cancelled()
    }
}

impl ToolContext {
    /// Returns the context for the tool, with the approved targets of this call. Its token is a child of the caller's and is cancelled
    /// when the call ends in any way.
    ///
    /// # Errors
    /// - [`ToolErrorKind::Timeout`] if no time is left.
    /// - [`ToolErrorKind::ExecutionFailed`] if calls are nested too deep.
    pub(crate) fn enter(
        self,
        entry: &Arc<Entry>,
        scope: Scope,
        approved: Vec<Target>,
        (deadline, limit): (Instant, Duration),
        span: ScopeSpan,
    ) -> Result<Self, ToolErrorKind> {
        let depth = self.depth() + 1;
        // Tools that call each other in a circle would end at their deadline alone.
        if depth > MAX_DEPTH {
            return Err(ToolErrorKind::ExecutionFailed {
                message: format!(
                    "calls are nested deeper than {MAX_DEPTH}; do not call tools recursively"
                ),
            });
        }
        if limit.is_zero() {
            return Err(ToolErrorKind::Timeout {
                limit: self.timeout_for(entry),
            });
        }
        let has_blocking_permit = self.has_blocking_permit().into();
        let call = CallScope {
            entry: entry.clone(),
            deadline: CallDeadline::new(deadline),
            limit,
            depth,
            approved,
            token: OnceLock::new(),
            is_ended: AtomicBool::new(false),
            has_blocking_permit,
            queue_number: OnceLock::new(),
            attempt: 1,
            scope,
            span,
            recorded: OnceLock::new(),
            caller: self,
        };
        Ok(Self {
            facts: call.caller.facts.clone(),
            call: Some(Arc::new(call)),
        })
    }

    /// Returns the running call's context for work that goes on after the call, until the token is cancelled. Outside of a call, returns
    /// the context with this token.
    ///
    /// - The grant, the approved targets, the policy, the approver, the depth and the place in the journal are those of the call.
    /// - The time limit of the tool starts anew. The host's deadline holds.
    /// - Progress, deadline observer, person clock and call order belong to the call, which has ended, so there are none.
    pub(crate) fn detach(&self, token: CancellationToken, services: &Services) -> Self {
        let own = self.clone().outliving(services);
        let Some(call) = self.call() else {
            return own.with_cancellation(token);
        };
        // Without the outer calls, whose end is not that of the work.
        let caller = Self {
            facts: call.caller.facts.clone(),
            call: None,
        };
        let caller = caller.outliving(services).with_cancellation(token);
        let call = CallScope::detach(call, caller);
        Self {
            facts: own.facts,
            call: Some(call.into()),
        }
    }

    fn outliving(self, services: &Services) -> Self {
        self.with(|facts| {
            facts.services = services.clone();
            facts.ticket = None;
            facts.progress = None;
            facts.observer = NotInherited::default();
            facts.person_clock = None;
            facts.cancellation = NotInherited::default();
        })
    }

    /// Returns the deadline of a call that starts now, and the time until then, which may be zero.
    pub(crate) fn deadline_for(&self, entry: &Entry) -> (Instant, Duration) {
        self.deadline_within(self.timeout_for(entry))
    }

    /// Returns the deadline of a call with this time limit that starts now, and the time until then, which may be zero.
    pub(crate) fn deadline_within(&self, timeout: Duration) -> (Instant, Duration) {
        let now = Instant::now();
        let (by_timeout, most) = now.checked_add(timeout).map_or_else(
            // A timeout without measure is no timeout, and must not overflow the clock.
            || (now + FOREVER, FOREVER),
            |by_timeout| (by_timeout, timeout),
        );
        match self.deadline().map(Instant::from_std) {
            Some(outer) if outer < by_timeout => (outer, outer.saturating_duration_since(now)),
            _ => (by_timeout, most),
        }
    }

    fn timeout_for(&self, entry: &Entry) -> Duration {
        let limits = &entry.tool().limits;
        // The host's limit is for one call, and a tool that delegates makes many, each of which has this limit.
        let set = self.facts.timeout.filter(|_| !limits.delegates);
        set.or(limits.timeout_ms.map(Duration::from_millis))
            .unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the context for a retry of the call, with a new token, so that work left by the last attempt stays cancelled.
    pub(crate) fn next_attempt(&self) -> Self {
        let call = self
            .call
            .as_deref()
            .map(CallScope::next_attempt)
            .map(Arc::new);
        Self {
            facts: self.facts.clone(),
            call,
        }
    }

    /// Returns true if the running call or an outer one holds a permit of the blocking pool.
    pub(crate) fn has_blocking_permit(&self) -> bool {
        self.call()
            .is_some_and(|call| call.has_blocking_permit.load(Ordering::Relaxed))
    }

    /// Returns the number of the current attempt, from 1, or 0 outside of a call. The pipeline retries a call after a
    /// [transient](ToolErrorKind::Transient) failure if its effects allow it.
    pub fn attempt(&self) -> u32 {
        self.call.as_ref().map_or(0, |call| call.attempt)
    }

    pub(crate) fn call(&self) -> Option<&Arc<CallScope>> {
        self.call.as_ref()
    }

    /// Returns the entry of the running tool.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.call.as_ref().map(|call| &*call.entry)
    }

    /// Returns the running call, for stages after [`enter`](Self::enter).
    pub(crate) fn running(&self) -> Result<&Arc<CallScope>, ToolErrorKind> {
        let fault = "the pipeline ran a stage without a call; report this bug of Toolcrib";
        self.call
            .as_ref()
            .ok_or_else(|| ToolErrorKind::internal(fault))
    }

    /// Checks the permission for a target that the tool discovers while it runs, such as a walked directory or a redirect. Call it
    /// before using the target.
    ///
    /// # Errors
    /// - [`ToolErrorKind::PermissionDenied`] if neither the grant nor an approval covers the target.
    /// - [`ToolErrorKind::Denied`] if a rule of the policy denies it.
    /// - [`ToolErrorKind::Unapproved`] if the policy asks about it, or it is a [sensitive path](crate::policy::SensitivePaths) or an
    ///   [unnamed host](crate::policy::Reason::UnnamedHost), and neither it nor a directory above it was approved.
    /// - [`ToolErrorKind::ExecutionFailed`] if `scheme:value` is not a valid target.
    pub fn require(&self, access: Access, scheme: &str, value: &str) -> Result<(), ToolError> {
        let target = Target::new(access, scheme, value)
            .map_err(|error| ToolError::execution_failed(error.to_string()))?;
        Ok(self.check_discovered(&target)?)
    }

    /// Returns the service of this type.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] if the host offers none. A tool that declares its services is not called in that case.
    pub fn need<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        self.service::<T>()
            .ok_or_else(|| self.services().lack_of(&[&Need::new::<T>()]).into())
    }

    /// Returns the tool with this name, from the scope of the running call.
    ///
    /// # Errors
    /// Returns the errors of [`Resolve::resolve`], and [`ToolErrorKind::Internal`] if no call is running in this context.
    pub fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        match &self.call {
            Some(call) => call.scope.resolve(name),
            None => {
                let message =
                    "no call is running in this context; resolve the name in a catalog or a tool set".to_owned();
                Err(ToolErrorKind::Internal { message }.into())
            }
        }
    }

    /// Reports the progress of the running call to the host's [`ProgressSink`](crate::ProgressSink), if there is one. A long message
    /// is cut at [`Progress::MAX_MESSAGE_BYTES`].
    pub fn report(&self, progress: Progress) {
        // Progress after the end of the call is discarded, like a late result.
        if let (Some(sink), false) = (&self.facts.progress, self.is_cancelled()) {
            sink.report(self, progress.truncate_message());
        }
    }

    /// Returns an error if the call was cancelled, for use with `?` in the loops of blocking tools.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Cancelled`] if the call was cancelled or its deadline passed.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() {
            Err(ToolErrorKind::Cancelled.into())
        } else {
            Ok(())
        }
    }
}

/// The span of a call until the call ends. It is empty without a subscriber.
#[derive(Clone, Default)]
pub(crate) struct ScopeSpan(Option<Arc<Mutex<Option<Span>>>>);

impl ScopeSpan {
    pub(crate) fn new(span: Span) -> Self {
        Self(Some(Arc::new(Mutex::new(Some(span)))))
    }

    /// Returns false if no subscriber was there when the call began.
    pub(crate) fn is_traced(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the span. Returns a disabled one after the end of the call.
    pub(crate) fn get(&self) -> Span {
        let span = self.0.as_ref().and_then(|span| lock(span).clone());
        span.unwrap_or_else(Span::none)
    }

    /// Empties all clones. Returns `None` if they were empty.
    pub(crate) fn take(&self) -> Option<Span> {
        self.0.as_ref().and_then(|span| lock(span).take())
    }
}
