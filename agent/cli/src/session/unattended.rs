//! [`ProgramSessions`]: the sessions of a family's command, in which nobody is asked.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use host::sessions::{CommandSession, RecordedSession, SessionFuture, SessionScope, Sessions};
use host::{CommandError, FirstList, Retention};
use tools::CancellationToken;

use super::agent_options::AgentOptions;
use super::command_session::ProgramSession;
use super::{OpenSession, SessionOptions, check_model};
use crate::config::{KeyFlags, ProgramSettings as _, Settings};
use crate::error::Error;
use crate::journal::{ContentOption, JournalOptions};
use crate::output::OutputFormat;
use crate::provider_choice::ProviderChoice;
use crate::refusal::HowToGrant;
use crate::session_view::SessionView;
use crate::{notice, tool_list};

/// The options of sessions in which nobody is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct UnattendedOptions {
    #[command(flatten)]
    pub(crate) agent: AgentOptions,

    #[command(flatten)]
    content: ContentOption,
}

/// The sessions of a command with these options.
#[derive(Debug)]
pub(crate) struct ProgramSessions {
    pub(crate) options: UnattendedOptions,
    /// The form of standard output. `None` if nothing is shown.
    pub(crate) format: Option<OutputFormat>,
    pub(crate) view: Arc<SessionView>,
    /// True after the note on the provider.
    pub(crate) is_noted: AtomicBool,
}

impl UnattendedOptions {
    fn with_scope(&self, scope: Option<Arc<dyn SessionScope>>) -> SessionOptions {
        let own = scope.as_ref().and_then(|scope| scope.journal());
        let journal = JournalOptions::for_session(self.content.clone(), own);
        let recorded = scope.as_ref().and_then(|scope| scope.recorded());
        let journal = match recorded {
            Some(id) => journal.with_resume(Some(id)),
            None => journal,
        };
        let mut agent = self.agent.clone();
        if let Some(root) = scope.as_ref().and_then(|scope| scope.root()) {
            agent.host = agent.host.at(root);
        }
        SessionOptions {
            agent,
            questions: KeyFlags::default(),
            journal,
            scope,
        }
    }
}

impl ProgramSessions {
    async fn open_session(
        &self,
        scope: &Arc<dyn SessionScope>,
        cancellation: &CancellationToken,
    ) -> Result<OpenSession, Error> {
        let of_hints = scope.clone();
        let how_to_grant: HowToGrant = Arc::new(move |refused| of_hints.how_to_grant(refused));
        let options = || self.options.with_scope(Some(scope.clone()));
        let open = async |options: SessionOptions| {
            let format = self.format.unwrap_or_default();
            let view = self.view.clone();
            let how_to_grant = how_to_grant.clone();
            let token = cancellation.clone();
            options.open(format, view, how_to_grant, token, None).await
        };
        match open(options()).await {
            // The process ended between the start of the session and its first run.
            #[cfg(feature = "default")]
            Err(Error::NoSession(_)) => {
                // The journal last: without it, nobody would look for the files beside it.
                for file in options().journal.files().iter().rev() {
                    let _ = tools_store::private::remove(file);
                }
                open(options()).await
            }
            opened => opened,
        }
    }
}

impl Sessions for ProgramSessions {
    fn settings(&self, scope: Option<Arc<dyn SessionScope>>) -> SessionFuture<'_, Settings> {
        let options = self.options.with_scope(scope);
        Box::pin(async move { Ok(options.settings().await?.0) })
    }

    fn has_provider(&self, settings: &Settings) -> bool {
        settings.program().provider.is_some()
    }

    fn check_model(&self, settings: &Settings) -> Result<(), CommandError> {
        if let Some(note) = ProviderChoice::from_settings(settings).note
            // A server opens many sessions, for which one note is enough.
            && !self.is_noted.swap(true, Ordering::Relaxed)
        {
            notice::note(&note);
        }
        Ok(check_model(settings, self.options.agent.script.as_ref())?)
    }

    fn retention(&self, settings: &Settings) -> Option<Retention> {
        let is_recorded = settings.program().record_sessions.value;
        is_recorded.then(|| Retention::from_settings(settings))
    }

    fn share<'a>(
        &'a self,
        settings: &'a Settings,
        cancellation: &'a CancellationToken,
    ) -> SessionFuture<'a, Box<dyn Any + Send>> {
        Box::pin(async move {
            let traces = host::start_traces(settings);
            let selection = settings.selection().map_err(Error::from)?;
            let root = self.options.agent.host.servers_root();
            let offered = FirstList::Offered;
            let servers =
                tool_list::attach(root, settings, &selection, offered, cancellation).await;
            // The servers are dropped first.
            Ok(Box::new((servers, traces)) as Box<dyn Any + Send>)
        })
    }

    fn list(&self, workspace: Option<String>) -> SessionFuture<'_, Vec<RecordedSession>> {
        Box::pin(async move {
            let records = host::session_records();
            records.map_or(Ok(Vec::new()), |records| {
                (records.list)(workspace.as_deref())
            })
        })
    }

    fn find(&self, id: String) -> SessionFuture<'_, Option<RecordedSession>> {
        Box::pin(async move {
            let records = host::session_records();
            records.map_or(Ok(None), |records| (records.find)(&id))
        })
    }

    fn open(
        &self,
        scope: Arc<dyn SessionScope>,
        cancellation: CancellationToken,
    ) -> SessionFuture<'_, Box<dyn CommandSession>> {
        Box::pin(async move {
            let session = ProgramSession {
                open: self.open_session(&scope, &cancellation).await?,
                cancellation,
                scope,
                generation: 0,
                is_shown: self.format.is_some(),
            };
            Ok(Box::new(session) as Box<dyn CommandSession>)
        })
    }
}
