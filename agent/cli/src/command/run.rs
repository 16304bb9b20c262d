//! `toolcrib run`

use std::sync::Arc;

use clap::Args;

use crate::approval_option::ApprovalOptions;
use crate::error::Error;
use crate::exit::Exit;
use crate::host_options::how_to_grant;
use crate::output_format::OutputOption;
use crate::prompt_runner::RunInput;
use crate::session::{OpenSession, SessionOptions};
use crate::{interrupt, standard_input};

/// Run an agent session on a prompt and print the answer
///
/// Calls, their progress and a summary go to standard error. Reading below the root and the clock is permitted, as
/// are questions to you. Other calls need approval on a terminal, and are refused without one unless --defer-approvals.
/// Calls that wait for an approval wait on when the session is resumed without an answer.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// The prompt; for the provider direct, tool calls such as 'fs.list path=. ; time.now zone=UTC'. Without one, or for -, it is
    /// read from standard input, up to 1 MiB
    #[arg(conflicts_with = "resume")]
    prompt: Option<String>,

    /// The other words of a prompt without quotes
    #[arg(hide = true)]
    others: Vec<String>,

    #[command(flatten)]
    options: SessionOptions,

    #[command(flatten)]
    approvals: ApprovalOptions,

    #[command(flatten)]
    output: OutputOption,
}

impl RunArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        if let Some(other) = self.others.into_iter().next() {
            return Err(Error::UnquotedPrompt(other));
        }
        let console = Arc::default();
        let token = interrupt::token(&console)?;
        let consent = self.approvals.consent();
        let opened = self
            .options
            .open(
                self.output.format,
                console,
                Arc::new(how_to_grant),
                token.clone(),
                consent,
            )
            .await?;
        let OpenSession {
            traces: _traces,
            recording: _recording,
            servers: _servers,
            runner,
            mut session,
            resumed,
        } = opened;
        self.approvals.answer(&session, resumed.as_ref())?;
        let input = match resumed {
            Some(run) => RunInput::Resume(Box::new(run)),
            None => RunInput::Prompt(match self.prompt.filter(|prompt| prompt != "-") {
                Some(prompt) => prompt,
                None => standard_input::prompt()?,
            }),
        };
        match runner.run(&mut session, input, token).await {
            Err(error) => Err(self
                .options
                .journal
                .unfinished(error, &session, "run")
                .await),
            ended => ended,
        }
    }
}
