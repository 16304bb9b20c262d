//! `toolcrib chat`

use std::collections::VecDeque;
use std::sync::Arc;

use clap::Args;
use tools::CancellationToken;

use crate::chat::{self, Input, how_to_grant};
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::output::OutputOption;
use crate::session::SessionOptions;

/// Run an agent session prompt by prompt
///
/// On a terminal, type prompts or /help; otherwise each line of standard input is a prompt. Answers go to standard output,
/// everything else to standard error. Ctrl-C cancels the run and the session continues; Ctrl-D ends it.
#[derive(Args, Debug)]
pub(super) struct ChatArgs {
    #[command(flatten)]
    options: SessionOptions,

    /// Do not read or write the prompt history ($XDG_STATE_HOME/toolcrib/history)
    #[arg(long)]
    no_history: bool,

    #[command(flatten)]
    output: OutputOption,
}

impl ChatArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        // Each prompt gets its own token; this one is never cancelled.
        let token = CancellationToken::new();
        let format = self.output.format;
        let how_to_grant = Arc::new(how_to_grant);
        let opening = self
            .options
            .open(format, Arc::default(), how_to_grant, token, None);
        let mut opened = opening.await?;
        // A hint to continue in a chat helps nobody who is in one.
        opened.runner.resume = None;
        self.output.apply();
        let input = Input::new(!self.no_history)?;
        let interrupts = Interrupts::new(input.is_interactive, &opened.runner.console)?;
        let root = self.options.agent.host.root.workspace()?.into();
        let mut chat = chat::Chat {
            root,
            waiting: VecDeque::new(),
            opened,
            input,
            interrupts,
        };
        match chat.run().await {
            Err(error) => {
                let session = &chat.opened.session;
                Err(self.options.journal.add_hint(error, session, "chat").await)
            }
            ended => ended,
        }
    }
}
