//! [`Chat`]: a session of many prompts.

mod command;
mod completion;
mod look;
mod model;
mod page;
mod status;
mod typed_program;
mod typing;

use agent::consent::rules_from_grant;
use std::collections::VecDeque;
use std::path::PathBuf;
use terminal::{Input, Line, stderr};

use agent::{RunHandle, Selection, ToolSet};
use tools::{CancellationToken, Clause, Grant, join};

pub(crate) use self::command::how_to_grant;
use self::command::{ParsedLine, SlashCommand};
pub(crate) use self::completion::Completion;
use self::typing::Typing;
use crate::attachment::Attachment;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::journal::JournalOptions;
use crate::prompt_runner::RunInput;
use crate::session::OpenSession;
use crate::{notice, program};
use host::exit::Exit;
use tools::visible::visible;

/// Reads prompts and commands until the input ends.
pub(crate) struct Chat {
    pub(crate) opened: OpenSession,
    pub(crate) input: Input,
    pub(crate) interrupts: Interrupts,
    /// The path of the workspace, without links.
    pub(crate) root: PathBuf,
    /// The lines that were typed during a run and wait for its end.
    pub(crate) waiting: VecDeque<Line>,
    /// The journal of this session and others.
    pub(crate) journal: JournalOptions,
    /// The session that the chat goes on with, once the person has named one.
    pub(crate) next: Option<JournalOptions>,
}

impl Chat {
    /// Runs the chat. On a terminal the exit code is 0, because the person has seen the failures; otherwise the first failure
    /// decides it.
    pub(crate) async fn run(&mut self) -> Result<Exit, Error> {
        let mut first_failure = None;
        if self.input.is_interactive {
            notice::wrapped_note("/help lists the commands; Ctrl-C cancels, Ctrl-D ends the chat");
        }
        if let Some(run) = self.opened.resumed.take() {
            first_failure = Some(self.run_input(RunInput::Resume(Box::new(run))).await?)
                .filter(|exit| *exit != Exit::Success);
        }
        let changes = tools::subscribe();
        let mut generation = changes.generation();
        loop {
            let line = self.line().await?;
            // Servers change their lists while a person types.
            if generation != changes.generation() {
                generation = changes.generation();
                self.opened.session.refresh(tools::list());
            }
            let text = match line {
                Line::Text(text) => text,
                Line::Interrupted => {
                    notice::note("Ctrl-D or /quit ends the chat");
                    continue;
                }
                Line::End => break,
            };
            let exit = match command::parse(&text) {
                Ok(ParsedLine::Empty) => continue,
                Ok(ParsedLine::Prompt(prompt)) => self.run_typed(prompt).await?,
                Ok(ParsedLine::ServerPrompt(call)) => self.run_prompt(&call).await?,
                Ok(ParsedLine::Command(SlashCommand::Quit)) => break,
                Ok(ParsedLine::Program(text)) => self.run_program(&text).await?,
                Ok(ParsedLine::Command(SlashCommand::Compact)) => self.compact().await?,
                Ok(ParsedLine::Command(command)) => self.execute(command).await,
                Err(reason) => usage_error(&reason),
            };
            if exit != Exit::Success {
                first_failure.get_or_insert(exit);
            }
            if self.next.is_some() {
                break;
            }
        }
        Ok(first_failure
            .filter(|_| !self.input.is_interactive)
            .unwrap_or(Exit::Success))
    }

    /// Returns the next line: one that was typed during a run, or a new one.
    async fn line(&mut self) -> Result<Line, Error> {
        let view = &self.opened.runner.view;
        if let Some(line) = self.waiting.pop_front() {
            if let Line::Text(text) = &line {
                view.console.line(format!("{}{}", prompt(), visible(text)));
            }
            return Ok(line);
        }
        // A question of a sub-agent in the background waits for the end of the line.
        let _reader = view.console.reader().await;
        let status = status::status(&self.opened, &self.root);
        let is_shown = stderr::has_styles();
        self.input
            .line(if is_shown { status } else { String::new() })
            .await
            .map_err(Error::prompt)
    }

    /// Runs a typed prompt, with the files that it names.
    async fn run_typed(&mut self, prompt: String) -> Result<Exit, Error> {
        // A prompt from a pipe may be text of strangers, who must not choose files.
        if !self.input.is_interactive || self.opened.runner.is_direct() {
            return self.run_input(RunInput::Prompt(prompt.into())).await;
        }
        let cx = self.opened.session.context();
        match Attachment::mentioned(&prompt, &self.root, cx) {
            Ok(files) => {
                let prompt = Attachment::add_all(files, prompt, cx, notice::note);
                self.run_input(RunInput::Prompt(prompt)).await
            }
            Err(error) => Ok(error.report()),
        }
    }

    /// Runs a prompt. A failure ends this prompt only, except when the output is closed, the session can no longer be recorded, or Ctrl-C cancels
    /// without a terminal.
    async fn run_input(&mut self, input: RunInput) -> Result<Exit, Error> {
        let handle = RunHandle::new();
        let attached = self.interrupts.attach(handle.token().clone());
        let status = status::status(&self.opened, &self.root);
        self.opened.runner.view.console.set_status(status);
        let runner = &self.opened.runner;
        let session = &mut self.opened.session;
        let cx = session.context().clone();
        let run = runner.run(session, input, handle.clone());
        let typing = Typing {
            runner,
            input: &self.input,
            handle: handle.clone(),
            cx,
            root: &self.root,
            lines: Vec::new(),
            sent: 0,
            pasted: String::new(),
        };
        let (ended, lines) = typing.during(run).await;
        self.waiting.extend(lines);
        drop(attached);
        if handle.token().is_cancelled() {
            self.discard_waiting();
        }
        self.report_end(ended)
    }

