//! [`UnattendedOptions`]: the options of commands that run a session for each job or chat, in which nobody is asked.

use clap::Args;

#[cfg(feature = "default")]
use super::Chat;
#[cfg(feature = "default")]
use super::JobBounds;
use super::SessionOptions;
use super::agent_options::AgentOptions;
use crate::config::{KeyFlags, Settings};
use crate::error::Error;
use crate::journal::{ContentOption, JournalOptions};
use crate::notice;
use crate::provider_choice::ProviderChoice;

/// The options of commands that run a session for each job or chat, in which nobody is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct UnattendedOptions {
    #[command(flatten)]
    pub(crate) agent: AgentOptions,

    #[command(flatten)]
    content: ContentOption,
}

impl UnattendedOptions {
    /// Returns the effective settings of the files and these options.
    pub(crate) async fn settings(&self) -> Result<Settings, Error> {
        Ok(self.new_session().settings().await?.0)
    }

    /// Checks the provider, its model and the limits, before a session is opened, and notes the choice.
    ///
    /// # Errors
    /// Returns the error that opening a session would return.
    pub(crate) fn check_model(&self, settings: &Settings) -> Result<(), Error> {
        ProviderChoice::from_settings(settings)
            .note
            .iter()
            .for_each(|note| notice::note(note));
        self.new_session().check_model(settings)
    }

    /// Returns the options of the session of a job.
    #[cfg(feature = "default")]
    pub(crate) fn for_job(&self, job: JobBounds) -> SessionOptions {
        SessionOptions {
            job: Some(job),
            ..self.new_session()
        }
    }

    /// Returns the options of a session in a chat. The process has one set of MCP servers and one export of spans for all its chats.
    #[cfg(feature = "default")]
    pub(crate) fn for_chat(&self, chat: Chat) -> SessionOptions {
        SessionOptions {
            chat: Some(chat),
            ..self.new_session()
        }
    }

    fn new_session(&self) -> SessionOptions {
        SessionOptions {
            agent: self.agent.clone(),
            questions: KeyFlags::default(),
            journal: JournalOptions::for_new(self.content.clone()),
            chat: None,
            job: None,
        }
    }
}
