//! [`SessionOptions`]: the provider, tools, grant and journal of a session.

mod agent_options;
mod command_session;
mod first_look;
mod unattended;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agent::{
    DeferredConsent, Driver, ModelChoice, Models, Provider, ProviderError, ProviderOptions, Run,
    Selection, Session,
};
use clap::Args;
use host::sessions::SessionScope;
use host::{AttachRequest, AttachedTools, FirstList, NoServers};
use tools::{CancellationToken, Entry, Host, SharedCatalog};

use self::agent_options::AgentOptions;
pub(crate) use self::first_look::note_session;
use self::first_look::{ProjectTexts, offer_settings};
pub(crate) use self::unattended::{ProgramSessions, UnattendedOptions};
use crate::config::{
    KeyFlags, ProgramSettings as _, QuestionFlag, Setting, Settings, SettingsError, Values,
};
use crate::detail::Detail;
use crate::effect_layer::EffectLayer;
use crate::error::Error;
use crate::journal::{JournalOptions, Recording};
use crate::output::OutputFormat;
use crate::prompt_runner::PromptRunner;
use crate::provider_choice::ProviderChoice;
use crate::provider_options::{self, ForeignKey};
use crate::refusal::HowToGrant;
use crate::root::unused_models;
use crate::session_view::SessionView;
use crate::{budget, disclosure, no_provider, notice, program, system_text, tool_list};

/// The options of commands that run one session.
#[derive(Args, Clone, Debug)]
pub(crate) struct SessionOptions {
    #[command(flatten)]
    pub(crate) agent: AgentOptions,

    #[command(flatten)]
    questions: KeyFlags<QuestionFlag>,

    #[command(flatten)]
    pub(crate) journal: JournalOptions,

    /// The limits of the session of a family's command. Nobody at the terminal is asked.
    #[arg(skip)]
    scope: Option<Arc<dyn SessionScope>>,
}

/// A session, ready for prompts.
pub(crate) struct OpenSession {
    pub(crate) session: Session,
    pub(crate) runner: PromptRunner,
    /// The run of an earlier process, to be finished first.
    pub(crate) resumed: Option<Run>,
    /// The catalog of the session's own MCP servers. `None` if they are in the process-wide one.
    pub(crate) catalog: Option<SharedCatalog>,
    /// The MCP servers of the session. Drop them after the session.
    pub(crate) servers: Box<dyn AttachedTools>,
    /// The journal of the session. Drop it after the session.
    pub(crate) _recording: Option<Recording>,
    /// The export of the session's spans. Drop it last.
    pub(crate) _traces: Vec<host::Trace>,
}

impl OpenSession {
    /// Shows this part of the runs, with the effects of calls. Keeps the files of this root as they were before a call changed them.
    pub(crate) fn show(&mut self, detail: Detail, root: Option<PathBuf>) {
        self.runner.detail = detail;
        let is_shown = self.runner.format == OutputFormat::Text && detail != Detail::Quiet;
        if is_shown || root.is_some() {
            let view = self.runner.view.clone();
            let layer = Arc::new(EffectLayer { view, root });
            self.session.change_host(|host| host.with_layer(layer));
        }
    }
}

/// The tools of a session, their selection, the host of their calls, and the texts of the project.
struct SessionTools {
    entries: Vec<Arc<Entry>>,
    selection: Selection,
    host: Host,
    texts: ProjectTexts,
}

impl SessionTools {
    /// Adds the servers, the record and the deferred requests to the host of calls. Returns the run of an earlier process, too.
    async fn enter(
        mut self,
        servers: &dyn AttachedTools,
        recording: Option<&Recording>,
        consent: Option<DeferredConsent>,
    ) -> Result<(Self, Option<Run>), Error> {
        self.host = servers.with_reasons(self.host);
        let mut run = None;
        if let Some(recording) = recording {
            self.host = recording.enter(self.host);
            recording.keep_tasks(&self.host, servers);
            run = recording.stored_run(&self.host).await?;
        }
        // Last, because the run decides about the approver.
        let is_waiting = |run: &Run| !run.waiting_requests().is_empty();
        let is_waiting = run.as_ref().is_some_and(is_waiting);
        if let Some(consent) = consent.or_else(|| is_waiting.then(DeferredConsent::new)) {
            self.host = consent.enter(self.host);
        }
        Ok((self, run))
    }