    /// Runs a prompt of a server.
    async fn run_prompt(&mut self, call: &host::PromptCall) -> Result<Exit, Error> {
        let token = CancellationToken::new();
        let attached = self.interrupts.attach(token.clone());
        let cx = self.opened.session.context().clone();
        let cx = cx.with_cancellation(token.clone());
        let text = token
            .run_until_cancelled(self.opened.servers.prompt(call, &cx))
            .await;
        drop(attached);
        match text.map_or(Err(Error::Cancelled), |text| Ok(text?)) {
            Ok(text) => self.run_input(RunInput::Prompt(text.into())).await,
            Err(error) => self.report_end(Err(error)),
        }
    }

    /// Forgets the lines that wait for the end of a run, because a person who cancels the run wants none of them to begin another one.
    fn discard_waiting(&mut self) {
        self.waiting.retain(|line| {
            if let Line::Text(text) = line {
                notice::note(&format!("not sent: {text}"));
            }
            *line == Line::End
        });
    }

    /// Reports a failure that does not end the chat.
    fn report_end(&self, ended: Result<Exit, Error>) -> Result<Exit, Error> {
        match ended {
            Err(Error::Cancelled) if self.input.is_interactive => {
                notice::note("cancelled; the conversation continues");
                Ok(Exit::Cancelled)
            }
            Err(error @ (Error::Cancelled | Error::Output(_))) => Err(error),
            Err(error) if error.is_of_journal() => Err(error),
            Err(error) => Ok(error.report()),
            Ok(exit) => Ok(exit),
        }
    }

    async fn execute(&mut self, command: SlashCommand) -> Exit {
        match command {
            SlashCommand::Tools { long } => {
                let tools = self.opened.session.tools();
                let wire = self.opened.runner.driver.wire_tools(tools);
                stderr::write(&page::tools(tools, wire, long, stderr::width()));
                let offered = self.offered_tools();
                if offered.list_offered().len() < tools.len() {
                    let names = join(
                        offered.list_offered().iter().map(|entry| entry.name()),
                        ", ",
                    );
                    notice::note(&format!(
                        "requests offer {names}; the model finds the others"
                    ));
                }
            }
            SlashCommand::Select { globs } => return self.select(&globs),
            SlashCommand::Grant { clauses } => self.grant(&clauses),
            SlashCommand::Clear => self.clear(),
            SlashCommand::Last => self.show_last(),
            SlashCommand::Diff => self.show_diff(),
            SlashCommand::Cost => self.show_cost(),
            SlashCommand::Model { name } => return self.change_model(name.as_deref()),
            SlashCommand::Resume { id } => return self.resume(id).await,
            SlashCommand::Prompts => {
                let (prompts, failures) = self.opened.servers.prompts(true).await;
                stderr::write(&page::prompts(prompts, stderr::width()));
                failures.iter().for_each(|failure| notice::warning(failure));
            }
            SlashCommand::Help => {
                let (prompts, _) = self.opened.servers.prompts(false).await;
                stderr::write(&page::help(prompts, stderr::width()));
            }
            SlashCommand::Compact | SlashCommand::Quit => {}
        }
        Exit::Success
    }

    fn offered_tools(&self) -> ToolSet {
        let driver = &self.opened.runner.driver;
        driver.offered_tools(&self.opened.session)
    }

    fn select(&mut self, globs: &[String]) -> Exit {
        if !globs.is_empty() {
            let selection = match Selection::parse(globs) {
                Ok(selection) => selection,
                Err(error) => return usage_error(&error.to_string()),
            };
            let entries = tools::list();
            notice::warn_unmatched(&selection, &entries);
            self.opened.session.select(selection, entries);
            notice::warn_left_out(&self.opened.runner.driver, &self.offered_tools());
        }
        let selection = self.opened.session.selection();
        let count = self.opened.session.tools().len();
        notice::note(&format!("tools selected by {selection}: {count}"));
        Exit::Success
    }

    /// Adds the clauses to every layer of the grant and consents to writes that they cover.
    fn grant(&mut self, clauses: &[Clause]) {
        let clauses = clauses.iter().cloned();
        let clauses: Vec<_> = clauses.map(|clause| clause.with_origin("/grant")).collect();
        if !clauses.is_empty() {
            let grant = self.opened.session.context().grant();
            let wider = grant
                .layers()
                // A call needs a clause in each layer, so that one in a single layer would permit nothing.
                .map(|layer| Grant::new(layer.iter().chain(&clauses).cloned()));
            if let Some(wider) = wider.reduce(|all, layer| all.intersect(&layer)) {
                self.opened.session.change_host(|host| {
                    let policy = host.policy().cloned().unwrap_or_default();
                    host.with_grant(wider)
                        .with_policy(policy.with_rules(rules_from_grant(&clauses)))
                });
            }
        }
        notice::note(&format!(
            "granted: {}",
            self.opened.session.context().grant()
        ));
    }

    fn clear(&mut self) {
        let before = self.opened.session.messages().len();
        self.opened.session.clear();
        notice::note(&format!(
            "messages removed: {}",
            before - self.opened.session.messages().len()
        ));
    }
}

/// Returns the prompt of the terminal.
pub(crate) fn prompt() -> String {
    format!("{}> ", program::name())
}

fn usage_error(reason: &str) -> Exit {
    notice::error(reason);
    Exit::Usage
}
