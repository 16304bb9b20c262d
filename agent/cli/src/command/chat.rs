//! `toolcrib chat`

use clap::Args;
use tools::CancellationToken;

use crate::chat::{self, Input, how_to_grant};
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::session::SessionOptions;

/// Run an agent session prompt by prompt
///
/// On a terminal, prompts are typed, and /help tells the rest; otherwise each line of the standard input is one. Answers go to
/// the standard output and everything else to the standard error. Ctrl-C cancels what runs and the session goes on; Ctrl-D
/// ends it.
#[derive(Args, Debug)]
pub(super) struct Chat {
    #[command(flatten)]
    options: SessionOptions,

    /// Keep no history of what is typed, and read none; it is else in toolcrib/history below XDG_STATE_HOME
    #[arg(long)]
    no_history: bool,

    /// Print the events of each run, one JSON document per line
    #[arg(long)]
    json: bool,
}

impl Chat {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let exchange = self.options.exchange(self.json, how_to_grant)?;
        // Each prompt has a token of its own; this one is never cancelled.
        let session = self.options.session(CancellationToken::new(), &exchange.console)?;
        let input = Input::new(!self.no_history)?;
        let interrupts = Interrupts::new(input.is_interactive())?;
        let resumed = self.options.journal.stored_run(&session).await?;
        chat::Chat { session, exchange, input, interrupts, resumed }.run().await
    }
}
