//! [`ClientOptions`]: the options of a command that serves clients.

use std::path::PathBuf;

use agent::refusal::Refusal;
use clap::Args;
use host::{ClientCalls, ClientCallsRequest, FirstList};
use serde_json::Value;
use tools::{CancellationToken, Target};

use crate::config::{KeyFlags, ProgramSettings as _, QuestionFlag, SelectFlag, Setting, Settings};
use crate::error::Error;
use crate::host_options::HostOptions;
use crate::journal::JournalOptions;
use crate::provider_choice::ProviderChoice;
use crate::session::note_session;
use crate::{notice, policy, refusal, tool_list};

/// The options of a command that serves clients.
#[derive(Args, Debug)]
pub(crate) struct ClientOptions {
    #[command(flatten)]
    select: KeyFlags<SelectFlag>,

    /// Record the calls in this file, created if missing. File tools cannot reach it
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Record the arguments of calls, which may contain secrets, in addition to their digests
    #[arg(long, requires = "journal")]
    journal_arguments: bool,

    #[command(flatten)]
    pub(crate) host: HostOptions,

    #[command(flatten)]
    questions: KeyFlags<QuestionFlag>,
}

impl ClientOptions {
    /// Begins the calls of clients. The server adds the client's approver to their context, so none asks at the terminal.
    pub(crate) async fn calls(
        &self,
        request: ClientCallsRequest<'_>,
    ) -> Result<ClientCalls, Error> {
        let journal = JournalOptions::for_calls(self.journal.clone(), self.journal_arguments);
        let mut flags = self.select.values()?;
        flags.merge(self.questions.values()?);
        let hidden = journal.files().into_iter().chain(request.hidden);
        let mut settings = self.host.settings(flags)?;
        settings.hidden.extend(hidden);
        let grants = request.grants.into_iter().map(Setting::from_default);
        let settings = grants.fold(settings, Settings::with_default_grant);
        let workspace = self.host.root.workspace()?;
        let recording = match self.journal {
            None => None,
            Some(_) => {
                let choice = ProviderChoice::from_settings(&settings);
                let workspace = workspace.clone();
                journal
                    .recording(workspace, &settings, &choice, None)
                    .await?
            }
        };
        let token = CancellationToken::new();
        let host = self.host.unattended_host(&settings, token)?;
        note_session(&workspace);
        let traces = host::start_traces(&settings);
        let selection = settings.selection()?;
        // Clients are told of tools that come later, so the start does not wait for servers.
        let root = self.host.servers_root();
        let later = FirstList::Later;
        let servers =
            tool_list::attach(root, &settings, &selection, later, request.cancellation).await;
        notice::warn_unmatched(&selection, &tools::list());
        let select = settings.program().select.iter();
        let rules = settings.rules().collect::<Vec<_>>();
        let how_to_permit = request.how_to_permit;
        let context = match &recording {
            Some(recording) => recording.enter(host),
            None => host,
        };
        Ok(ClientCalls {
            context: context.clone(),
            select: select.flat_map(|select| select.value.clone()).collect(),
            advice: Box::new(move |entry, arguments, error| {
                let touched = entry.targets(arguments, &context).unwrap_or_default();
                let refusal = Refusal::from_error(error, &touched)?;
                let hints = refusal::hints(&[refusal], &rules, |needed| {
                    how_to_permit(&flags_as_json(needed))
                });
                (!hints.is_empty()).then(|| hints.join("; "))
            }),
            // The servers are dropped first.
            attached: Box::new((servers, traces, recording)),
        })
    }
}

/// Returns the words of a command line that permit calls on these targets.
fn flags_as_json(needed: &[Target]) -> String {
    let words = needed.iter().flat_map(|target| {
        let flag = policy::consenting_flag(target).to_owned();
        [flag, target.to_clause().as_str().to_owned()]
    });
    let words: Vec<_> = words.map(|word| Value::from(word).to_string()).collect();
    words.join(", ")
}