    fn into_session(self) -> Session {
        let session = Session::new(self.entries, self.selection, self.host);
        self.texts.expose(&session);
        let instructions = self.texts.instructions.as_ref();
        let system = system_text::build(session.context(), session.tools(), instructions);
        session.with_system(system)
    }
}

impl SessionOptions {
    /// Returns the effective settings of the files and these options, and the session to resume, if one is. The model of the session may
    /// be asked by default.
    pub(crate) async fn settings(&self) -> Result<(Settings, Option<Recording>), Error> {
        let workspace = self.agent.host.root.workspace()?;
        let resumed = self.journal.resume(&workspace).await?;
        let settings = match &resumed {
            // A chat may go on for years, so it has the provider and the model of the day.
            Some(resumed) if self.is_attended() => {
                resumed.settings(self.flags()?, |flags| self.settings_with(flags))?
            }
            _ => self.settings_with(self.flags()?)?,
        };
        let name = ProviderChoice::from_settings(&settings).name();
        let settings = match name.target() {
            Ok(target) => settings.with_default_grant(Setting::from_default(target.to_clause())),
            // A model that has no target cannot be asked.
            Err(_) => settings,
        };
        let Some(scope) = &self.scope else {
            return Ok((settings, resumed));
        };
        let has_provider = settings.program().provider.is_some();
        Ok((scope.settings(settings, has_provider)?, resumed))
    }

    /// Opens the session: a new one, which is recorded from here on, or the one to resume. Cancelling the token ends its calls.
    /// `consent` takes the answers to deferred requests. A run that waits for them waits on without it.
    pub(crate) async fn open(
        &self,
        format: OutputFormat,
        view: Arc<SessionView>,
        how_to_grant: HowToGrant,
        token: CancellationToken,
        consent: Option<DeferredConsent>,
    ) -> Result<OpenSession, Error> {
        let has_asker = self.scope.is_none();
        // First, because a file counts once it is approved.
        if has_asker {
            offer_settings(&self.agent.host, &view.console).await?;
        }
        let (settings, resumed) = self.settings().await?;
        let choice = ProviderChoice::from_settings(&settings);
        // A command has noted the provider of its sessions when it checked it.
        if has_asker {
            no_provider::check(&settings)?;
            choice.note.iter().for_each(|note| notice::note(note));
        }
        let provider = provider(&settings, &choice, self.agent.script.as_ref())?;
        let fallbacks = fallbacks(&settings, &choice)?;
        let mut options = budget::run_options(&settings, provider.about())?;
        options.correlation_id = self.agent.correlation_id.as_deref().map(Arc::from);
        options.agent_name = Some(program::name().into());
        let models = self.models(&settings, &choice, provider.clone());
        let catalog = self.catalog();
        let servers = self.attach_servers(&settings, &token, &catalog).await?;
        // Behind the servers, because their lists say which tools read.
        let settings = self.agent.host.with_reads(settings);
        let mut tools = self.tools(&settings, models, token, &view, &catalog)?;
        if let Some(budget) = budget::load_shared(&settings, &tools.host)? {
            tools.host = tools.host.with_service(budget);
        }
        if has_asker {
            tools.texts = tools.texts.offer(&view.console).await;
        }
        let disclosure = disclosure::from_settings(&settings)?;
        // Behind all that can fail by a mistake in the options, which leaves no recorded session behind.
        let recording = self.record(resumed, &settings, &choice).await?;
        let (tools, resumed) = tools.enter(&*servers, recording.as_ref(), consent).await?;
        let has_traces = !self.is_shared();
        let traces = has_traces.then(|| host::start_traces(&settings));
        let session = tools.into_session().with_disclosure(disclosure);
        let name = provider.about().name.to_string();
        let driver = Driver::new(provider).with_fallbacks(fallbacks);
        let driver = driver.with_checkpoints(true).with_options(options);
        notice::warn_left_out(&driver, &driver.offered_tools(&session));
        let of_start = recording.as_ref().and_then(Recording::first_grant);
        // The new session of a command keeps to its grant too, because another one may resume it.
        let own = recording.as_ref().filter(|_| !has_asker);
        let own = own.map(|_| session.context().grant());
        let of_job = settings.job.as_ref().map(|(grant, _)| grant);
        let resume = session.context().session();
        let runner = PromptRunner {
            driver,
            provider: name,
            model: choice.model,
            format,
            detail: Detail::default(),
            view,
            how_to_grant,
            first_grant: of_job.or(of_start).or(own).cloned(),
            todays_grant: settings.grant(),
            resume: resume.map(|name| self.resume_flags(name)),
            rules: settings.rules().collect(),
        };
        Ok(OpenSession {
            session,
            runner,
            resumed,
            catalog,
            servers,
            _recording: recording,
            _traces: traces.unwrap_or_default(),
        })
    }

