//! The session that a command runs: what answers, which tools, what they may touch.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Driver, KeySource, Provider, ProviderOptions, Selection, Session};
use clap::Args;
use once_cell::sync::OnceCell;
use tools::{CancellationToken, Target};

use crate::briefing;
use crate::config::{self, Bounds, ConfigError, Layer, Origin, Setting, Settings};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::host::{HostOptions, OwnFiles};
use crate::journal::JournalOptions;
use crate::notice;
use crate::output::Console;

/// The provider that needs no model.
pub(crate) const DIRECT: &str = "direct";

/// The provider that plays a script.
const SCRIPTED: &str = "scripted";

/// The options of every command that runs a session.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
    /// What answers the prompt: direct (the prompt is tool calls), scripted (plays a file), openai (or a service like it) and
    /// anthropic where the program was built with the feature models, or another that is linked
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The model, in the word of the provider; the key is in OPENAI_API_KEY or ANTHROPIC_API_KEY
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Where the provider's service is, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// A file that holds the key, in the place of the environment variable
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// A JSON file of model turns to play, from the first that the conversation does not have yet; implies --provider scripted
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Only tools whose name matches, such as 'fs.*'; '!fs.write' leaves out; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    #[command(flatten)]
    pub(crate) host: HostOptions,

    #[command(flatten)]
    pub(crate) journal: JournalOptions,

    /// How often the provider may be asked before the run ends without an answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,

    #[arg(skip)]
    settings: OnceCell<Settings>,
}

impl SessionOptions {
    /// What holds, of the files and these options. They are read once.
    pub(crate) fn settings(&self) -> Result<&Settings, Error> {
        self.settings.get_or_try_init(|| self.host.settings(self.layer()?))
    }

    /// What answers.
    fn provider(&self) -> Result<Arc<dyn Provider>, Error> {
        let settings = self.settings()?;
        let (timeouts, retry_policy) = settings.patience();
        let mut options = ProviderOptions::new().with_timeouts(timeouts).with_retry_policy(retry_policy);
        if let Some(script) = &self.script {
            options = options.with_script(script);
        }
        options.model = settings.model.as_ref().map(|model| model.value.clone());
        options.base_url = settings.base_url.as_ref().map(|url| url.value.clone());
        options.key = settings.key.as_ref().map(|key| key.value.clone());
        options.streaming = settings.streaming.as_ref().map(|streaming| streaming.value);
        let name = match &settings.provider {
            Some(provider) => &provider.value,
            None => {
                notice::note("no model is configured, so the prompt is read as tool calls (--provider direct)");
                DIRECT
            }
        };
        Ok(agent::provider::get(name)?.create(&options)?)
    }

    /// A session over the selected ones of the linked tools, which ends its calls when the token is cancelled.
    pub(crate) fn session(&self, token: CancellationToken, console: &Arc<Console>) -> Result<Session, Error> {
        let settings = self.settings()?;
        let globs = settings.select.as_ref().map(|select| &select.value[..]).unwrap_or_default();
        let selection = Selection::parse(globs)?;
        let entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        let own = OwnFiles { hidden: self.journal.files(), steering: self.script.iter().cloned().collect() };
        let context = self.journal.context(self.host.context(settings, &own, token, console)?)?;
        let system = briefing::system_text(&context);
        Ok(Session::new(entries, selection, context).with_system(system))
    }

    /// Returns how prompts are run and shown.
    pub(crate) fn exchange(&self, is_json: bool, how_to_grant: fn(&[Target]) -> String) -> Result<Exchange, Error> {
        let (provider, settings) = (self.provider()?, self.settings()?);
        let is_direct = provider.name() == DIRECT;
        let driver = self.journal.driver(Driver::new(provider)).with_max_steps(settings.max_steps.value);
        let rules = settings.policy.clone();
        Ok(Exchange { driver, is_direct, is_json, console: Arc::default(), how_to_grant, rules })
    }

    /// What the command line says. A script is of the provider that plays it.
    fn layer(&self) -> Result<Layer, ConfigError> {
        let provider = self.provider.clone().map(|provider| Setting::of_flag("--provider", provider));
        if let (Some(named), Some(_)) = (&self.provider, &self.script)
            && named != SCRIPTED
        {
            let reason = format!("is for --provider {SCRIPTED} alone, and not for {named}; leave one of the two out");
            return Err(ConfigError::Value { origin: Origin::Flag("--script"), key: "a script".to_owned(), reason });
        }
        let player = || self.script.as_ref().map(|_| Setting::of_flag("--script", SCRIPTED.to_owned()));
        // Checked here, because what is wrong with it may be a password, which the parser of the command line would repeat.
        let url = |url: &String| match config::url(url) {
            Ok(url) => Ok(Setting::of_flag("--base-url", url)),
            Err(reason) => {
                Err(ConfigError::Value { origin: Origin::Flag("--base-url"), key: "base_url".to_owned(), reason })
            }
        };
        Ok(Layer {
            provider: provider.or_else(player),
            model: self.model.clone().map(|model| Setting::of_flag("--model", model)),
            base_url: self.base_url.as_ref().map(url).transpose()?,
            key: self.key_file.clone().map(|path| Setting::of_flag("--key-file", KeySource::File(path))),
            bounds: Bounds {
                select: (!self.select.is_empty()).then(|| Setting::of_flag("--select", self.select.clone())),
                max_steps: self.max_steps.map(|max_steps| Setting::of_flag("--max-steps", max_steps)),
                ..Bounds::default()
            },
            ..Layer::default()
        })
    }
}
