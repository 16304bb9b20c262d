//! `toolcrib serve`

mod client_model;
mod endpoint;

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::refusal::Refusal;
use agent::{Models, Selection, SubAgents, ToolSet, with_session_model};
use clap::{Args, ValueEnum};
use serde_json::Value;
use tools::call::CallPlace;
use tools::{CancellationToken, Entry, Host, Target, Tasks, ToolContext};
use tools_mcp::server::{Peer, ServedNames, ServedTools, ToolServer};

use self::client_model::ClientModel;
use self::endpoint::EndpointOptions;
use crate::config::{KeyFlags, ProgramSettings as _, QuestionFlag, SelectFlag, Setting, Settings};
use crate::error::Error;
use crate::exit::Exit;
use crate::host_options::HostOptions;
use crate::journal::{JournalOptions, Recording};
use crate::provider_choice::ProviderChoice;
use crate::session::note_session;
use crate::{count, interrupt, notice, policy, program, refusal, remote_tools};
use tools::counted;

/// The default of --max-calls.
const MAX_CALLS: NonZeroUsize = NonZeroUsize::new(ToolServer::DEFAULT_MAX_CALLS).unwrap();

/// Offer the tools to a client of the Model Context Protocol (MCP), such as an editor or an assistant
///
/// Without --http, the client is the program that starts this one: messages go over standard input and output, until standard input
/// ends. Reading below the root and the clock is permitted. For other calls the client asks its user, and they are refused if it
/// cannot. Tools that ask a model get that of the client, if it has one for them. SIGTERM and Ctrl-C let running calls end for a while, and then cancel them.
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    select: KeyFlags<SelectFlag>,

    #[command(flatten)]
    endpoint: EndpointOptions,

    /// The form of the tools' names: `underscored`, such as fs_read, which all services of models take, or `dotted`, such as fs.read.
    /// Clients may call either
    #[arg(long, value_name = "FORM", default_value = "underscored")]
    names: NameForm,

    /// Run at most this many calls of all clients at the same time
    #[arg(long, value_name = "N", default_value_t = MAX_CALLS, value_parser = count::parse)]
    max_calls: NonZeroUsize,

    /// Record the calls in this file, created if missing. File tools cannot reach it
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Record the arguments of calls, which may contain secrets, in addition to their digests
    #[arg(long, requires = "journal")]
    journal_arguments: bool,

    #[command(flatten)]
    host: HostOptions,

    #[command(flatten)]
    questions: KeyFlags<QuestionFlag>,
}

/// The form of the names that clients see.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum NameForm {
    Underscored,
    Dotted,
}