    /// Returns a session over the selected tools, which is not recorded and runs nothing.
    pub(crate) async fn open_unrecorded(&self) -> Result<Session, Error> {
        let settings = self.settings_with(self.flags()?)?;
        let token = CancellationToken::new();
        let _servers = self.attach_servers(&settings, &token, &None).await?;
        Ok(self
            .tools(&settings, unused_models(), token, &Arc::default(), &None)?
            .into_session())
    }

    /// Returns true if the servers and spans of the session are those of its command.
    fn is_shared(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.is_shared())
    }

    /// Offers the tools of servers that the selection may match, unless the command has done so.
    async fn attach_servers(
        &self,
        settings: &Settings,
        token: &CancellationToken,
        catalog: &Option<SharedCatalog>,
    ) -> Result<Box<dyn AttachedTools>, Error> {
        let root = self.agent.host.servers_root().filter(|_| !self.is_shared());
        let selection = settings.selection()?;
        let first = FirstList::Offered;
        let Some(root) = root else {
            return Ok(Box::new(NoServers));
        };
        let request = AttachRequest {
            catalog: catalog.clone(),
            given: self.scope.as_ref().and_then(|scope| scope.servers()),
            ..tool_list::attach_request(&root, settings, &selection, first, token)
        };
        Ok(host::remote_tools().attach(&root, request).await)
    }

    /// Returns the catalog of the servers of a session with a root of its own. The process may have several, each with its own servers.
    fn catalog(&self) -> Option<SharedCatalog> {
        let root = self.scope.as_ref().and_then(|scope| scope.root());
        root.map(|_| SharedCatalog::new())
    }

    /// Returns true if a person answers the questions of the session, at the terminal or elsewhere.
    fn is_attended(&self) -> bool {
        let scope = self.scope.as_ref();
        scope.is_none_or(|scope| scope.is_attended())
    }

    /// Begins to record the session, unless it is resumed. Returns `None` if it is not recorded.
    async fn record(
        &self,
        resumed: Option<Recording>,
        settings: &Settings,
        choice: &ProviderChoice,
    ) -> Result<Option<Recording>, Error> {
        let workspace = self.agent.host.root.workspace()?;
        note_session(&workspace);
        if resumed.is_some() {
            return Ok(resumed);
        }
        let job = self.scope.as_ref().and_then(|scope| scope.job());
        self.journal
            .recording(workspace, settings, choice, job)
            .await
    }

    /// Returns the models that tools may ask: that of the session, other models of its provider with the same options, and those of
    /// other providers with their usual services and keys.
    fn models(
        &self,
        settings: &Settings,
        choice: &ProviderChoice,
        provider: Arc<dyn Provider>,
    ) -> Models {
        let own_name = choice.provider.clone();
        let own_options = provider_options(settings, choice, self.agent.script.as_ref());
        let general = provider_options::general(settings);
        let models = Models::new(provider).with_name(choice.name());
        let others = program::providers().into_iter();
        let others = others.filter(|other| other.name != own_name);
        let refused = others.filter_map(|other| {
            let key = ForeignKey::find(settings, choice, other)?;
            Some((other.name, key.to_string()))
        });
        let refused: BTreeMap<_, _> = refused.collect();
        let money_limit = budget::money_limit(settings).map(|(key, _)| key);
        models.with_others(move |wanted: &ModelChoice| {
            let name = &wanted.provider;
            // The key of a gateway must not reach the public service through a tool.
            if let Some(reason) = refused.get(name.as_str()) {
                return Err(ProviderError::options(name, reason));
            }
            let is_own = *name == own_name;
            let known = if is_own { &own_options } else { &general };
            let mut options = known.clone();
            options.model = Some(wanted.model.clone());
            let provider = program::provider(name)?.create(&options)?;
            match money_limit {
                // Its requests would count as free, so that the limit on money would not hold.
                Some(key) if provider.about().price.is_none() => {
                    let reason = format!("{key} {}", budget::needs_price(&wanted.model));
                    Err(ProviderError::options(name, reason))
                }
                _ => Ok(provider),
            }
        })
    }

    /// Returns the tools, their selection and the host of their calls.
    fn tools(
        &self,
        settings: &Settings,
        models: Models,
        token: CancellationToken,
        view: &Arc<SessionView>,
        catalog: &Option<SharedCatalog>,
    ) -> Result<SessionTools, Error> {
        let selection = settings.selection()?;
        let mut entries = tools::list();
        entries.extend(catalog.iter().flat_map(SharedCatalog::list));
        notice::warn_unmatched(&selection, &entries);
        let host = match &self.scope {
            None => self.agent.host.attended_host(settings, token, view)?,
            // Nobody is asked, also on a terminal.
            Some(scope) => {
                entries.retain(|entry| scope.has_tool(entry.name().as_str()));
                scope.enter(self.agent.host.unattended_host(settings, token)?)
            }
        };
        for warning in host::warnings(&host, None) {
            notice::warning(&warning);
        }
        let texts = ProjectTexts::read(&host, settings);
        Ok(SessionTools {
            entries,
            selection,
            texts,
            host: host.with_service(models),
        })
    }

    /// Returns the settings of the files and these of the command line, with the files of the session, which are protected.
    fn settings_with(&self, flags: Values) -> Result<Settings, Error> {
        let mut settings = self.agent.host.settings(flags)?;
        if self.is_attended() {
            settings = settings.attended();
        }
        // A session must not edit its own record.
        settings.hidden.extend(self.journal.files());
        Ok(settings.with_control_files(self.agent.script.clone()))
    }

    /// Returns the flags that continue the session of this name: those of the session again, because it keeps few of them.
    pub(crate) fn resume_flags(&self, name: &str) -> String {
        let mut words = self.agent.words();
        words.extend(self.questions.words());
        words.push(self.journal.resume_flags(name));
        words.join(" ")
    }

    /// Adds the command line that continues the session, if the error ended a recorded session before its answer.
    pub(crate) async fn add_hint(&self, error: Error, session: &Session, command: &str) -> Error {
        JournalOptions::add_hint(error, session, command, |name| self.resume_flags(name)).await
    }

    /// Returns the settings of the command line.
    fn flags(&self) -> Result<Values, SettingsError> {
        let is_call = self.scope.as_ref().is_some_and(|scope| scope.is_call());
        let mut flags = self.agent.flags(is_call)?;
        flags.merge(self.questions.values()?);
        Ok(flags)
    }
}

