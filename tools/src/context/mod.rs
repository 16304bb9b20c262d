//! [`ToolContext`]: the facts of one call.

mod approver;
mod domain;
mod layer;
mod need;
mod observer;
mod order;
mod parent_call;
mod permission;
mod place;
mod progress;
mod scope;
mod service;


use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{Clause, Grant, ToolName};
use tokio_util::sync::CancellationToken;

use crate::journal::Journal;
use crate::policy::SensitivePaths;
use crate::sync::Mutex;
use crate::{Entry, Layer, Policy};

pub use approver::{Approval, ApprovalFuture, Approver, Decision};
pub use need::Need;
pub use observer::DeadlineObserver;
pub use order::CallOrder;
pub use place::CallPlace;
pub use progress::{Progress, ProgressSink};
pub(crate) use scope::{CallScope, QueueNumber};
pub use service::Services;
pub(crate) use parent_call::{CallOrigin, ParentCall};

/// The facts of one call: who asks, what is granted, how long it may take, and what the host offers.
///
/// A host builds one for a session and hands it to every call; the counter hands the tool a copy that knows the call as
/// well. A fresh one has no grant, so it runs pure tools only. Cloning is cheap.
///
/// ```
/// use std::time::Duration;
/// use tools::{Grant, ToolContext};
///
/// let cx = ToolContext::new()
///     .with_grant(Grant::parse(["fs:read:**"])?)
///     .with_timeout(Duration::from_secs(5))
///     .with_session("session-1");
/// assert_eq!(cx.session(), Some("session-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ToolContext {
    facts: Arc<Facts>,
    call: Option<Arc<CallScope>>,
}

/// What a host says.
#[derive(Clone, Default)]
struct Facts {
    grant: Arc<Grant>,
    domains: domain::Domains,
    /// The spot that the next call takes.
    ticket: Option<Arc<Mutex<Option<order::Ticket>>>>,
    timeout: NotInherited<Option<Duration>>,
    deadline: Option<Instant>,
    cancellation: NotInherited<CancellationToken>,
    services: Services,
    progress: Option<Arc<dyn ProgressSink>>,
    approver: Option<Arc<dyn Approver>>,
    approval_timeout: Option<Duration>,
    policy: Option<Arc<Policy>>,
    /// `None` is the built-in table.
    sensitive_paths: Option<Arc<SensitivePaths>>,
    layers: Option<Arc<[Arc<dyn Layer>]>>,
    journal: Option<Arc<dyn Journal>>,
    /// The turn, and which of its calls.
    turn: Option<(u64, u32)>,
    parent_call: Option<Arc<ParentCall>>,
    observer: Option<Arc<dyn DeadlineObserver>>,
    call_id: Option<Arc<str>>,
    session: Option<Arc<str>>,
    principal: Option<Arc<str>>,
    channel: Option<Arc<str>>,
    chat: Option<Arc<str>>,
    correlation_id: Option<Arc<str>>,
    records_content: bool,
}

/// What holds at one depth of calls, and means nothing to the calls that are made from there.
#[derive(Clone, Default)]
struct NotInherited<T> {
    depth: u32,
    value: T,
}

impl ToolContext {
    /// A context without a grant, services, or anything else.
    pub fn new() -> Self {
        Self::default()
    }

    /// What calls may touch. Inside of a call this narrows: what the call itself may not touch stays out of reach.
    #[must_use]
    pub fn with_grant(self, grant: Grant) -> Self {
        let grant = match &self.call {
            Some(call) => call.caller.grant().intersect(&grant),
            None => grant,
        };
        self.with(|facts| facts.grant = Arc::new(grant))
    }

