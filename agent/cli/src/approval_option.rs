//! [`ApprovalOptions`]: approvals that are given after the run has ended.

use agent::{ApprovalRequest, DeferredConsent, Run, Session};
use clap::Args;

use crate::error::Error;

/// The reason of a denied call, for the model.
const DENIED: &str = "a person denied it";

/// The options of runs that do not wait for a person.
#[derive(Args, Debug, Default)]
pub(crate) struct ApprovalOptions {
    /// Without a terminal, do not refuse calls that need approval: print the requests as JSON, and exit with code 11. The session
    /// continues with --resume and the answers
    #[arg(long)]
    defer_approvals: bool,

    /// Approve the call of this request in the session of --resume. Other calls that need approval wait too
    #[arg(long, value_name = "REQUEST", requires = "resume")]
    approve: Vec<String>,

    /// Deny the call of this request in the session of --resume
    #[arg(long, value_name = "REQUEST", requires = "resume")]
    deny: Vec<String>,
}

impl ApprovalOptions {
    /// Returns the approver of the run. Returns `None` if these options ask for nothing.
    pub(crate) fn consent(&self) -> Option<DeferredConsent> {
        let is_used = self.defer_approvals || !self.approve.is_empty() || !self.deny.is_empty();
        is_used.then(DeferredConsent::new)
    }

    /// Gives the session the answers to the requests of its run.
    ///
    /// # Errors
    /// - Returns [`Error::Unrecorded`] if the session could not be resumed with an answer.
    /// - Returns [`Error::NoRequest`] if the run waits for no such request.
    pub(crate) fn answer(&self, session: &Session, run: Option<&Run>) -> Result<(), Error> {
        let cx = session.context();
        let Some(consent) = cx.service::<DeferredConsent>() else {
            return Ok(());
        };
        if !cx.is_recorded() || cx.session().is_none() {
            return Err(Error::Unrecorded);
        }
        let requests = run.map(Run::waiting_requests).unwrap_or_default();
        for id in &self.approve {
            consent.allow(named(id, requests)?);
        }
        for id in &self.deny {
            consent.deny(named(id, requests)?, DENIED);
        }
        Ok(())
    }
}

/// Returns the request of that id.
fn named(id: &str, requests: &[ApprovalRequest]) -> Result<ApprovalRequest, Error> {
    let found = requests.iter().find(|request| request.id == id).cloned();
    found.ok_or_else(|| {
        let waiting = requests.iter().map(|request| request.id.clone()).collect();
        Error::NoRequest {
            id: id.to_owned(),
            waiting,
        }
    })
}
