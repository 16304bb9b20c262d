//! `toolcrib run`

use clap::Args;

use crate::error::Error;
use crate::exchange::Work;
use crate::exit::Exit;
use crate::host::how_to_grant;
use crate::interrupt;
use crate::session::SessionOptions;

/// Run an agent session on a prompt and print the answer
///
/// Calls, their progress and a summary go to the standard error. Reading below the root and the clock is granted; anything
/// else is asked about on a terminal and refused otherwise.
#[derive(Args, Debug)]
pub(super) struct Run {
    /// What to do. The provider direct takes tool calls, such as 'fs.list path=. ; time.now zone=UTC'
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    prompt: Option<String>,

    #[command(flatten)]
    options: SessionOptions,

    /// Print the events of the run, one JSON document per line
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let exchange = self.options.exchange(self.json, how_to_grant)?;
        let token = interrupt::token()?;
        let mut session = self.options.session(token.clone(), &exchange.console)?;
        let work = match self.options.journal.stored_run(&session).await? {
            Some(run) => Work::Resume(run),
            None => Work::Prompt(self.prompt.unwrap_or_default()),
        };
        exchange.run(&mut session, work, token).await
    }
}
