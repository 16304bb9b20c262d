//! [`ToolContext`]: the facts of one call.

mod agent;
mod approver;
pub(crate) mod deadline;
mod file_authors;
mod host;
mod known_texts;
pub(crate) mod order;
mod parent_call;
mod permission;
pub(crate) mod person_clock;
pub(crate) mod place;
mod progress;
mod protected_file;
mod scope;
mod service;
mod spelling;
mod workspace_domain;

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::wire::Format;
use protocol::{Clause, Grant, ToolName};
use tokio_util::sync::CancellationToken;

use crate::entry::Entry;
use crate::journal::Journal;
use crate::layer::Layer;
use crate::policy::{Policy, SensitivePaths};
use crate::sync::Mutex;

pub use self::approver::{
    AnswerFuture, Approval, ApprovalFuture, Approver, Decision, NobodyThere, Person,
};
pub(crate) use self::deadline::DeadlineObserver;
pub use self::file_authors::{Exposure, FileAuthors, FileJudge, WriteWatch};
pub(crate) use self::scope::{CallScope, QueueNumber, ScopeSpan};
pub use self::service::{Need, ServiceField, Services};
pub use agent::AgentError;
pub use host::Host;
pub use known_texts::{KnownTexts, UrlCount};
pub(crate) use order::CallOrder;
pub(crate) use parent_call::{CallOrigin, ParentCall};
pub(crate) use person_clock::PersonClock;
pub use progress::{Progress, ProgressSink};
pub use protected_file::{ProtectedFate, ProtectedFile};
pub(crate) use spelling::error_result;
pub use workspace_domain::WorkspaceDomain;

/// The facts of a call: its caller, grant, deadline, cancellation token and services.
///
/// The pipeline passes one to the running tool: it [requires](Self::require) targets and [needs](Self::need) services,
/// [asks](Self::ask), [reports](Self::report) and [executes](Self::execute) other tools. A [`Host`] has the context of calls that no
/// tool makes. Cloning is cheap.
#[derive(Clone)]
#[must_use]
pub struct ToolContext {
    facts: Arc<Facts>,
    call: Option<Arc<CallScope>>,
}

/// Domains by scheme. A list is enough for the few that there are.
type Domains = Vec<(Arc<str>, Arc<str>)>;

/// The settings of the host.
#[derive(Clone, Default)]
struct Facts {
    grant: Arc<Grant>,
    /// The grant of the call that a preview describes.
    previewed: Option<Arc<Grant>>,
    domains: Option<Arc<Domains>>,
    /// The ticket of the next call in its order.
    ticket: Option<Arc<Mutex<Option<order::Ticket>>>>,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    cancellation: NotInherited<CancellationToken>,
    services: Services,
    progress: Option<Arc<dyn ProgressSink>>,
    approver: Option<Arc<dyn Approver>>,
    approval_timeout: Option<Duration>,
    person: Option<Arc<dyn Person>>,
    policy: Option<Arc<Policy>>,
    /// `None` means the built-in table.
    sensitive_paths: Option<Arc<SensitivePaths>>,
    layers: Option<Arc<[Arc<dyn Layer>]>>,
    journal: Option<Arc<dyn Journal>>,
    /// The turn, and the index of the call in it.
    turn: Option<(u64, u32)>,
    parent_call: Option<Arc<ParentCall>>,
    observer: NotInherited<Option<Arc<dyn DeadlineObserver>>>,
    person_clock: Option<Arc<PersonClock>>,
    call_id: Option<Arc<str>>,
    session: Option<Arc<str>>,
    principal: Option<Arc<str>>,
    /// The path of the sub-agent that makes the calls.
    agent: Option<Arc<str>>,
    channel: Option<Arc<str>>,
    chat: Option<Arc<str>>,
    correlation_id: Option<Arc<str>>,
    wire: Option<Format>,
    records_content: bool,
}

/// A setting that nested calls do not inherit.
#[derive(Clone, Default)]
struct NotInherited<T> {
    depth: u32,
    value: T,
}

impl ToolContext {
    /// Sets the token that cancels calls. Inside of a call, nested calls are also cancelled when that call ends.
    pub fn with_cancellation(self, token: CancellationToken) -> Self {
        let depth = self.depth();
        self.with(|facts| {
            facts.cancellation = NotInherited {
                depth,
                value: token,
            }
        })
    }

