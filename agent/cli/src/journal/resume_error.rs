//! [`ResumeError`]: a session would continue with another model provider than it began with.

use host::{CommandError, Exit};

use crate::config::Setting;
use crate::shell;

/// A session would continue with another provider, or at another service, and no flag names it.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResumeError {
    #[error(
        "the session {name} began with the provider {provider}, and the settings choose {chosen}; name the one that gets its \
         conversation with --provider"
    )]
    OtherProvider {
        name: String,
        provider: String,
        chosen: String,
    },
    #[error(transparent)]
    OtherService(Box<OtherService>),
}

/// The provider of a session would have another service than the session began with.
#[derive(Debug, thiserror::Error)]
#[error("the session {name} began with the provider {provider} at {}, and {}; {}", self.began_at(), self.now(), self.advice())]
pub(super) struct OtherService {
    pub(super) name: String,
    pub(super) provider: String,
    /// The recorded URL, or `None` for the provider's usual service.
    pub(super) began_at: Option<String>,
    /// The URL of the settings, or `None` for the provider's usual service.
    pub(super) configured: Option<Setting<String>>,
    /// True if the journal is one of the user's own, so that its URL can be advised.
    pub(super) is_of_user: bool,
}

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl OtherService {
    fn began_at(&self) -> &str {
        self.began_at.as_deref().unwrap_or("its usual service")
    }

    fn now(&self) -> String {
        match &self.configured {
            Some(url) => format!("{} names {}", url.origin, url.value),
            None => "no setting names that service".to_owned(),
        }
    }

    fn advice(&self) -> String {
        let flag = |url: &String| format!("--base-url {}", shell::quoted(url));
        let first = self.began_at.as_ref().filter(|_| self.is_of_user);
        match (
            first.map(flag),
            self.configured.as_ref().map(|url| flag(&url.value)),
        ) {
            (Some(first), Some(other)) => {
                format!("continue it there with {first}, or at the other one with {other}")
            }
            (Some(first), None) => format!("continue it there with {first}"),
            (None, Some(other)) => format!("continue it at the other one with {other}"),
            (None, None) => {
                "continue it with --base-url and the URL of a service that you trust".to_owned()
            }
        }
    }
}
