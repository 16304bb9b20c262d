//! `toolcrib chat`

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use terminal::{Input, InputOptions};
use tools::CancellationToken;

use crate::chat::{self, Completion, how_to_grant};
use crate::detail::DetailOptions;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::notice;
use crate::output::OutputOption;
use crate::session::SessionOptions;
use crate::session_view::SessionView;
use host::exit::Exit;

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

    #[command(flatten)]
    detail: DetailOptions,
}

impl ChatArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let mut options = self.options;
        let view: Arc<SessionView> = Arc::default();
        let format = self.output.format;
        let root: PathBuf = options.agent.host.root.workspace()?.into();
        let mut keyboard = None;
        loop {
            // Each prompt gets its own token; this one is never cancelled.
            let token = CancellationToken::new();
            let how_to_grant = Arc::new(how_to_grant);
            let opening = options.open(format, view.clone(), how_to_grant, token, None);
            let mut opened = opening.await?;
            // A hint to continue in a chat helps nobody who is in one.
            opened.runner.resume = None;
            opened.show(self.detail.detail(), Some(root.clone()));
            self.output.apply();
            let (input, interrupts) = match keyboard.take() {
                Some(keyboard) => keyboard,
                None => {
                    let completion = Completion {
                        root: root.clone(),
                        cx: opened.session.context().clone(),
                    };
                    let history = host::folders::history().filter(|_| !self.no_history);
                    let input = Input::new(InputOptions {
                        prompt: chat::prompt(),
                        history,
                        completion: Box::new(move |before| completion.candidates(before)),
                        warn: |message| {
                            notice::warning(&format!("{message}; --no-history turns it off"));
                        },
                    })
                    .map_err(Error::prompt)?;
                    let interrupts = Interrupts::new(input.is_interactive, &view)?;
                    (input, interrupts)
                }
            };
            let mut chat = chat::Chat {
                root: root.clone(),
                waiting: VecDeque::new(),
                journal: options.journal.clone(),
                next: None,
                opened,
                input,
                interrupts,
            };
            let ended = chat.run().await;
            if let Err(error) = ended {
                let session = &chat.opened.session;
                return Err(options.add_hint(error, session, "chat").await);
            }
            let Some(next) = chat.next.take() else {
                return ended;
            };
            options.journal = next;
            view.effects.with_originals(std::mem::take);
            keyboard = Some((chat.input, chat.interrupts));
        }
    }
}
