//! `toolcrib run`

use std::sync::Arc;

use clap::Args;

use crate::error::Error;
use crate::exchange::{Exchange, Work};
use crate::exit::Exit;
use crate::host::how_to_grant;
use crate::interrupt;
use crate::output::Console;
use crate::session::{DIRECT, SessionOptions};

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
        let provider = self.options.provider()?;
        let is_direct = provider.name() == DIRECT;
        let token = interrupt::token()?;
        let console = Arc::new(Console::default());
        let mut session = self.options.session(token.clone(), &console)?;
        let driver = self.options.driver(provider)?;
        let rules = self.options.settings()?.policy.clone();
        let exchange = Exchange { driver, is_direct, is_json: self.json, console, how_to_grant, rules };
        let work = match self.options.journal.stored_run(&session).await? {
            Some(run) => Work::Resume(run),
            None => Work::Prompt(self.prompt.unwrap_or_default()),
        };
        exchange.run(&mut session, work, token).await
    }
}
