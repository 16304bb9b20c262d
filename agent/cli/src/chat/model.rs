//! `/model`, `/compact` and `/resume`: a conversation that goes on otherwise.

use agent::{ModelChoice, Models};

use super::{Chat, usage_error};
use crate::error::Error;
use crate::prompt_runner::RunInput;
use crate::{notice, program};
use host::exit::Exit;

impl Chat {
    /// Goes on with another model. Shows the present one without a name.
    pub(super) fn change_model(&mut self, name: Option<&str>) -> Exit {
        let runner = &mut self.opened.runner;
        let present = ModelChoice::new(&runner.provider, runner.model.clone());
        let Some(name) = name else {
            notice::note(&format!("the model is {present}"));
            return Exit::Success;
        };
        // The name of a model may have a slash, too.
        let named = ModelChoice::from_text(name);
        let named = named.filter(|choice| program::provider(&choice.provider).is_ok());
        let choice = match named {
            None if runner.is_direct() => {
                return usage_error("name the provider, too: /model PROVIDER/NAME");
            }
            None => ModelChoice::new(&runner.provider, Some(name.to_owned())),
            Some(choice) => choice,
        };
        let models = self.opened.session.context().service::<Models>();
        let opened = models.map(|models| models.open(&choice));
        match opened {
            Some(Ok(provider)) => {
                runner.driver = runner.driver.clone().with_provider(provider);
                notice::note(&format!(
                    "{choice} goes on for {present}; the conversation stays"
                ));
                runner.provider = choice.provider;
                runner.model = Some(choice.model);
                notice::warn_left_out(&self.opened.runner.driver, &self.offered_tools());
                Exit::Success
            }
            Some(Err(error)) => usage_error(&error.to_string()),
            None => {
                usage_error("this session offers no other models; start a chat with --model NAME")
            }
        }
    }

    /// Compacts the conversation.
    pub(super) async fn compact(&mut self) -> Result<Exit, Error> {
        if self.opened.runner.is_direct() {
            return Ok(usage_error(
                "the provider direct has no model that writes a summary",
            ));
        }
        if self.opened.session.messages().is_empty() {
            notice::note("there is no conversation yet");
            return Ok(Exit::Success);
        }
        self.run_input(RunInput::Compact).await
    }

    /// Leaves this session for another one, if that is recorded.
    pub(super) async fn resume(&mut self, id: Option<String>) -> Exit {
        let journal = self.journal.with_resume(id);
        // Another session is opened only after the end of this one.
        match journal.resume(&self.root.to_string_lossy()).await {
            Ok(_) => {
                self.next = Some(journal);
                Exit::Success
            }
            Err(error) => error.report(),
        }
    }
}
