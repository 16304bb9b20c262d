//! What a context knows once the counter has taken a call in, and what a running tool can do with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::{Access, Grant, Target};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ToolContext;
use crate::call::{self, Execution};
use crate::{Arguments, Entry, Progress, Resolve, Scope, ToolError};

/// How many calls may be nested in each other.
const MAX_DEPTH: u32 = 16;

/// How long a call may take where neither its tool nor its caller says.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A timeout too long to be added to the clock counts as this.
const FOREVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// One call, from the inside.
pub(crate) struct CallScope {
    pub(crate) entry: Arc<Entry>,
    pub(crate) deadline: Instant,
    pub(crate) limit: Duration,
    pub(crate) depth: u32,
    /// What the call may touch, and with it every call that it makes.
    pub(super) grant: Arc<Grant>,
    /// Cancelled when the call ends in any way, and with it every call that it makes.
    pub(crate) token: CancellationToken,
    /// Whether this call, or one around it, holds a place of the blocking pool.
    pub(crate) has_place: AtomicBool,
    /// What this call and those around it have been admitted with, the outermost first.
    pub(crate) held: OnceLock<Arc<[Ticket]>>,
    /// Which attempt this is, from 1.
    pub(crate) attempt: u32,
    pub(crate) scope: Scope,
}

/// A call in the table of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// [`Admission::number`](crate::Admission::number)
    pub(crate) admission: u64,
    pub(crate) call: u64,
}

impl ToolContext {
    /// The context that a tool sees. Its token is a child of the caller's, cancelled when the call ends in any way.
    pub(crate) fn enter(&self, entry: Arc<Entry>, scope: Scope) -> Result<Self, ToolError> {
        let depth = self.depth() + 1;
        if depth > MAX_DEPTH {
            return Err(ToolError::ExecutionFailed {
                tool: entry.name().to_string(),
                message: format!("calls are nested deeper than {MAX_DEPTH}; do not call tools in a circle"),
            });
        }
        let now = Instant::now();
        let own = entry.tool().limits.timeout_ms.map(Duration::from_millis);
        let timeout = self.facts.timeout.or(own).unwrap_or(DEFAULT_TIMEOUT);
        let by_timeout = now.checked_add(timeout).unwrap_or_else(|| now + FOREVER);
        let deadline = self.deadline().map_or(by_timeout, |outer| by_timeout.min(Instant::from_std(outer)));
        let limit = deadline.saturating_duration_since(now).min(timeout);
        if limit.is_zero() {
            return Err(ToolError::Timeout { tool: entry.name().to_string(), limit: timeout });
        }
        let token = self.cancellation().child_token();
        let has_place = self.call().is_some_and(|call| call.has_place.load(Ordering::Relaxed)).into();
        let (grant, own_token) = (self.facts.grant.clone(), token.clone());
        let (held, attempt) = (OnceLock::new(), 1);
        let call =
            CallScope { entry, deadline, limit, depth, grant, token: own_token, has_place, held, attempt, scope };
        let call = Arc::new(call);
        let inner = Self { facts: self.facts.clone(), call: Some(call) };
        // A timeout and an approval were meant for this call alone, not for those that it makes.
        Ok(inner.with(|facts| {
            facts.cancellation = token;
            facts.timeout = None;
            facts.approved = Vec::new();
            facts.spot = None;
        }))
    }

    /// The context for one more attempt of the same call: what the last one left running is not part of it.
    pub(crate) fn next_attempt(&self, caller: &Self) -> Self {
        let token = caller.cancellation().child_token();
        let call = self.call.as_deref().map(|call| {
            let CallScope { entry, deadline, limit, depth, grant, has_place, held, attempt, scope, .. } = call;
            Arc::new(CallScope {
                entry: entry.clone(),
                deadline: *deadline,
                limit: *limit,
                depth: *depth,
                grant: grant.clone(),
                token: token.clone(),
                has_place: has_place.load(Ordering::Relaxed).into(),
                held: held.clone(),
                attempt: attempt.saturating_add(1),
                scope: scope.clone(),
            })
        });
        Self { facts: self.facts.clone(), call }.with(|facts| facts.cancellation = token)
    }

    /// Which attempt of its call this is, from 1; 0 outside of a call. A call that may be repeated is, after a
    /// [transient](ToolError::Transient) failure.
    pub fn attempt(&self) -> u32 {
        self.call.as_ref().map_or(0, |call| call.attempt)
    }

    /// The context of a call whose targets somebody approved of.
    pub(crate) fn with_approved(self, targets: Vec<Target>) -> Self {
        self.with(|facts| facts.approved = targets)
    }

    pub(crate) fn call(&self) -> Option<&CallScope> {
        self.call.as_deref()
    }

    /// Asks, before it is touched, for something that the arguments alone do not show: a walked directory, a redirect.
    ///
    /// # Errors
    /// [`ToolError::PermissionDenied`] when the grant does not cover it; [`ToolError::Denied`] when a rule of the policy is against
    /// it, and [`ToolError::Unapproved`] when the policy asks about it and nobody approved of it or of what it is below;
    /// [`ToolError::ExecutionFailed`] when `scheme:value` is no target.
    pub fn require(&self, access: Access, scheme: &str, value: &str) -> Result<(), ToolError> {
        let target =
            Target::new(access, scheme, value).map_err(|error| ToolError::execution_failed(self, error.to_string()))?;
        if !self.grant().permits(&target) && !self.facts.approved.contains(&target) {
            let (tool, granted) = (self.tool_text(), self.grant().clone());
            return Err(ToolError::PermissionDenied { tool, needed: vec![target], granted });
        }
        self.tool().map_or(Ok(()), |tool| self.check_policy(tool, &target))
    }

    /// The service of that type.
    ///
    /// # Errors
    /// [`ToolError::Unavailable`] when the host offers none. A tool that declares its needs is not called in that case.
    pub fn need<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        self.service::<T>().ok_or_else(|| ToolError::unmet(self.tool_text(), &[std::any::type_name::<T>()]))
    }

    /// Runs another tool from inside this one. It is looked up where this one was, may touch no more, and has to end no
    /// later.
    ///
    /// # Errors
    /// The future gives a [`ToolError`] when the tool could not be run or failed, or when nothing is running in this
    /// context.
    pub fn execute(&self, name: &str, arguments: impl Into<Arguments>) -> Execution {
        let Some(call) = &self.call else {
            let message = "no call is running in this context; use the execute of a catalog or a tool set".to_owned();
            return Execution::refused(ToolError::Internal { tool: name.to_owned(), message });
        };
        call::execute_in(call.scope.clone(), self, name, arguments)
    }

    /// The tool of that name, looked up where the running call was.
    ///
    /// # Errors
    /// As [`Resolve::resolve`], and [`ToolError::Internal`] when nothing is running in this context.
    pub fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        match &self.call {
            Some(call) => call.scope.resolve(name),
            None => Err(ToolError::internal(self, "no call is running in this context")),
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
    /// [`ToolError::Cancelled`] once the token is cancelled.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolError::Cancelled { tool: self.tool_text() }) } else { Ok(()) }
    }

    pub(crate) fn tool_text(&self) -> String {
        self.tool().map(ToString::to_string).unwrap_or_default()
    }
}