    /// Adds a service for tools and replaces an earlier one of the same type.
    pub fn with_service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.with(|facts| facts.services.insert(service))
    }

    /// Replaces all services.
    pub fn with_services(self, services: Services) -> Self {
        self.with(|facts| facts.services = services)
    }

    /// Returns a context for nested calls, with the intersection of this grant and these clauses.
    pub fn narrow(&self, clauses: impl IntoIterator<Item = Clause>) -> Self {
        let grant = self.facts.grant.narrow(clauses);
        self.clone().with(|facts| facts.grant = Arc::new(grant))
    }

    /// Returns the grant.
    pub fn grant(&self) -> &Grant {
        &self.facts.grant
    }

    /// Returns the deadline of the running call and its nested calls. Outside of a call, returns the host's deadline, if any.
    ///
    /// The deadline moves while the call waits for the answer to a [question](Self::ask), or for the approval of a nested call.
    pub fn deadline(&self) -> Option<Instant> {
        let running = self.call.as_ref().map(|call| call.deadline.at().into_std());
        running.into_iter().chain(self.facts.deadline).min()
    }

    /// Returns a token that is cancelled when the running call is cancelled or its deadline passes. A long-running tool should watch it.
    pub fn cancellation(&self) -> &CancellationToken {
        match (&self.call, self.own_cancellation()) {
            // A token that an outer call set is not this call's: it would end too late.
            (Some(call), None) => call.token(),
            _ => &self.facts.cancellation.value,
        }
    }

    /// Returns true if the running call was cancelled or its deadline passed.
    pub fn is_cancelled(&self) -> bool {
        match &self.call {
            Some(call) => {
                call.is_over()
                    || self
                        .own_cancellation()
                        .is_some_and(CancellationToken::is_cancelled)
            }
            None => self.facts.cancellation.value.is_cancelled(),
        }
    }

    /// Returns the service of this type, or `None` if the host offers none.
    pub fn service<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.facts.services.get::<T>()
    }

    /// Returns all services.
    pub fn services(&self) -> &Services {
        &self.facts.services
    }

    /// Returns the call id from the model.
    pub fn call_id(&self) -> Option<&str> {
        self.facts.call_id.as_deref()
    }

    /// Returns the running tool, or `None` outside of a call.
    pub fn tool(&self) -> Option<&ToolName> {
        self.entry().map(Entry::name)
    }

    /// Returns the nesting depth: 0 outside of a call, 1 in a call, 2 in a call made by that call.
    pub fn depth(&self) -> u32 {
        self.call.as_ref().map_or(0, |call| call.depth)
    }

    /// Returns the domain of a scheme, or an empty string if none is set.
    pub fn domain(&self, scheme: &str) -> &str {
        let domains = self.facts.domains.as_deref().map_or(&[][..], Vec::as_slice);
        domains
            .iter()
            .find(|(held, _)| **held == *scheme)
            .map_or("", |(_, domain)| domain)
    }

    /// Removes the channel and the chat, for a call that runs outside of the conversation.
    pub fn without_conversation(&self) -> Self {
        self.clone()
            .with(|facts| (facts.channel, facts.chat) = (None, None))
    }

    /// Returns the name of the session.
    pub fn session(&self) -> Option<&str> {
        self.facts.session.as_deref()
    }

    /// Returns the principal, the user on whose behalf calls run.
    pub fn principal(&self) -> Option<&str> {
        self.facts.principal.as_deref()
    }

    /// Returns the channel of the conversation.
    pub fn channel(&self) -> Option<&str> {
        self.facts.channel.as_deref()
    }

    /// Returns the id of the conversation on its channel.
    pub fn chat(&self) -> Option<&str> {
        self.facts.chat.as_deref()
    }

    /// Returns the correlation id.
    pub fn correlation_id(&self) -> Option<&str> {
        self.facts.correlation_id.as_deref()
    }

    /// Returns the cancellation token, or `None` if it was not set at this depth.
    fn own_cancellation(&self) -> Option<&CancellationToken> {
        let NotInherited { depth, value } = &self.facts.cancellation;
        (*depth == self.depth()).then_some(value)
    }

    /// Returns true if spans record content.
    pub fn records_content(&self) -> bool {
        self.facts.records_content
    }

    /// Returns the approver, or `None` if there is none.
    pub fn approver(&self) -> Option<&Arc<dyn Approver>> {
        self.facts.approver.as_ref()
    }

    fn with(mut self, change: impl FnOnce(&mut Facts)) -> Self {
        change(Arc::make_mut(&mut self.facts));
        self
    }

    /// Returns the layers, the outermost first.
    pub(crate) fn layers(&self) -> &[Arc<dyn Layer>] {
        self.facts.layers.as_deref().unwrap_or_default()
    }

    /// Returns true if both contexts belong to the same running call.
    pub(crate) fn is_of_same_call(&self, other: &Self) -> bool {
        match (&self.call, &other.call) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

crate::debug_fields!(self: ToolContext {
    tool = self.tool(),
    call_id = self.call_id(),
    session = self.session(),
    grant = self.grant(),
    services = self.services(),
    depth = self.depth()
});
