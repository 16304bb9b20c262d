//! [`Chat`]: a session of many prompts.

mod command;
mod editor;
mod history;
mod input;
mod line;
mod page;

use agent::{Run, Selection, Session};
use tools::{CancellationToken, Clause, Grant};

pub(crate) use self::command::how_to_grant;
use self::command::{Command, Said};
pub(crate) use self::input::Input;
use self::input::Line;
use crate::error::Error;
use crate::exchange::{Exchange, Work};
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::notice;
use crate::policy::consent;

/// Takes prompts and commands until there are no more.
pub(crate) struct Chat {
    pub(crate) session: Session,
    pub(crate) exchange: Exchange,
    pub(crate) input: Input,
    pub(crate) interrupts: Interrupts,
    /// What an earlier process has begun, to be ended first.
    pub(crate) resumed: Option<Run>,
}

impl Chat {
    /// Chats to the end. A person at a terminal has seen what failed; elsewhere the first failure decides the exit.
    pub(crate) async fn run(mut self) -> Result<Exit, Error> {
        let mut first_failure = None;
        if self.input.is_interactive() {
            notice::note("/help tells what can be typed; Ctrl-C cancels, Ctrl-D ends the chat");
        }
        if let Some(run) = self.resumed.take() {
            first_failure = Some(self.work(Work::Resume(run)).await?).filter(|exit| *exit != Exit::Success);
        }
        loop {
            let text = match tokio::task::block_in_place(|| self.input.line())? {
                Line::Text(text) => text,
                Line::Interrupted => {
                    notice::note("Ctrl-D or /quit ends the chat");
                    continue;
                }
                Line::End => break,
            };
            let exit = match command::said(&text) {
                Ok(Said::Nothing) => continue,
                Ok(Said::Prompt(prompt)) => self.work(Work::Prompt(prompt)).await?,
                Ok(Said::Command(Command::Quit)) => break,
                Ok(Said::Command(command)) => self.obey(command),
                Err(refused) => refuse(&refused),
            };
            if exit != Exit::Success {
                first_failure.get_or_insert(exit);
            }
        }
        Ok(first_failure.filter(|_| !self.input.is_interactive()).unwrap_or(Exit::Success))
    }

    /// Runs a prompt. What fails, fails for this prompt alone, unless there is nowhere left to write to, or nobody who could
    /// have a say after Ctrl-C.
    async fn work(&mut self, work: Work) -> Result<Exit, Error> {
        let token = CancellationToken::new();
        let watch = self.interrupts.watch(token.clone());
        let ended = self.exchange.run(&mut self.session, work, token).await;
        drop(watch);
        match ended {
            Err(Error::Cancelled) if self.input.is_interactive() => {
                notice::note("cancelled; the conversation goes on");
                Ok(Exit::Cancelled)
            }
            Err(error @ (Error::Cancelled | Error::Output(_))) => Err(error),
            Err(error) => Ok(error.report()),
            Ok(exit) => Ok(exit),
        }
    }

    fn obey(&mut self, command: Command) -> Exit {
        match command {
            Command::Tools => notice::aside(&page::tools(self.session.tools(), notice::width())),
            Command::Select { globs } => return self.select(&globs),
            Command::Grant { clauses } => self.grant(&clauses),
            Command::Clear => self.clear(),
            Command::Help => notice::aside(&page::help(notice::width())),
            Command::Quit => {}
        }
        Exit::Success
    }

    fn select(&mut self, globs: &[String]) -> Exit {
        if !globs.is_empty() {
            let selection = match Selection::parse(globs) {
                Ok(selection) => selection,
                Err(error) => return refuse(&error.to_string()),
            };
            let entries = tools::list();
            notice::warn_unmatched(&selection, &entries);
            self.session.select(selection, entries);
        }
        let (selection, count) = (self.session.selection(), self.session.tools().len());
        notice::note(&format!("tools selected by {selection}: {count}"));
        Exit::Success
    }

    /// Adds the clauses to every layer of the grant: what each of them permits is permitted then, and writing it is not asked
    /// about any more.
    fn grant(&mut self, clauses: &[Clause]) {
        if !clauses.is_empty() {
            let grant = self.session.context().grant();
            let wider = grant.layers().map(|layer| Grant::new(layer.iter().chain(clauses).cloned()));
            if let Some(wider) = wider.reduce(|all, layer| all.intersect(&layer)) {
                self.session.set_grant(wider);
                let policy = self.session.context().policy().cloned().unwrap_or_default();
                self.session.set_policy(policy.with_rules(consent(clauses)));
            }
        }
        notice::note(&format!("granted: {}", self.session.context().grant()));
    }

    fn clear(&mut self) {
        let before = self.session.messages().len();
        self.session.clear();
        notice::note(&format!("messages forgotten: {}", before - self.session.messages().len()));
    }
}

fn refuse(reason: &str) -> Exit {
    notice::error(reason);
    Exit::Usage
}
