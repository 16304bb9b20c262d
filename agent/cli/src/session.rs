//! [`SessionOptions`]: the provider, tools, grant and journal of a session.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Driver, KeySource, Provider, ProviderOptions, Selection, Session};
use clap::Args;
use once_cell::sync::OnceCell;
use tools::{CancellationToken, Target};

use crate::config::{self, Bounds, ConfigError, Layer, Origin, Setting, Settings};
use crate::error::Error;
use crate::host::{HostOptions, ProtectedFiles};
use crate::journal::JournalOptions;
use crate::notice;
use crate::output::Console;
use crate::program;
use crate::prompt_runner::PromptRunner;
use crate::system_text;

/// The provider that reads the prompt as tool calls.
pub(crate) const DIRECT: &str = "direct";

/// The provider that replays a script.
const SCRIPTED: &str = "scripted";

/// The options of commands that run a session.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
    /// The provider: direct (the prompt is tool calls), scripted (replays a file), openai or anthropic (with the feature
    /// models), or another linked one
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The provider's name of the model; its key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// The URL of the provider's service, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Read the key from this file instead of the environment variable
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// Replay the model turns of this JSON file that the conversation does not have yet; implies --provider scripted
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Select tools by name, such as 'fs.*'; '!fs.write' excludes; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    #[command(flatten)]
    pub(crate) host: HostOptions,

    #[command(flatten)]
    pub(crate) journal: JournalOptions,

    /// The maximum number of provider requests in a run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,

    #[arg(skip)]
    settings: OnceCell<Settings>,
}

impl SessionOptions {
    /// Returns the effective settings of the files and these options. The files are read once.
    pub(crate) fn settings(&self) -> Result<&Settings, Error> {
        self.settings.get_or_try_init(|| self.host.settings(self.layer()?))
    }

    /// Creates the provider.
    fn provider(&self) -> Result<Arc<dyn Provider>, Error> {
        let settings = self.settings()?;
        let (timeouts, retry_policy) = settings.request_policy();
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
                notice::note("no provider is configured; the prompt is read as tool calls (--provider direct)");
                DIRECT
            }
        };
        Ok(program::provider(name)?.create(&options)?)
    }

    /// Returns a session over the selected tools. Cancelling the token ends its calls.
    pub(crate) fn session(&self, token: CancellationToken, console: &Arc<Console>) -> Result<Session, Error> {
        let settings = self.settings()?;
        let globs = settings.select.as_ref().map(|select| &select.value[..]).unwrap_or_default();
        let selection = Selection::parse(globs)?;
        let entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        let protected = ProtectedFiles { hidden: self.journal.files(), control: self.script.iter().cloned().collect() };
        let context = self.journal.context(self.host.context(settings, &protected, token, console)?)?;
        let system = system_text::build(&context);
        Ok(Session::new(entries, selection, context).with_system(system))
    }

    /// Returns the runner for the session's prompts.
    pub(crate) fn runner(&self, is_json: bool, how_to_grant: fn(&[Target]) -> String) -> Result<PromptRunner, Error> {
        let (provider, settings) = (self.provider()?, self.settings()?);
        let is_direct = provider.name() == DIRECT;
        let driver = self.journal.driver(Driver::new(provider)).with_max_steps(settings.max_steps.value);
        let rules = settings.policy.clone();
        Ok(PromptRunner { driver, is_direct, is_json, console: Arc::default(), how_to_grant, rules })
    }

    /// Returns the settings of the command line. `--script` implies the provider that replays it.
    fn layer(&self) -> Result<Layer, ConfigError> {
        let provider = self.provider.clone().map(|provider| Setting::from_flag("--provider", provider));
        if let (Some(named), Some(_)) = (&self.provider, &self.script)
            && named != SCRIPTED
        {
            let reason = format!("needs --provider {SCRIPTED}, not {named}; drop one of the two flags");
            return Err(ConfigError::Value { origin: Origin::Flag("--script"), key: "a script".to_owned(), reason });
        }
        let scripted = || self.script.as_ref().map(|_| Setting::from_flag("--script", SCRIPTED.to_owned()));
        // Not checked by clap, which would print the value: an invalid URL may contain a password.
        let url = |url: &String| match config::url(url) {
            Ok(url) => Ok(Setting::from_flag("--base-url", url)),
            Err(reason) => {
                Err(ConfigError::Value { origin: Origin::Flag("--base-url"), key: "base_url".to_owned(), reason })
            }
        };
        Ok(Layer {
            provider: provider.or_else(scripted),
            model: self.model.clone().map(|model| Setting::from_flag("--model", model)),
            base_url: self.base_url.as_ref().map(url).transpose()?,
            key: self.key_file.clone().map(|path| Setting::from_flag("--key-file", KeySource::File(path))),
            bounds: Bounds {
                select: (!self.select.is_empty()).then(|| Setting::from_flag("--select", self.select.clone())),
                max_steps: self.max_steps.map(|max_steps| Setting::from_flag("--max-steps", max_steps)),
                ..Bounds::default()
            },
            ..Layer::default()
        })
    }
}