impl ServeArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let mut flags = self.select.values()?;
        flags.merge(self.questions.values()?);
        let hidden = self
            .journal_options()
            .files()
            .into_iter()
            .chain(self.endpoint.token_file.clone());
        let settings = self.host.settings(flags)?.with_hidden_files(hidden);
        let target = client_model::name().target().ok();
        let clause = target.map(|target| Setting::from_default(target.to_clause()));
        let settings = clause
            .into_iter()
            .fold(settings, Settings::with_default_grant);
        let endpoint = self.endpoint.endpoint()?;
        let shutdown = interrupt::token(&Arc::default())?;
        interrupt::cancel_on_termination(shutdown.clone());
        let recording = self.recording(&settings).await?;
        let context = self.context(&settings, recording.as_ref())?;
        let _traces = host::start_traces(&settings);
        let selection = settings.selection()?;
        let _servers = remote_tools::attach(
            self.host.servers_root(),
            &settings,
            &selection,
            host::FirstList::Later,
            &shutdown,
        )
        .await;
        notice::warn_unmatched(&selection, &tools::list());
        let set = tool_set(&selection, &context);
        let calls = AtomicU64::new(0);
        let of_calls = context.clone();
        let form = match self.names {
            NameForm::Underscored => ServedNames::Underscored,
            NameForm::Dotted => ServedNames::Dotted,
        };
        let server = ToolServer::new(served(&set, form)?, move |request| {
            let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
            let services = match request.connection {
                Some(connection) => connection
                    .services(|| of_calls.services().for_sub_agent())
                    .clone(),
                None => {
                    let mut services = of_calls.services().clone();
                    Tasks::offer_for_one_call(&mut services);
                    services
                }
            };
            let cx = of_calls
                .clone()
                .with_services(services)
                .with_service(models(Some(request.peer)));
            cx.with_place(CallPlace::new(number, 0).with_id(request.id))
        });
        let rules: Vec<_> = settings.rules().collect();
        let server = server.with_advice(move |entry, arguments, error| {
            let touched = entry.targets(arguments).unwrap_or_default();
            let refusal = Refusal::from_error(error, &touched)?;
            let hints = refusal::hints(&[refusal], &rules, how_to_permit);
            (!hints.is_empty()).then(|| hints.join("; "))
        });
        let server = server
            .with_identity(program::name(), program::version())
            .with_max_calls(self.max_calls.get());
        let following = tokio::spawn(follow(
            server.clone(),
            selection,
            context,
            set.clone(),
            form,
        ));
        let ended = endpoint
            .serve(&server, &counted(set.len() as u64, "tool"), shutdown)
            .await;
        following.abort();
        ended.map(|()| Exit::Success)
    }

    async fn recording(&self, settings: &Settings) -> Result<Option<Recording>, Error> {
        if self.journal.is_none() {
            return Ok(None);
        }
        let choice = ProviderChoice::from_settings(settings);
        self.journal_options()
            .recording(self.host.root.workspace()?, settings, &choice, None)
            .await
    }

    /// Returns the context of all calls. The server adds the client's approver to it, so none asks at the terminal.
    fn context(&self, settings: &Settings, recording: Option<&Recording>) -> Result<Host, Error> {
        let context = self
            .host
            .unattended_context(settings, CancellationToken::new())?;
        note_session(&self.host.root.workspace()?);
        // Nobody knows the text that the model of a client has read.
        context.record_exposure();
        let context = context.with_service(models(None));
        let mut services = context.services().clone();
        Tasks::offer_to_clients(&mut services);
        let context = context.with_services(services);
        Ok(match recording {
            Some(recording) => recording.context(context),
            None => context,
        })
    }

    fn journal_options(&self) -> JournalOptions {
        JournalOptions::for_calls(self.journal.clone(), self.journal_arguments)
    }
}

/// Returns the models of a call: that of its client.
fn models(peer: Option<&Peer>) -> Models {
    Models::new(Arc::new(ClientModel(peer.cloned()))).with_name(client_model::name())
}

/// Returns the selected tools without those that start sub-agents: the model runs at the client.
fn tool_set(selection: &Selection, context: &ToolContext) -> ToolSet {
    let starts_agents = |entry: &Arc<Entry>| {
        entry
            .needs()
            .iter()
            .any(|need| need.id() == TypeId::of::<SubAgents>())
    };
    let entries = tools::list()
        .into_iter()
        .filter(|entry| !starts_agents(entry));
    ToolSet::new(
        with_session_model(entries, context.services()),
        selection,
        context.services(),
    )
}

/// Returns the words in the client's configuration that permit calls on these targets.
fn how_to_permit(needed: &[Target]) -> String {
    let words = needed.iter().flat_map(|target| {
        [
            policy::consenting_flag(target).to_owned(),
            target.to_clause().as_str().to_owned(),
        ]
    });
    let words: Vec<_> = words.map(|word| Value::from(word).to_string()).collect();
    format!(
        "to allow it, the user adds {} to \"args\" of this server's entry in the client's configuration, and starts the server again",
        words.join(", ")
    )
}

fn served(set: &ToolSet, form: ServedNames) -> Result<ServedTools, Error> {
    let served = ServedTools::with_names(set.list().iter().cloned(), set.clone(), form)?;
    for (name, reason) in served.left_out() {
        notice::warning(&format!("{name} is not served: {reason}"));
    }
    Ok(served)
}

/// Serves the tools of the catalog as it changes.
async fn follow(
    server: ToolServer,
    selection: Selection,
    context: Host,
    mut set: ToolSet,
    form: ServedNames,
) {
    let mut changes = tools::subscribe();
    loop {
        let current = tool_set(&selection, &context);
        if current.digest() != set.digest()
            && let Ok(served) = served(&current, form)
        {
            server.replace_tools(served);
            set = current;
        }
        if changes.changed().await.is_none() {
            return;
        }
    }
}
