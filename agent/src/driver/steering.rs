//! Adds the messages to a run that were sent while it goes on.

use tools::ToolContext;
use tools::context::KnownTexts;

use super::checkpoint::LastCheckpoint;
use super::{Driver, DriverError, RunContext};
use crate::event::Event;
use crate::prompt::Prompt;
use crate::run::Run;

impl Driver {
    /// Adds the messages that wait for the run, if its next step is a request, or its end with an answer.
    pub(super) async fn steer(
        &self,
        run: &mut Run,
        last: &mut Option<LastCheckpoint>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let is_answered = run.is_answered();
        // The order is that of the costs, because each step comes here. A cancelled run leaves its messages.
        if !is_answered && !run.is_asking()
            || !self.handle.has_waiting(is_answered)
            || self.handle.token().is_cancelled()
            || run_cx.token.is_cancelled()
        {
            return Ok(());
        }
        for message in self.handle.take_waiting() {
            self.check_prompt(&message)?;
            add_known_texts(run_cx.session.context(), &message);
            run_cx.sink.send(|| Event::Steered {
                text: message.to_text(),
            });
            run.continue_with(message);
        }
        // The model may act on them, and a resumed run must know why.
        self.checkpoint(run, last, run_cx).await
    }
}

/// Adds the texts of a prompt to those from which a URL may be made without a question, if a person wrote it.
pub(super) fn add_known_texts(cx: &ToolContext, prompt: &Prompt) {
    // A model writes the prompts of a sub-agent.
    let is_of_person = cx.depth() == 0 && cx.agent().is_none();
    if let Some(known) = cx.service::<KnownTexts>().filter(|_| is_of_person) {
        prompt.texts().for_each(|text| known.add_prompt(text));
    }
}
