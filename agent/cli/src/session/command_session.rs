//! [`ProgramSession`]: an open session of a family's command.

use std::pin::Pin;
use std::sync::Arc;

use agent::{Direct, DriverError, Outcome, Prompt, Run, RunObserver, Summary};
use host::sessions::{
    CommandSession, SessionEnd, SessionFuture, SessionInput, SessionScope, UnfinishedRun,
};
use tools::call::CallPlace;
use tools::protocol::{Message, Role};
use tools::{CancellationToken, Json, Target, ToolCall, ToolContext};

use super::OpenSession;
use crate::detail::Detail;
use crate::error::Error;
use crate::observer::Observer;
use crate::prompt_runner::RunInput;

/// An open session of a family's command.
pub(super) struct ProgramSession {
    pub(super) open: OpenSession,
    /// Cancels the runs.
    pub(super) cancellation: CancellationToken,
    /// The limits of the session.
    pub(super) scope: Arc<dyn SessionScope>,
    /// The state of the session's catalog that its tools are of.
    pub(super) generation: u64,
    /// True if standard output shows the answers, and standard error the progress.
    pub(super) is_shown: bool,
}

impl ProgramSession {
    /// Selects the tools of the session's own servers again, if they have changed since the last prompt.
    fn refresh(&mut self) {
        let Some(catalog) = &self.open.catalog else {
            return;
        };
        let generation = catalog.subscribe().generation();
        if generation != self.generation {
            self.generation = generation;
            let entries = tools::list().into_iter().chain(catalog.list());
            let entries = entries.filter(|entry| self.scope.has_tool(entry.name().as_str()));
            self.open.session.refresh(entries);
        }
    }

    /// Runs to the end. Shows nothing but changed protected files.
    async fn run_hidden(&mut self, input: RunInput) -> SessionEnd {
        let token = self.cancellation.clone();
        let format = self.open.runner.format;
        let view = self.open.runner.view.clone();
        let observer = Arc::new(Observer::new(
            format,
            Detail::default(),
            view,
            token.clone(),
        ));
        let events = observer.clone();
        let context = self.open.session.context();
        let observers = context.service::<RunObserver>();
        let driver = self.open.runner.driver.clone();
        let driver = match observers {
            Some(observers) => driver
                .with_handle(observers.handle())
                .with_events(move |event| {
                    events.record(&event);
                    observers.events().send(event);
                }),
            None => driver
                .with_cancellation(token)
                .with_events(move |event| events.record(&event)),
        };
        let session = &mut self.open.session;
        let ended = match input {
            RunInput::Prompt(prompt) => driver.run(session, prompt).await,
            RunInput::Resume(run) => driver.resume(session, *run).await,
            RunInput::Compact => driver.compact(session).await,
        };
        let failures = observer.finish();
        SessionEnd {
            answer: answer_of(ended).map_err(Into::into),
            failure: None,
            hints: self.open.runner.hints(session, &failures.refusals, false),
            protected: failures.protected,
            output: Ok(()),
        }
    }

    /// Gives the session the conversation of a run without a turn of the model, which does not enter the session by itself.
    fn restore(&mut self, conversation: Vec<Message>) {
        let session = &mut self.open.session;
        if session.messages().is_empty() {
            let conversation = conversation.into_iter();
            let conversation = conversation.filter(|message| message.role != Role::System);
            conversation.for_each(|message| session.push(message));
        }
    }
}

impl CommandSession for ProgramSession {
    fn context(&self) -> &ToolContext {
        self.open.session.context()
    }

    fn length(&self) -> usize {
        length(self.open.session.messages())
    }

    fn messages(&self) -> Vec<Message> {
        let unfinished = self.open.resumed.as_ref().map(Run::messages);
        let messages = unfinished.unwrap_or_else(|| self.open.session.messages());
        let messages = messages
            .iter()
            .filter(|message| message.role != Role::System);
        messages.cloned().collect()
    }

    fn shown_call(&self, call: &ToolCall) -> (Json, Vec<Target>) {
        self.open.session.shown_call(call)
    }

    fn left_out(&self) -> Vec<String> {
        self.open.servers.left_out()
    }

    fn next_place(&self) -> CallPlace {
        CallPlace::new(self.open.session.turns(), 0)
    }

    fn earlier_run(&self) -> Option<UnfinishedRun> {
        let run = self.open.resumed.as_ref()?;
        Some(UnfinishedRun {
            length: length(run.messages()),
            is_answered: run.is_answered(),
        })
    }

    fn is_stored(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { !matches!(self.open.session.stored_run().await, Ok(None)) })
    }

    fn run(&mut self, input: SessionInput) -> SessionFuture<'_, SessionEnd> {
        Box::pin(async move {
            let prompt = match input {
                SessionInput::Prompt(prompt) => prompt,
                SessionInput::Content(content) => {
                    self.refresh();
                    let prompt = Prompt::from(content);
                    return Ok(self.run_hidden(RunInput::Prompt(prompt)).await);
                }
                SessionInput::Compact => return Ok(self.run_hidden(RunInput::Compact).await),
                SessionInput::Call(call) => Direct::prompt(&[call]),
            };
            if self.is_shown {
                let open = &mut self.open;
                let token = self.cancellation.clone();
                let run = open.runner.run_unattended(&mut open.session, prompt, token);
                return Ok(run.await);
            }
            Ok(self.run_hidden(RunInput::Prompt(prompt.into())).await)
        })
    }

    fn resume(&mut self) -> SessionFuture<'_, SessionEnd> {
        Box::pin(async move {
            let Some(run) = self.open.resumed.take() else {
                return Err(Error::Run("there is no run to resume".to_owned()).into());
            };
            let conversation = run.messages().to_vec();
            let end = self.run_hidden(RunInput::Resume(Box::new(run))).await;
            if end.answer.is_err() {
                self.restore(conversation);
            }
            Ok(end)
        })
    }

    fn give_up(&mut self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            let Some(run) = self.open.resumed.take() else {
                return Ok(());
            };
            let conversation = run.messages().to_vec();
            // It is resumed and cancelled at once, so that its calls have results and none of them runs.
            let cancelled = CancellationToken::new();
            cancelled.cancel();
            let driver = self.open.runner.driver.clone().with_cancellation(cancelled);
            // The error was the answer to the message of the run.
            let _ = driver.resume(&mut self.open.session, run).await;
            self.restore(conversation);
            Ok(())
        })
    }
}

/// Returns the number of messages of a conversation, without the system text.
fn length(conversation: &[Message]) -> usize {
    conversation
        .iter()
        .filter(|message| message.role != Role::System)
        .count()
}

/// Returns the answer of a run that ended, or the reason that there is none.
fn answer_of(ended: Result<Summary, DriverError>) -> Result<String, Error> {
    let reason = match ended.map_err(Error::Driver)?.outcome {
        Outcome::Answer { text, .. } => return Ok(text),
        Outcome::Cancelled => "it was cancelled".to_owned(),
        Outcome::Budget(_) => "a budget ran out".to_owned(),
        Outcome::Loop(_) => "the model repeated a call".to_owned(),
        Outcome::Failed { message, .. } => message,
        _ => "there is no answer".to_owned(),
    };
    Err(Error::Run(reason))
}
