//! [`SessionOptions`]: the provider, tools, grant and journal of a session.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Driver, Provider, ProviderOptions, Session};
use clap::Args;
use once_cell::sync::OnceCell;
use tools::CancellationToken;
use tools::protocol::wire::Strictness;

use crate::config::{ConfigError, KeyFlags, Origin, Setting, Settings, Values};
use crate::console::Console;
use crate::error::Error;
use crate::host::{HostOptions, ProtectedFiles};
use crate::journal::{JournalOptions, Recording};
use crate::notice;
use crate::output_format::OutputFormat;
use crate::program;
use crate::prompt_runner::PromptRunner;
use crate::provider_choice::ProviderChoice;
use crate::refusal::HowToGrant;
use crate::system_text;

/// The provider that replays a script.
const SCRIPTED: &str = "scripted";

/// The options of commands that run a session.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
    #[command(flatten)]
    keys: KeyFlags<true>,

    /// Replay the model turns of this JSON file that the conversation does not have yet; implies --provider scripted
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) host: HostOptions,

    #[command(flatten)]
    pub(crate) journal: JournalOptions,

    #[arg(skip)]
    settings: OnceCell<Settings>,
}

impl SessionOptions {
    /// Returns the effective settings of the files and these options. The files are read once.
    pub(crate) fn settings(&self) -> Result<&Settings, Error> {
        self.settings.get_or_try_init(|| self.host.settings(self.flags()?))
    }

    /// Creates the chosen provider.
    fn provider(&self, choice: &ProviderChoice) -> Result<Arc<dyn Provider>, Error> {
        let settings = self.settings()?;
        let (timeouts, retry_policy) = settings.request_policy();
        let mut options = ProviderOptions::new().with_timeouts(timeouts).with_retry_policy(retry_policy);
        if let Some(script) = &self.script {
            options = options.with_script(script);
        }
        choice.note.iter().for_each(|note| notice::note(note));
        options.model = choice.model.clone();
        options.base_url = settings.base_url.as_ref().map(|url| url.value.clone());
        options.key = settings.key().map(|key| key.value);
        options.streaming = Some(settings.streaming.value);
        options.strictness = settings.strict.value.then_some(Strictness::Strict);
        Ok(program::provider(&choice.provider)?.create(&options)?)
    }

    /// Starts to record the session, or opens the session to resume. Returns `None` if the session is not recorded.
    ///
    /// Call it before all other methods: a resumed session has the provider and the model that it began with, unless a flag names
    /// another.
    pub(crate) async fn recording(&self) -> Result<Option<Recording>, Error> {
        let workspace = self.host.root.workspace();
        if let Some(resumed) = self.journal.resumed(&workspace).await? {
            let settings = self.host.settings(resumed.with_model(self.flags()?))?;
            resumed.check_service(&settings)?;
            let _ = self.settings.set(settings);
            return Ok(Some(resumed));
        }
        let settings = self.settings()?;
        self.journal.recording(workspace, settings, &ProviderChoice::from_settings(settings)).await
    }

    /// Returns a session over the selected tools. Cancelling the token ends its calls.
    pub(crate) fn session(
        &self,
        token: CancellationToken,
        console: &Arc<Console>,
        recording: Option<&Recording>,
    ) -> Result<Session, Error> {
        let settings = self.settings()?;
        let selection = settings.selection()?;
        let entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        let protected = ProtectedFiles { hidden: self.journal.files(), control: self.script.iter().cloned().collect() };
        let context = self.host.context(settings, &protected, token, console)?;
        let context = match recording {
            Some(recording) => recording.context(context),
            None => context,
        };
        let system = system_text::build(&context);
        Ok(Session::new(entries, selection, context).with_system(system))
    }

    /// Returns the runner for the session's prompts.
    pub(crate) fn runner(
        &self,
        format: OutputFormat,
        console: Arc<Console>,
        how_to_grant: HowToGrant,
        recording: Option<&Recording>,
    ) -> Result<PromptRunner, Error> {
        let settings = self.settings()?;
        let choice = ProviderChoice::from_settings(settings);
        let provider = self.provider(&choice)?;
        let name = provider.name().to_owned();
        let driver = Driver::new(provider).with_checkpoints(true).with_max_steps(settings.max_steps.value);
        let rules = settings.rules().collect();
        Ok(PromptRunner {
            driver,
            provider: name,
            model: choice.model,
            format,
            console,
            how_to_grant,
            first_grant: recording.and_then(Recording::first_grant).cloned(),
            rules,
        })
    }

    /// Returns the settings of the command line. `--script` implies the provider that replays it.
    fn flags(&self) -> Result<Values, ConfigError> {
        let mut flags = self.keys.values()?;
        if self.script.is_some() {
            if let Some(named) = flags.provider.as_ref().filter(|named| named.value != SCRIPTED) {
                let reason = format!("needs --provider {SCRIPTED}, not {}; drop one of the two flags", named.value);
                return Err(ConfigError::Value {
                    origin: Origin::Flag("--script"),
                    key: "a script".to_owned(),
                    reason,
                });
            }
            flags.provider.get_or_insert_with(|| Setting::from_flag("--script", SCRIPTED.to_owned()));
        }
        Ok(flags)
    }
}
