//! [`Host`]: the settings with which a host makes calls.

use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::Grant;
use protocol::wire::Format;
use tokio_util::sync::CancellationToken;

use super::place::CallPlace;
use super::{Approver, Facts, Person, ProgressSink, Services, ToolContext};
use crate::journal::Journal;
use crate::layer::Layer;
use crate::policy::{Policy, SensitivePaths};

/// The settings with which a host makes calls: grant, policy, approver, services and more.
///
/// A host builds one for a session and passes it to `execute` as the [`ToolContext`] that it dereferences to. The pipeline passes the
/// tool a context that also contains the running call. A new host has no grant, so it runs pure tools only. Cloning is cheap.
///
/// ```
/// use std::time::Duration;
/// use tools::{Grant, Host};
///
/// let host = Host::new()
///     .with_grant(Grant::parse(["fs:read:**"])?)
///     .with_timeout(Duration::from_secs(5))
///     .with_session("session-1");
/// assert_eq!(host.session(), Some("session-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Both lines compile. With the first, each read fails as outside of the grant:
///
/// ```text
/// catalog.execute(&Host::new(), "fs.read", arguments)                                          // wrong: no grant
/// catalog.execute(&Host::new().with_grant(Grant::parse(["fs:read:**"])?), "fs.read", arguments) // right
/// ```
///
/// A tool chooses neither its policy nor its approver, person, journal, layers or time limit, because its context has no such setters:
///
/// ```compile_fail,E0599
/// fn tool(cx: &tools::ToolContext) {
///     cx.clone().with_policy(tools::Policy::by_effects());
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Host(ToolContext);

impl Host {
    /// Creates a host without a grant and without services.
    #[expect(clippy::new_without_default, reason = "one way to make it is enough")]
    pub fn new() -> Self {
        Self(ToolContext {
            facts: Arc::default(),
            call: None,
        })
    }

    /// Sets the grant.
    pub fn with_grant(self, grant: Grant) -> Self {
        self.with(|facts| facts.grant = Arc::new(grant))
    }

    /// Sets the policy: the rules that allow, ask about or deny granted calls.
    ///
    /// Without a policy all granted calls run, even destroying ones, except on sensitive paths and
    /// [unnamed hosts](crate::policy::Reason::UnnamedHost). Use [`Policy::by_effects`] to ask before writes.
    pub fn with_policy(self, policy: impl Into<Arc<Policy>>) -> Self {
        self.with(|facts| facts.policy = Some(policy.into()))
    }

    /// Sets the sensitive paths (settings, files that run automatically, build files), in place of the
    /// [built-in](SensitivePaths::default) table.
    pub fn with_sensitive_paths(self, paths: impl Into<Arc<SensitivePaths>>) -> Self {
        self.with(|facts| facts.sensitive_paths = Some(paths.into()))
    }

    /// Sets the approver, which decides about calls outside of the grant and calls that the [policy](Self::with_policy) asks about.
    /// Without an approver, such calls are refused.
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Self {
        self.with(|facts| facts.approver = Some(approver))
    }

    /// Sets the time limit of an approval or a [question](ToolContext::ask), including its wait in the queue. The default is
    /// [5 minutes](crate::Approval::DEFAULT_TIMEOUT).
    pub fn with_approval_timeout(self, timeout: Duration) -> Self {
        self.with(|facts| facts.approval_timeout = Some(timeout))
    }

    /// Sets the person who answers [questions](ToolContext::ask) of tools. Without one, questions fail with
    /// [`NobodyThere`](super::NobodyThere).
    pub fn with_person(self, person: Arc<dyn Person>) -> Self {
        self.with(|facts| facts.person = Some(person))
    }