/// Checks the provider, its model and the limits of a session with this script, before one is opened.
///
/// # Errors
/// Returns the error that opening a session would return.
pub(crate) fn check_model(settings: &Settings, script: Option<&PathBuf>) -> Result<(), Error> {
    let choice = ProviderChoice::from_settings(settings);
    let provider = provider(settings, &choice, script)?;
    budget::run_options(settings, provider.about())?;
    fallbacks(settings, &choice)?;
    Ok(())
}

/// Creates the chosen provider.
fn provider(
    settings: &Settings,
    choice: &ProviderChoice,
    script: Option<&PathBuf>,
) -> Result<Arc<dyn Provider>, Error> {
    let options = provider_options(settings, choice, script);
    create(settings, choice, &choice.provider, &options)
}

/// Creates the providers of the models that take over from the chosen one. If money is limited, each needs a price.
fn fallbacks(
    settings: &Settings,
    choice: &ProviderChoice,
) -> Result<Vec<Arc<dyn Provider>>, Error> {
    let fallbacks = choice.fallbacks.iter().map(|fallback| {
        let options = provider_options::for_fallback(settings, choice, fallback);
        let provider = create(settings, choice, &fallback.provider, &options)?;
        budget::run_options(settings, provider.about())?;
        Ok(provider)
    });
    fallbacks.collect()
}

/// Creates a provider, unless its key belongs to another service.
fn create(
    settings: &Settings,
    choice: &ProviderChoice,
    name: &str,
    options: &ProviderOptions,
) -> Result<Arc<dyn Provider>, Error> {
    let provider = program::provider(name)?;
    if let Some(key) = ForeignKey::find(settings, choice, provider) {
        return Err(ProviderError::options(name, key.to_string()).into());
    }
    Ok(provider.create(options)?)
}

fn provider_options(
    settings: &Settings,
    choice: &ProviderChoice,
    script: Option<&PathBuf>,
) -> ProviderOptions {
    let mut options = provider_options::from_settings(settings, choice.model.as_deref());
    options.script = script.cloned();
    options
}
