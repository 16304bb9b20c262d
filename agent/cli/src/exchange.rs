//! [`Exchange`]: a prompt and what comes of it, shown while it is under way.

use std::sync::Arc;

use agent::{Direct, Driver, Outcome, Run, Session, Step, StopReason, Summary};
use tools::policy::Rule;
use tools::{CancellationToken, Target};

use crate::config::Setting;
use crate::error::Error;
use crate::exit::Exit;
use crate::notice;
use crate::observer::Observer;
use crate::output::{self, Console};
use crate::refusal;

/// How the prompts of a command are run and shown.
pub(crate) struct Exchange {
    /// What runs them.
    pub(crate) driver: Driver,
    /// Whether there is no model to make something of a failed call, so that the run has failed with it.
    pub(crate) is_direct: bool,
    /// Whether the events are printed as JSON.
    pub(crate) is_json: bool,
    /// Where progress and questions go.
    pub(crate) console: Arc<Console>,
    /// What to tell a person whose calls were refused these targets.
    pub(crate) how_to_grant: fn(&[Target]) -> String,
    /// The rules of files, which no grant changes.
    pub(crate) rules: Vec<Setting<Rule>>,
}

/// What is to be run.
pub(crate) enum Work {
    /// What a person asks.
    Prompt(String),
    /// What an earlier process has begun.
    Resume(Run),
}

impl Exchange {
    /// Runs to the end, or until the token is cancelled.
    pub(crate) async fn run(&self, session: &mut Session, work: Work, token: CancellationToken) -> Result<Exit, Error> {
        let observer = Arc::new(Observer::new(self.is_json, self.console.clone(), token.clone()));
        let events = observer.clone();
        let driver = self.driver.clone().with_cancellation(token).with_events(move |event| events.event(&event));
        let ended = match work {
            Work::Prompt(prompt) => driver.run(session, prompt).await,
            Work::Resume(run) => {
                self.repeat(&run)?;
                driver.resume(session, run).await
            }
        };
        let rest = observer.finish()?;
        if let (Ok(Summary { outcome: Outcome::StepBudget { .. }, .. }), true, false) =
            (&ended, self.is_direct, self.is_json)
        {
            // There is no model that would have made something of them.
            let results = Direct::results(session.messages(), session.tools());
            results.map_or(Ok(()), |results| output::foreign(&results))?;
        }
        refusal::hints(&rest.refusals, &self.rules, self.how_to_grant).iter().for_each(|hint| notice::hint(hint));
        let exit = judged(ended.map_err(Error::Driver)?)?;
        Ok(rest.failure.filter(|_| self.is_direct).unwrap_or(exit))
    }

    /// What a run that is over had to say, since it says nothing more.
    fn repeat(&self, run: &Run) -> Result<(), Error> {
        match run.step() {
            Step::Done(Summary { outcome: Outcome::Answer { text, .. }, .. }) if !self.is_json => {
                notice::note("the session has its answer already");
                output::foreign(&text)
            }
            _ => Ok(()),
        }
    }
}

fn judged(summary: Summary) -> Result<Exit, Error> {
    match summary.outcome {
        Outcome::Answer { stop: StopReason::Refusal, .. } => Err(Error::Run("the model refused to answer".to_owned())),
        Outcome::Answer { stop, .. } => {
            match stop {
                StopReason::Length => notice::warning("the answer was cut off by the model's length limit"),
                StopReason::Other(reason) => {
                    notice::warning(&format!("the model stopped for a reason of its own: {reason}"))
                }
                _ => {}
            }
            Ok(Exit::Success)
        }
        Outcome::StepBudget { max_steps } => Err(Error::StepBudget(max_steps)),
        Outcome::Cancelled => Err(Error::Cancelled),
        Outcome::Failed { message } => Err(Error::Run(message)),
        _ => Err(Error::Run("it ended in a way that this program does not know".to_owned())),
    }
}
