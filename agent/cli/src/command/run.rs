//! `toolcrib run`

use std::path::PathBuf;
use std::sync::Arc;

use agent::{ApprovalRequest, DeferredConsent, Run, Session};
use clap::Args;

use crate::attachment::Attachment;
use crate::config::PERMISSIONS;
use crate::detail::DetailOptions;
use crate::error::Error;
use crate::host_options::how_to_grant;
use crate::output::OutputOption;
use crate::prompt_runner::RunInput;
use crate::session::SessionOptions;
use crate::{interrupt, notice, standard_input};
use host::exit::Exit;

/// Run an agent session on a prompt and print the answer
///
/// Calls, their progress and a summary go to standard error. Reading below the root and the clock is permitted, as
/// are questions to you. Other calls need approval on a terminal, and are refused without one unless --defer-approvals.
/// Calls that wait for an approval wait on when the session is resumed without an answer. With --resume, a prompt goes on with a session that
/// has its answer.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// The prompt; for the provider direct, tool calls such as 'fs.list path=. ; time.now zone=UTC'. Without one, or for -, it is
    /// read from standard input, up to 1 MiB
    prompt: Option<String>,

    /// The other words of a prompt without quotes
    #[arg(hide = true)]
    others: Vec<String>,

    /// Add a file to the prompt: an image (PNG, JPEG, GIF or WebP), or text of at most 1 MiB. You name it, so no grant is needed
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,

    #[command(flatten)]
    options: SessionOptions,

    #[command(flatten)]
    approvals: ApprovalOptions,

    #[command(flatten)]
    output: OutputOption,

    #[command(flatten)]
    detail: DetailOptions,
}

impl RunArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        if let Some(other) = self.others.into_iter().next() {
            // The first word alone would be another prompt.
            return Err(Error::UnquotedPrompt(other));
        }
        let root = PathBuf::from(self.options.agent.host.root.workspace()?);
        let attachments = self.attach.iter();
        let attachments = attachments.map(|path| Attachment::open(path, &root));
        let attachments = attachments.collect::<Result<Vec<_>, _>>()?;
        let console = Arc::default();
        let token = interrupt::token(&console)?;
        let consent = self.approvals.consent();
        let format = self.output.format;
        let how_to_grant = Arc::new(how_to_grant);
        let opening = self
            .options
            .open(format, console, how_to_grant, token.clone(), consent);
        let mut opened = opening.await?;
        opened.show(self.detail.detail(), None);
        let session = &mut opened.session;
        let runner = &opened.runner;
        self.output.apply();
        if let Some(attachment) = attachments.first().filter(|_| runner.is_direct()) {
            let reason =
                "the provider direct has no model that reads it; choose one with --provider";
            return Err(Error::attachment(&attachment.name, reason));
        }
        if let (Some(attachment), true, None) =
            (attachments.first(), opened.resumed.is_some(), &self.prompt)
        {
            let reason = "a resumed session takes it with a prompt; add one";
            return Err(Error::attachment(&attachment.name, reason));
        }
        self.approvals.answer(session, opened.resumed.as_ref())?;
        let resumed = opened.resumed.take();
        let input = match resumed {
            Some(run) if self.prompt.is_none() => RunInput::Resume(Box::new(run)),
            resumed => {
                if let Some(run) = resumed {
                    runner.enter(session, run).await?;
                }
                let prompt = match self.prompt.filter(|prompt| prompt != "-") {
                    Some(prompt) => prompt,
                    None => standard_input::prompt()?,
                };
                let cx = session.context();
                RunInput::Prompt(Attachment::add_all(attachments, prompt, cx, notice::note))
            }
        };
        match runner.run(session, input, token.into()).await {
            Err(error) => Err(self.options.add_hint(error, session, "run").await),
            ended => ended,
        }
    }
}

/// The reason of a denied call, for the model.
const DENIED: &str = "a person denied it";

/// The options of runs that do not wait for a person.
#[derive(Args, Debug, Default)]
struct ApprovalOptions {
    /// Without a terminal, do not refuse calls that need approval: print the requests as JSON, and exit with code 11. The session
    /// continues with --resume and the answers
    #[arg(long, help_heading = PERMISSIONS)]
    defer_approvals: bool,

    /// Approve the call of this request in the session of --resume. Other calls that need approval wait too
    #[arg(long, value_name = "REQUEST", requires = "resume", help_heading = PERMISSIONS)]
    approve: Vec<String>,

    /// Deny the call of this request in the session of --resume
    #[arg(long, value_name = "REQUEST", requires = "resume", help_heading = PERMISSIONS)]
    deny: Vec<String>,
}

impl ApprovalOptions {
    /// Returns the approver of the run. Returns `None` if these options ask for nothing.
    pub(crate) fn consent(&self) -> Option<DeferredConsent> {
        let is_used = self.defer_approvals || !self.approve.is_empty() || !self.deny.is_empty();
        is_used.then(DeferredConsent::new)
    }

    /// Gives the session the answers to the requests of its run.
    ///
    /// # Errors
    /// - Returns [`Error::Unrecorded`] if the session could not be resumed with an answer.
    /// - Returns [`Error::NoRequest`] if the run waits for no such request.
    pub(crate) fn answer(&self, session: &Session, run: Option<&Run>) -> Result<(), Error> {
        let cx = session.context();
        let Some(consent) = cx.service::<DeferredConsent>() else {
            return Ok(());
        };
        // Nobody could answer a request of a session that is gone with its process.
        if !cx.is_recorded() || cx.session().is_none() {
            return Err(Error::Unrecorded);
        }
        let requests = run.map(Run::waiting_requests).unwrap_or_default();
        for id in &self.approve {
            consent.allow(find_request(id, requests)?);
        }
        for id in &self.deny {
            consent.deny(find_request(id, requests)?, DENIED);
        }
        Ok(())
    }
}

/// Returns the request of that id.
fn find_request(id: &str, requests: &[ApprovalRequest]) -> Result<ApprovalRequest, Error> {
    let found = requests.iter().find(|request| request.id == id).cloned();
    found.ok_or_else(|| {
        let waiting = requests.iter().map(|request| request.id.clone()).collect();
        Error::NoRequest {
            id: id.to_owned(),
            waiting,
        }
    })
}
