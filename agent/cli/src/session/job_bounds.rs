//! [`JobBounds`]: the limits of a session that runs a job.

use std::collections::BTreeSet;

use tools::context::KnownTexts;
use tools::policy::{Rule, SensitivePath};
use tools::{Grant, Host};

/// The limits of a session that runs a job.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "default"), allow(dead_code))]
pub(crate) struct JobBounds {
    /// The id of the job.
    pub(crate) id: i64,
    /// The grant under which the job was made.
    pub(crate) grant: Grant,
    /// The tools of the session in which it was made.
    pub(crate) tools: BTreeSet<String>,
    /// The rules of that session that deny or ask.
    pub(crate) rules: Vec<Rule>,
    /// The sensitive paths of that session.
    pub(crate) paths: Vec<SensitivePath>,
    /// The principal of that session.
    pub(crate) principal: Option<String>,
    /// True if that session had read text from the open world.
    pub(crate) is_exposed: bool,
    /// True if its work is a call, which needs no model.
    pub(crate) is_call: bool,
}

impl JobBounds {
    /// Returns the context of the job: with the principal and the sensitive paths of the session that made it, and marked as that was.
    pub(super) fn enter(&self, context: Host) -> Host {
        let context = match self.is_exposed {
            true => {
                context.record_exposure();
                // Text of strangers may have chosen the prompt.
                context.with_service(KnownTexts::without_prompts())
            }
            false => context,
        };
        let paths = context
            .sensitive_paths()
            .clone()
            .with_paths(self.paths.iter().cloned());
        let context = context.with_sensitive_paths(paths);
        match &self.principal {
            Some(principal) => context.with_principal(principal.as_str()),
            None => context,
        }
    }
}