    /// Sets the time limit of each call, nested calls included. It replaces the tool's own limit and the default of 30 s, unless the tool
    /// [delegates](protocol::Limits::delegates).
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.with(|facts| facts.timeout = Some(timeout))
    }

    /// Sets the time by which every call must end. A call ends at the earlier of this and its timeout.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        self.with(|facts| facts.deadline = Some(deadline))
    }

    /// Sets the token that cancels calls.
    pub fn with_cancellation(self, token: CancellationToken) -> Self {
        Self(self.0.with_cancellation(token))
    }

    /// Adds a service for tools and replaces an earlier one of the same type.
    pub fn with_service<T: Send + Sync + 'static>(self, service: T) -> Self {
        Self(self.0.with_service(service))
    }

    /// Sets the reason that the host offers no service of this type, as [`Services::insert_absent`] does.
    pub fn with_absent_service<T: Send + Sync + 'static>(
        self,
        reason: impl Into<Arc<str>>,
    ) -> Self {
        self.with(|facts| facts.services.insert_absent::<T>(reason))
    }

    /// Replaces all services.
    pub fn with_services(self, services: Services) -> Self {
        Self(self.0.with_services(services))
    }

    /// Sets the receiver of progress reports.
    pub fn with_progress(self, sink: Arc<dyn ProgressSink>) -> Self {
        self.with(|facts| facts.progress = Some(sink))
    }

    /// Sets the [journal](crate::journal), which records every call, so that a replayed conversation runs no call twice.
    pub fn with_journal(self, journal: Arc<dyn Journal>) -> Self {
        self.with(|facts| facts.journal = Some(journal))
    }

    /// Adds a layer around all tools, inside of the layers that were added before.
    pub fn with_layer(self, layer: Arc<dyn Layer>) -> Self {
        let layers: Arc<[_]> = self.layers().iter().cloned().chain([layer]).collect();
        self.with(|facts| facts.layers = Some(layers))
    }

    /// Sets the domain of a scheme, such as the root directory of `fs` paths. Calls in different domains never conflict.
    ///
    /// - Use the same name in all sessions, and identify the resource itself: device and inode, not a path that may contain links.
    /// - Use one domain for roots of which one contains the other.
    ///
    /// Without a domain, sessions with different roots may wait for each other unnecessarily.
    pub fn with_domain(self, scheme: impl Into<Arc<str>>, domain: impl Into<Arc<str>>) -> Self {
        let scheme = scheme.into();
        let domain = domain.into();
        self.with(|facts| {
            let domains = Arc::make_mut(facts.domains.get_or_insert_default());
            domains.retain(|(held, _)| *held != scheme);
            domains.push((scheme, domain));
        })
    }

    /// Sets the name of the session.
    pub fn with_session(self, session: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.session = Some(session.into()))
    }

    /// Sets the principal, the user on whose behalf calls run.
    pub fn with_principal(self, principal: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.principal = Some(principal.into()))
    }

    /// Sets the channel of the conversation, such as a messaging service.
    pub fn with_channel(self, channel: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.channel = Some(channel.into()))
    }

    /// Sets the id of the conversation on its channel.
    pub fn with_chat(self, chat: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.chat = Some(chat.into()))
    }

    /// Sets the correlation id, which identifies a request across systems.
    pub fn with_correlation_id(self, id: impl Into<Arc<str>>) -> Self {
        self.with(|facts| facts.correlation_id = Some(id.into()))
    }

    /// Sets the format in which the model knows the tools, as [`ToolContext::with_wire`] does.
    pub fn with_wire(self, format: Format) -> Self {
        Self(self.0.with_wire(format))
    }

    /// Sets the place of the next call, as [`CallPlace::enter`] does.
    pub fn with_place(self, place: CallPlace) -> Self {
        Self(place.enter(self.0))
    }

    /// Sets whether the spans of calls record arguments and results. Off by default.
    ///
    /// Secrets in arguments are [masked](crate::Entry::mask). All other content goes to the receiver of the spans.
    pub fn with_recorded_content(self, is_recorded: bool) -> Self {
        self.with(|facts| facts.records_content = is_recorded)
    }

    fn with(self, change: impl FnOnce(&mut Facts)) -> Self {
        Self(self.0.with(change))
    }
}

impl Deref for Host {
    type Target = ToolContext;

    /// Returns the context of calls that no tool makes.
    fn deref(&self) -> &ToolContext {
        &self.0
    }
}

impl From<Host> for ToolContext {
    fn from(host: Host) -> Self {
        host.0
    }
}

impl ToolContext {
    /// Returns the settings of the host, to make calls with others. Returns `None` inside of a call, because a tool cannot change them.
    pub fn host(&self) -> Option<Host> {
        self.call.is_none().then(|| Host(self.clone()))
    }
}
