//! `toolcrib run`

use std::sync::Arc;

use agent::{Outcome, Step, Stop, Summary};
use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt;
use crate::observer::Observer;
use crate::output::{self, Console};
use crate::session::{DIRECT, SessionOptions};

/// Run an agent session on a prompt and print the answer
///
/// Calls and their progress go to the standard error. Reading below the root and the clock is granted; anything else is
/// asked about on a terminal and refused otherwise.
#[derive(Args, Debug)]
pub(super) struct Run {
    /// What to do. The provider direct takes tool calls, such as 'fs.list path=. ; time.now zone=UTC'
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    prompt: Option<String>,

    #[command(flatten)]
    options: SessionOptions,

    /// Print the events of the run, one JSON document per line
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let provider = self.options.provider()?;
        let is_direct = provider.name() == DIRECT;
        let token = interrupt::token()?;
        let console = Arc::new(Console::default());
        let mut session = self.options.session(token.clone(), &console)?;
        let observer = Arc::new(Observer::new(self.json, console, token.clone()));
        let events = observer.clone();
        let driver = self.options.driver(provider);
        let driver = driver.with_cancellation(token).with_events(move |event| events.event(&event));
        let ended = match self.options.journal.stored_run(&session).await? {
            Some(run) => {
                self.repeat(&run)?;
                driver.resume(&mut session, run).await
            }
            None => driver.run(&mut session, self.prompt.unwrap_or_default()).await,
        };
        let first_failure = observer.finish()?;
        let exit = judged(ended.map_err(Error::Driver)?)?;
        // Where there is no model to make something of a failed call, the run has failed with it.
        Ok(first_failure.filter(|_| is_direct).unwrap_or(exit))
    }
}

impl Run {
    /// What a run that is over had to say, since it says nothing more.
    fn repeat(&self, run: &agent::Run) -> Result<(), Error> {
        match run.step() {
            Step::Done(Summary { outcome: Outcome::Answer { text, .. }, .. }) if !self.json => {
                output::note("the session has its answer already");
                output::foreign(&text)
            }
            _ => Ok(()),
        }
    }
}

fn judged(summary: Summary) -> Result<Exit, Error> {
    match summary.outcome {
        Outcome::Answer { stop: Stop::Refusal, .. } => Err(Error::Run("the model refused to answer".to_owned())),
        Outcome::Answer { stop, .. } => {
            if stop == Stop::Length {
                output::warning("the answer was cut off by the model's length limit");
            }
            Ok(Exit::Success)
        }
        Outcome::StepBudget { max_steps } => Err(Error::StepBudget(max_steps)),
        Outcome::Cancelled => Err(Error::Cancelled),
        Outcome::Failed { message } => Err(Error::Run(message)),
        _ => Err(Error::Run("it ended in a way that this program does not know".to_owned())),
    }
}
