//! The session that a command runs: what answers, which tools, what they may touch.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Driver, KeySource, Provider, ProviderOptions, Selection, Session};
use clap::Args;
use tools::CancellationToken;

use crate::error::Error;
use crate::host::HostOptions;
use crate::journal::JournalOptions;
use crate::output::{self, Console};

/// The provider that needs no model.
pub(crate) const DIRECT: &str = "direct";

/// The options of every command that runs a session.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
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

    #[command(flatten)]
    pub(crate) journal: JournalOptions,

    /// How often the provider may be asked before the run ends without an answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
}

impl SessionOptions {
    /// What answers.
    pub(crate) fn provider(&self) -> Result<Arc<dyn Provider>, Error> {
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

    /// A session over the selected ones of the linked tools, which ends its calls when the token is cancelled.
    pub(crate) fn session(&self, token: CancellationToken, console: &Arc<Console>) -> Result<Session, Error> {
        let selection = Selection::parse(&self.select)?;
        let entries = tools::list();
        output::warn_unmatched(&selection, &entries);
        let context = self.journal.context(self.host.context(token, console)?)?;
        Ok(Session::new(entries, selection, context))
    }

    /// What drives the session's runs.
    pub(crate) fn driver(&self, provider: Arc<dyn Provider>) -> Driver {
        let driver = self.journal.driver(Driver::new(provider));
        match self.max_steps {
            Some(max_steps) => driver.with_max_steps(max_steps),
            None => driver,
        }
    }
}
