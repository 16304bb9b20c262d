//! [`JobScope`]: the limits of a session that runs a job.

use host::sessions::SessionScope;
use host::settings::Settings;
use host::ungranted::{GRANT, Ungranted, flags};
use host::{CommandError, Exit};
use tools::context::KnownTexts;
use tools::{Host, Target};

use crate::job::{Job, Work};
use crate::schedule::Schedule;

/// The limits of a session that runs a job: those of the session that made it.
#[derive(Clone, Debug)]
pub(super) struct JobScope(pub(super) Job);

impl SessionScope for JobScope {
    fn settings(&self, settings: Settings, has_provider: bool) -> Result<Settings, CommandError> {
        let id = self.0.id;
        let spec = &self.0.spec;
        if !has_provider {
            // The default provider would read the prompt as calls.
            let error = format!(
                "job {id} is a prompt, and no provider is configured; choose one with --provider, or set the key of one"
            );
            return Err(CommandError::new(Exit::Usage, error));
        }
        let origin = format!("the session that made job {id}");
        let rules = spec.rules.iter();
        let rules = rules.map(|rule| rule.clone().with_origin(&*origin));
        let grant = spec.grant.clone().with_origin(format!("job {id}"));
        Ok(settings.within_job(grant, rules.collect()))
    }

    /// Returns the context of the job: with the principal and the sensitive paths of the session that made it, and marked as that was.
    fn enter(&self, host: Host) -> Host {
        let spec = &self.0.spec;
        let host = if spec.exposed {
            host.record_exposure();
            // Text of strangers may have chosen the prompt.
            host.with_service(KnownTexts::without_prompts())
        } else {
            host
        };
        let paths = host.sensitive_paths().clone();
        let host = host.with_sensitive_paths(paths.with_paths(spec.paths.iter().cloned()));
        match &spec.principal {
            Some(principal) => host.with_principal(principal.as_str()),
            None => host,
        }
    }

    /// Returns the hint about refused targets of a job, which may have been for one time.
    fn how_to_grant(&self, refused: &Ungranted<'_>) -> String {
        let is_beyond = |target: &&Target| refused.is_beyond([*target]);
        let beyond: Vec<_> = refused.needed.iter().filter(is_beyond).cloned().collect();
        // A job keeps no consent of the session that made it, so a grant is all that counts there.
        let asks =
            |target: &&Target| !is_beyond(target) || (refused.consenting_flag)(target) != GRANT;
        let asking: Vec<_> = refused.needed.iter().filter(asks).cloned().collect();
        let add = format!("add {} to `cron run`", refused.consenting_flags(&asking));
        if beyond.is_empty() {
            let anew = match self.0.spec.schedule {
                Schedule::Once(_) => ", and make the job anew, which was for one time",
                _ => "",
            };
            return format!("to allow it in jobs, {add}{anew}");
        }
        let anew = format!(
            "make it anew in a session with {}",
            flags(&beyond, |_| GRANT)
        );
        let add = if asking.is_empty() {
            String::new()
        } else {
            format!(", and {add}")
        };
        format!("the job keeps to the grant under which it was made; {anew}{add}")
    }

    fn has_tool(&self, name: &str) -> bool {
        self.0.spec.tools.iter().any(|tool| tool == name)
    }

    fn is_call(&self) -> bool {
        matches!(self.0.spec.work, Work::Call { .. })
    }

    fn job(&self) -> Option<i64> {
        Some(self.0.id)
    }
}
