//! `toolcrib run`

use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::host::how_to_grant;
use crate::prompt_runner::RunInput;
use crate::session::SessionOptions;
use crate::{interrupt, journal};

/// Run an agent session on a prompt and print the answer
///
/// Calls, their progress and a summary go to standard error. Reading below the root and the clock is permitted. Other
/// calls need approval on a terminal, and are refused without one.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// The prompt; for the provider direct, tool calls such as 'fs.list path=. ; time.now zone=UTC'
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    prompt: Option<String>,

    #[command(flatten)]
    options: SessionOptions,

    /// Print the events of the run as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let runner = self.options.runner(self.json, how_to_grant)?;
        let token = interrupt::token()?;
        let recording = self.options.recording().await?;
        let mut session = self.options.session(token.clone(), &runner.console, recording.as_ref())?;
        let input = match journal::stored_run(recording.as_ref(), &session).await? {
            Some(run) => RunInput::Resume(run),
            None => RunInput::Prompt(self.prompt.unwrap_or_default()),
        };
        runner.run(&mut session, input, token).await
    }
}
