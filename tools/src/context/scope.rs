//! What a context knows once the counter has taken a call in, and what a running tool can do with it.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::sync::Arc;
use std::time::Duration;

use protocol::{Access, Target};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::ToolContext;
use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicBool, Ordering, fence};
use crate::{Entry, Progress, Resolve, Scope, ToolError, ToolErrorKind};

/// How many calls may be nested in each other.
const MAX_DEPTH: u32 = 16;

/// How long a call may take where neither its tool nor its caller says.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A timeout too long to be added to the clock counts as this.
const FOREVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// One call, from the inside.
pub(crate) struct CallScope {
    pub(crate) entry: Arc<Entry>,
    /// Who called: what it may touch bounds what this call may, and its end is this one's.
    pub(crate) caller: ToolContext,
    pub(crate) deadline: Instant,
    pub(crate) limit: Duration,
    pub(crate) depth: u32,
    /// What was approved for this call alone, on top of the grant.
    pub(super) approved: Vec<Target>,
    /// Made when somebody wants to hear of the end, which most tools never do.
    token: OnceLock<CancellationToken>,
    is_ended: AtomicBool,
    /// Whether this call, or one around it, holds a place of the blocking pool.
    pub(crate) has_blocking_permit: AtomicBool,
    /// Its entry in the table of an admission, once it has one.
    pub(crate) queue_number: OnceLock<QueueNumber>,
    /// Which attempt this is, from 1.
    pub(crate) attempt: u32,
    pub(crate) scope: Scope,
    /// The span of the call, for what it does outside of the counter's task.
    pub(crate) span: Span,
}

/// A call in the table of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueNumber {
    /// [`Admission::number`](crate::Admission::number)
    pub(crate) admission: u64,
    pub(crate) call: u64,
}

impl CallScope {
    /// Cancelled when the call ends in any way, and with it every call that it makes.
    pub(crate) fn token(&self) -> &CancellationToken {
        let token = self.token.get_or_init(|| self.caller.cancellation().child_token());
        // Either this sees the end, or the end sees the token.
        fence(Ordering::SeqCst);
        if self.is_ended.load(Ordering::Relaxed) {
            token.cancel();
        }
        token
    }

    /// Ends the call, for everything that came of it.
    pub(crate) fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
    }

    fn next_attempt(&self) -> Self {
        Self {
            entry: self.entry.clone(),
            caller: self.caller.clone(),
            deadline: self.deadline,
            limit: self.limit,
            depth: self.depth,
            approved: self.approved.clone(),
            token: OnceLock::new(),
            is_ended: AtomicBool::new(false),
            // The place of the last attempt went with it.
            has_blocking_permit: self.caller.has_blocking_permit().into(),
            queue_number: self.queue_number.clone(),
            attempt: self.attempt.saturating_add(1),
            scope: self.scope.clone(),
            span: self.span.clone(),
        }
    }

    /// Returns the numbers of the calls around this one, the outermost first.
    pub(crate) fn outer_queue_numbers(&self) -> Vec<QueueNumber> {
        let outer = std::iter::successors(self.caller.call(), |call| call.caller.call());
        let mut numbers: Vec<_> = outer.filter_map(|call| call.queue_number.get().copied()).collect();
        numbers.reverse();
        numbers
    }

    /// Whether the call ended or was taken back.
    pub(crate) fn is_over(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
            || self.token.get().is_some_and(CancellationToken::is_cancelled)
            || self.caller.is_cancelled()
    }
}

impl ToolContext {
    /// Returns the context that a tool sees, with what was approved for this call. Its token is a child of the caller's, cancelled
    /// when the call ends in any way.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Timeout`] if there is no time, and [`ToolErrorKind::ExecutionFailed`] if calls are nested too
    /// deep.
    pub(crate) fn enter(
        self,
        entry: &Arc<Entry>,
        scope: Scope,
        approved: Vec<Target>,
        (deadline, limit): (Instant, Duration),
        span: Span,
    ) -> Result<Self, ToolErrorKind> {
        let depth = self.depth() + 1;
        if depth > MAX_DEPTH {
            return Err(ToolErrorKind::ExecutionFailed {
                message: format!("calls are nested deeper than {MAX_DEPTH}; do not call tools in a circle"),
            });
        }
        if limit.is_zero() {
            return Err(ToolErrorKind::Timeout { limit: self.timeout_for(entry) });
        }
        let has_blocking_permit = self.has_blocking_permit().into();
        let call = CallScope {
            entry: entry.clone(),
            deadline,
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
            caller: self,
        };
        Ok(Self { facts: call.caller.facts.clone(), call: Some(Arc::new(call)) })
    }

