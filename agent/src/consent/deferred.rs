//! [`DeferredConsent`]: an approver that ends the run instead of waiting for a person.

use std::sync::{Arc, Mutex, MutexGuard};

use tools::context::ApprovalFuture;
use tools::{Approval, Approver, Basis, Decision, Host, IgnorePoison as _, ToolContext};

use super::remembered::{Memory, Remembered};
use super::{ApprovalKey, ApprovalQuestion, ApprovalRequest};

/// The reason of a refusal of a call whose effect nobody could see.
const HIDDEN: &str = "the effect of the call cannot be shown, and the file runs by itself or decides what tools may do, so no deferred \
                      answer permits it";

/// An [`Approver`] for programs that cannot wait for a person.
///
/// - A call that needs an approval does not run. When the other calls of its turn have results, the run ends with
///   [`Outcome::WaitingForApproval`](crate::Outcome::WaitingForApproval) and the requests.
/// - With an answer to each request, [`Driver::resume`](crate::Driver::resume) continues the run: that of [`Session::waiting_run`], or in
///   another process the [stored](crate::Session::stored_run) one.
/// - An answer fits only the call of the run that it was given for, with the same digests of tool, arguments and
///   [shown effect](ApprovalRequest::effect_digest). If the tool or a shown file has changed since, the run waits for another answer.
/// - No answer permits a call whose effect [cannot be shown](ApprovalRequest::preview) and [must be](ApprovalQuestion::needs_preview).
/// - An answer is used up by the call. The last of two answers to a request holds.
/// - An approval of a call that asks only about hosts which no grant [names](ApprovalQuestion::holds_for_hosts) also holds for later calls
///   of the tool on these hosts, in the same [session](tools::ToolContext::session), or in the same run if the session has no name. This value
///   remembers it: a run that another process resumes asks again.
/// - Sessions can share it: each run gets its own requests.
/// - A call that another call makes cannot wait. It is refused, as are the calls of a sub-agent.
///
/// ```
/// use agent::consent::DeferredConsent;
/// use tools::{Host, Policy};
///
/// let host = DeferredConsent::new().enter(Host::new().with_policy(Policy::by_effects()));
/// # assert!(host.service::<DeferredConsent>().is_some());
/// ```
///
/// [`Session::waiting_run`]: crate::Session::waiting_run
#[derive(Default)]
pub struct DeferredConsent {
    answers: Mutex<Vec<(ApprovalRequest, Decision)>>,
    hosts: Remembered,
    otherwise: Option<Arc<dyn Approver>>,
}

impl DeferredConsent {
    /// Creates an approver without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes this the approver of a host, and a service of it. If the host has an approver, that one decides about requests without
    /// an answer, and no call is deferred.
    pub fn enter(mut self, host: Host) -> Host {
        self.otherwise = host.approver().cloned();
        let consent = Arc::new(self);
        let mut services = host.services().clone();
        services.insert_shared(consent.clone());
        host.with_services(services).with_approver(consent)
    }

    /// Approves the call of a request.
    pub fn allow(&self, request: ApprovalRequest) {
        self.answer(request, Decision::Allow);
    }

    /// Denies the call of a request, with a reason for the model.
    pub fn deny(&self, request: ApprovalRequest, reason: impl Into<String>) {
        let reason = reason.into();
        self.answer(request, Decision::Deny { reason });
    }

    fn answer(&self, request: ApprovalRequest, decision: Decision) {
        let mut answers = self.answers.lock().ignore_poison();
        // The last of two answers holds.
        answers.retain(|(answered, _)| answered.id != request.id);
        answers.push((request, decision));
    }

    /// Removes and returns the last answer that fits a request.
    fn take_answer(&self, request: &ApprovalRequest) -> Option<Decision> {
        let mut answers = self.answers.lock().ignore_poison();
        let position = answers
            .iter()
            .rposition(|(answered, _)| answered.covers(request))?;
        // An answer is for one call: a second equal call is another decision.
        Some(answers.remove(position).1)
    }

    async fn decide(&self, approval: Approval<'_>) -> Decision {
        let requests = DeferredRequests::of_run(approval.cx);
        let mut deferred = None;
        if let Some(requests) = requests {
            let request = ApprovalRequest::from_approval(&approval, &requests.key).await;
            deferred = request.map(|request| (request, requests));
        }
        // Sessions without a name cannot be told apart.
        let run = deferred.as_ref().map(|(_, requests)| requests.key);
        let run = run.filter(|_| approval.cx.session().is_none());
        let answer = deferred
            .as_ref()
            .and_then(|(request, _)| Some((request, self.take_answer(request)?)));
        if let Some((request, decision)) = answer {
            // As at a terminal, where such a question takes no yes.
            if request.is_hidden() && ApprovalQuestion::new(approval).needs_preview() {
                let reason = HIDDEN.to_owned();
                return Decision::Deny { reason };
            }
            if decision == Decision::Allow && ApprovalQuestion::new(approval).holds_for_hosts() {
                self.hosts.add(&approval, run, Basis::Arguments);
            }
            return decision;
        }
        if self.hosts.recall(&approval, run) == Memory::Holds {
            return Decision::Allow;
        }
        if let Some(approver) = &self.otherwise {
            return approver.approve(approval).await;
        }
        if let Some((request, requests)) = deferred {
            requests.push(request);
        }
        Decision::Abstain
    }
}

impl Approver for DeferredConsent {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(self.decide(approval))
    }
}

tools::debug_fields!(self: DeferredConsent { answers = self.answers.lock().ignore_poison().len() });

/// The requests of a run for approvals, until its driver takes them. A service of the calls of a run whose approvals can wait.
pub(crate) struct DeferredRequests {
    pub(super) key: ApprovalKey,
    requests: Mutex<Vec<ApprovalRequest>>,
}

impl DeferredRequests {
    /// Creates the service of a run with this key.
    pub(crate) fn new(key: ApprovalKey) -> Self {
        Self {
            key,
            requests: Mutex::default(),
        }
    }

    /// Returns the service of a run. Returns `None` for the calls of a running call, such as those of a sub-agent, which cannot wait:
    /// what they belong to cannot be repeated.
    pub(crate) fn of_run(cx: &ToolContext) -> Option<Arc<Self>> {
        let is_inner = cx.depth() > 0 || cx.agent().is_some();
        cx.service().filter(|_| !is_inner)
    }

    pub(super) fn push(&self, request: ApprovalRequest) {
        self.lock().push(request);
    }

    /// Removes and returns the request of a call.
    pub(crate) fn take(&self, call: &str) -> Option<ApprovalRequest> {
        let mut requests = self.lock();
        let position = requests.iter().position(|request| request.call == call)?;
        Some(requests.swap_remove(position))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ApprovalRequest>> {
        self.requests.lock().ignore_poison()
    }
}
