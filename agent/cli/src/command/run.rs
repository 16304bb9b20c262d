//! `toolcrib run`

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Driver, KeySource, Outcome, Provider, ProviderOptions, Selection, Session, Stop, Summary};
use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::host::HostOptions;
use crate::interrupt;
use crate::observer::Observer;
use crate::output::{self, Console};

/// The provider that needs no model.
const DIRECT: &str = "direct";

/// Run an agent session on a prompt and print the answer
///
/// Calls and their progress go to the standard error. Reading below the root and the clock is granted; anything else is
/// asked about on a terminal and refused otherwise.
#[derive(Args, Debug)]
pub(super) struct Run {
    /// What to do. The provider direct takes tool calls, such as 'fs.list path=. ; time.now zone=UTC'
    prompt: String,

    /// What answers the prompt: direct (the prompt is tool calls), scripted (plays a file), openai (or a service like it) and
    /// anthropic where the program was built with the feature models, or another that is linked
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The model, in the word of the provider; the key is in OPENAI_API_KEY or ANTHROPIC_API_KEY
    #[arg(long, value_name = "NAME", requires = "provider")]
    model: Option<String>,

    /// Where the provider's service is, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,

    /// A file that holds the key, in the place of the environment variable
    #[arg(long, value_name = "FILE", requires = "provider")]
    key_file: Option<PathBuf>,

    /// A JSON file of model turns to play; implies --provider scripted
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Only tools whose name matches, such as 'fs.*'; '!fs.write' leaves out; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    #[command(flatten)]
    host: HostOptions,

    /// How often the provider may be asked before the run ends without an answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,

    /// Print the events of the run, one JSON document per line
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let provider = self.provider()?;
        let is_direct = provider.name() == DIRECT;
        let selection = Selection::parse(&self.select)?;
        let entries = tools::list();
        output::warn_unmatched(&selection, &entries);
        let token = interrupt::token()?;
        let console = Arc::new(Console::default());
        let context = self.host.context(token.clone(), &console)?;
        let observer = Arc::new(Observer::new(self.json, console, token.clone()));
        let events = observer.clone();
        let mut driver = Driver::new(provider).with_cancellation(token).with_events(move |event| events.event(&event));
        if let Some(max_steps) = self.max_steps {
            driver = driver.with_max_steps(max_steps);
        }
        let mut session = Session::new(entries, selection, context);
        let ended = driver.run(&mut session, self.prompt).await;
        let first_failure = observer.finish()?;
        let exit = judged(ended.map_err(Error::Driver)?)?;
        // Where there is no model to make something of a failed call, the run has failed with it.
        Ok(first_failure.filter(|_| is_direct).unwrap_or(exit))
    }

    fn provider(&self) -> Result<Arc<dyn Provider>, Error> {
        let mut options = ProviderOptions::new();
        if let Some(script) = &self.script {
            options = options.with_script(script);
        }
        options.model = self.model.clone();
        options.base_url = self.base_url.clone();
        options.key = self.key_file.clone().map(KeySource::File);
        let name = match (&self.provider, &self.script) {
            (Some(name), _) => name,
            (None, Some(_)) => "scripted",
            (None, None) => {
                output::note("no model is configured, so the prompt is read as tool calls (--provider direct)");
                DIRECT
            }
        };
        Ok(agent::provider::get(name)?.create(&options)?)
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