    /// Returns when a call that begins now has to be over, and how long that is, which may be no time.
    pub(crate) fn deadline_for(&self, entry: &Entry) -> (Instant, Duration) {
        let now = Instant::now();
        let timeout = self.timeout_for(entry);
        let (by_timeout, most) =
            now.checked_add(timeout).map_or_else(|| (now + FOREVER, FOREVER), |by_timeout| (by_timeout, timeout));
        match self.deadline().map(Instant::from_std) {
            Some(outer) if outer < by_timeout => (outer, outer.saturating_duration_since(now)),
            _ => (by_timeout, most),
        }
    }

    fn timeout_for(&self, entry: &Entry) -> Duration {
        let own = entry.tool().limits.timeout_ms.map(Duration::from_millis);
        self.timeout().or(own).unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The context for one more attempt of the same call: what the last one left running is not part of it.
    pub(crate) fn next_attempt(&self) -> Self {
        let call = self.call.as_deref().map(CallScope::next_attempt).map(Arc::new);
        Self { facts: self.facts.clone(), call }
    }

    /// Whether the running call, or one around it, holds a place of the blocking pool.
    pub(crate) fn has_blocking_permit(&self) -> bool {
        self.call().is_some_and(|call| call.has_blocking_permit.load(Ordering::Relaxed))
    }

    /// Which attempt of its call this is, from 1; 0 outside of a call. A call that may be repeated is, after a
    /// [transient](ToolErrorKind::Transient) failure.
    pub fn attempt(&self) -> u32 {
        self.call.as_ref().map_or(0, |call| call.attempt)
    }

    pub(crate) fn call(&self) -> Option<&Arc<CallScope>> {
        self.call.as_ref()
    }

    /// The tool that is running.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.call.as_ref().map(|call| &*call.entry)
    }

    /// The call, for stages that come after it was entered.
    pub(crate) fn running(&self) -> Result<&Arc<CallScope>, ToolErrorKind> {
        let fault = "the counter was passed without a call; this is a fault of Toolcrib";
        self.call.as_ref().ok_or_else(|| ToolErrorKind::Internal { message: fault.to_owned() })
    }

    /// Asks, before it is touched, for something that the arguments alone do not show: a walked directory, a redirect.
    ///
    /// # Errors
    /// [`ToolErrorKind::PermissionDenied`] when the grant does not cover it; [`ToolErrorKind::Denied`] when a rule of the policy
    /// is against it, and [`ToolErrorKind::Unapproved`] when the policy asks about it and nobody approved of it or of what it is
    /// below, or when it is one of the [sensitive paths](crate::policy::SensitivePaths) and nothing names it;
    /// [`ToolErrorKind::ExecutionFailed`] when `scheme:value` is no target.
    pub fn require(&self, access: Access, scheme: &str, value: &str) -> Result<(), ToolError> {
        let target =
            Target::new(access, scheme, value).map_err(|error| ToolError::execution_failed(error.to_string()))?;
        if !self.grant().permits(&target) && !self.is_approved(&target) {
            let granted = self.grant().clone();
            return Err(ToolErrorKind::PermissionDenied { needed: vec![target], granted }.into());
        }
        self.tool().map_or(Ok(()), |tool| self.check_policy(tool, &target))?;
        Ok(self.check_sensitive(&target)?)
    }

    /// The service of that type.
    ///
    /// # Errors
    /// [`ToolErrorKind::Unavailable`] when the host offers none. A tool that declares its needs is not called in that case.
    pub fn need<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        self.service::<T>().ok_or_else(|| ToolErrorKind::unmet(&[std::any::type_name::<T>()]).into())
    }

    /// The tool of that name, looked up where the running call was.
    ///
    /// # Errors
    /// As [`Resolve::resolve`], and [`ToolErrorKind::Internal`] when nothing is running in this context.
    pub fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        match &self.call {
            Some(call) => call.scope.resolve(name),
            None => {
                let message = "no call is running in this context".to_owned();
                Err(ToolErrorKind::Internal { message }.into())
            }
        }
    }

    /// Tells whoever listens how far the call has come.
    pub fn report(&self, progress: Progress) {
        // What comes after the end of the call is dropped, like a late result.
        if let (Some(sink), false) = (&self.facts.progress, self.is_cancelled()) {
            sink.report(self, progress);
        }
    }

    /// Gives up when the call was taken back: for loops of blocking tools.
    ///
    /// # Errors
    /// [`ToolErrorKind::Cancelled`] once the token is cancelled.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}