    /// How long each call may take, in place of the tool's own limit and of the default of 30 s.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        let depth = self.depth();
        self.with(|facts| facts.timeout = NotInherited { depth, value: Some(timeout) })
    }

    /// When every call has to be over. The earlier of this and the timeout holds.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        self.with(|facts| facts.deadline = Some(deadline))
    }

    /// What cancels the calls. Inside of a call, the end of that call cancels them as well.
    #[must_use]
    pub fn with_cancellation(self, token: CancellationToken) -> Self {
        let depth = self.depth();
        self.with(|facts| facts.cancellation = NotInherited { depth, value: token })
    }

    /// Offers a service to tools, in the place of an earlier one of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.with(|facts| facts.services.insert(service))
    }

    /// Offers these services, and nothing else, to tools.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        self.with(|facts| facts.services = services)
    }

    /// Who hears of progress.
    #[must_use]
    pub fn with_progress(self, sink: Arc<dyn ProgressSink>) -> Self {
        self.with(|facts| facts.progress = Some(sink))
    }

    /// Who is asked about a call that the grant does not cover, or that the [policy](Self::with_policy) asks about. Without one
    /// such a call is refused. Inside of a call this has no effect: a tool does not choose who approves of what it does.
    #[must_use]
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.approver = Some(approver)) }
    }

    /// Names the session.
    #[must_use]
    pub fn with_session(self, session: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.session = Some(session.into()))
    }

    /// Names on whose behalf calls run.
    #[must_use]
    pub fn with_principal(self, principal: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.principal = Some(principal.into()))
    }

    /// Names the channel that the conversation takes place on.
    #[must_use]
    pub fn with_channel(self, channel: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.channel = Some(channel.into()))
    }

    /// Names the conversation on its channel.
    #[must_use]
    pub fn with_chat(self, chat: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.chat = Some(chat.into()))
    }

    /// Names the request that all of this belongs to, across systems.
    #[must_use]
    pub fn with_correlation_id(self, id: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.correlation_id = Some(id.into()))
    }

    /// Whether the spans of calls carry their arguments and results. They do not where nobody says so. Secrets in arguments are
    /// [masked](crate::Entry::masked); what else they and the results say is on record then, wherever the host sends its spans.
    /// Inside of a call this can be switched off, but not on.
    #[must_use]
    pub fn with_recorded_content(self, is_recorded: bool) -> Self {
        let may = self.call.is_none() || self.facts.records_content;
        self.with(|facts| facts.records_content = is_recorded && may)
    }

    /// A context for nested calls that may touch only what this one may *and* these clauses allow.
    #[must_use]
    pub fn narrowed(&self, clauses: impl IntoIterator<Item = Clause>) -> Self {
        let grant = self.facts.grant.narrowed(clauses);
        self.clone().with_grant(grant)
    }

    /// What calls may touch.
    pub fn grant(&self) -> &Grant {
        &self.facts.grant
    }

    /// When the running call, and every call that it makes, has to be over; outside of a call, what the host set.
    pub fn deadline(&self) -> Option<Instant> {
        let running = self.call.as_ref().map(|call| call.deadline.into_std());
        running.into_iter().chain(self.facts.deadline).min()
    }

    /// Cancelled when the running call is taken back or its deadline passes. A tool that takes long watches it.
    pub fn cancellation(&self) -> &CancellationToken {
        match (&self.call, self.own_cancellation()) {
            (Some(call), None) => call.token(),
            _ => &self.facts.cancellation.value,
        }
    }

    /// Whether the running call was taken back or its deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        match &self.call {
            Some(call) => call.is_over() || self.own_cancellation().is_some_and(CancellationToken::is_cancelled),
            None => self.facts.cancellation.value.is_cancelled(),
        }
    }

    /// The service of that type, where the host offers one.
    pub fn service<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.facts.services.get::<T>()
    }

    /// All services that the host offers.
    pub fn services(&self) -> &Services {
        &self.facts.services
    }

    /// The id of the call, as the model named it.
    pub fn call_id(&self) -> Option<&str> {
        self.facts.call_id.as_deref()
    }

    /// The session.
    pub fn session(&self) -> Option<&str> {
        self.facts.session.as_deref()
    }

    /// On whose behalf calls run.
    pub fn principal(&self) -> Option<&str> {
        self.facts.principal.as_deref()
    }

    /// The channel that the conversation takes place on.
    pub fn channel(&self) -> Option<&str> {
        self.facts.channel.as_deref()
    }

    /// The conversation on its channel.
    pub fn chat(&self) -> Option<&str> {
        self.facts.chat.as_deref()
    }

    /// The request that all of this belongs to.
    pub fn correlation_id(&self) -> Option<&str> {
        self.facts.correlation_id.as_deref()
    }

    /// The tool that is running; `None` outside of a call.
    pub fn tool(&self) -> Option<&ToolName> {
        self.entry().map(Entry::name)
    }

    /// How many calls are around this one: 0 outside of a call, 1 in a call, 2 in a call made by that.
    pub fn depth(&self) -> u32 {
        self.call.as_ref().map_or(0, |call| call.depth)
    }

    /// How long each call may take, where this was said here and not by a caller further out.
    fn timeout(&self) -> Option<Duration> {
        self.facts.timeout.value.filter(|_| self.facts.timeout.depth == self.depth())
    }

    /// The token that was set here, and not by a caller further out.
    fn own_cancellation(&self) -> Option<&CancellationToken> {
        let NotInherited { depth, value } = &self.facts.cancellation;
        (*depth == self.depth()).then_some(value)
    }

    pub(crate) fn records_content(&self) -> bool {
        self.facts.records_content
    }

    pub(crate) fn approver(&self) -> Option<&Arc<dyn Approver>> {
        self.facts.approver.as_ref()
    }

    fn with(mut self, change: impl FnOnce(&mut Facts)) -> Self {
        change(Arc::make_mut(&mut self.facts));
        self
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("tool", &self.tool())
            .field("call_id", &self.call_id())
            .field("session", &self.session())
            .field("grant", self.grant())
            .field("services", self.services())
            .field("depth", &self.depth())
            .finish_non_exhaustive()
    }
}
