//! [`Observer`]: shows the events of a run.

pub(crate) mod effect_lines;
mod event_line;
mod run_state;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agent::refusal::Refusal;
use agent::{Direct, Event};
use terminal::{FRAME_INTERVAL, stderr};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tools::protocol::{Message, Part, Role};
use tools::{
    CancellationToken, ErrorCode, IgnorePoison as _, Preview, ToolCall, ToolResult, counted,
    visible_line,
};

use self::effect_lines::{argument_lines, effect_lines};
use self::event_line::{
    compacted_line, failure, line, plan_lines, prefix_line, result_line, search_line, summary_line,
    target_suffix,
};
use self::run_state::{OpenCall, RunState};
use crate::detail::Detail;
use crate::effect_layer::is_of_program;
use crate::error::Error;
use crate::notice::{ALERT, FAINT, STRONG, paint};
use crate::output;
use crate::output::OutputFormat;
use crate::session_view::SessionView;
use crate::stream_line::{SessionLine, StreamLine};
use host::{Exit, duration};
use tools::visible::visible;

/// The maximum number of characters of the error of a failed call.
const ERROR_LENGTH: usize = 400;

/// Writes the events of a run: text to standard output and calls to standard error, or JSON to standard output. Collects the
/// failures.
pub(crate) struct Observer {
    format: OutputFormat,
    /// True if standard error shows status lines, so that progress needs no lines of its own.
    has_status_lines: bool,
    detail: Detail,
    /// True if the provider reads no prompt, so that its changed beginning matters to nobody.
    pub(crate) is_direct: bool,
    /// True if the answer shows the results, so that the line of a failed call leaves out its message.
    pub(crate) has_results_in_answer: bool,
    view: Arc<SessionView>,
    cancellation: CancellationToken,
    state: Mutex<RunState>,
}

/// The failed calls of a run, and its failed output.
#[derive(Debug)]
pub(crate) struct CallFailures {
    /// The first failed call, in the order of the calls.
    pub(crate) first: Option<CallFailure>,
    /// The refused calls, in the order of their results.
    pub(crate) refusals: Vec<Refusal>,
    /// The protected files that programs created or changed, each as a sentence.
    pub(crate) protected: Vec<String>,
    /// The first error of the output.
    pub(crate) output: Option<Error>,
    /// True if later requests leave out a part of the conversation.
    pub(crate) is_compacted: bool,
}

/// A failed call.
#[derive(Clone, Debug)]
pub(crate) struct CallFailure {
    /// The tool, as the call names it.
    pub(crate) tool: String,
    pub(crate) exit: Exit,
    /// The error, on one line and bounded.
    pub(crate) error: String,
}

impl CallFailure {
    fn new(tool: &str, code: ErrorCode, result: &ToolResult) -> Self {
        Self {
            tool: tool.to_owned(),
            exit: code.into(),
            error: visible_line(&result.to_text(), ERROR_LENGTH),
        }
    }

    /// Returns the first failed call since the last prompt.
    pub(crate) fn from_messages(messages: &[Message]) -> Option<Self> {
        let mut all = messages.iter();
        let prompt = all.rposition(|message| message.role == Role::User)?;
        messages[prompt..]
            .iter()
            .flat_map(|message| &message.parts)
            .find_map(|part| match part {
                Part::ToolResult { name, result, .. } => {
                    Some(Self::new(name, result.error_code()?, result))
                }
                _ => None,
            })
    }
}

impl Observer {
    /// Returns an observer of a run that starts now. If the output fails, it cancels the run.
    pub(crate) fn new(
        format: OutputFormat,
        detail: Detail,
        view: Arc<SessionView>,
        cancellation: CancellationToken,
    ) -> Self {
        let has_lines = format == OutputFormat::Text && detail != Detail::Quiet;
        Self {
            format,
            has_status_lines: has_lines && stderr::has_styles(),
            detail,
            is_direct: false,
            has_results_in_answer: false,
            view,
            cancellation,
            state: Mutex::default(),
        }
    }

    /// Writes the first line of a stream.
    pub(crate) fn session(&self, line: SessionLine<'_>) -> Result<(), Error> {
        if self.format == OutputFormat::StreamJson {
            output::json(&StreamLine::Session(line))
        } else {
            Ok(())
        }
    }

    /// Draws a status line for each wait of the run until the returned task is dropped. Returns `None` if standard error takes no
    /// status lines.
    pub(crate) fn animate(self: &Arc<Self>) -> Option<JoinSet<()>> {
        if !self.has_status_lines {
            return None;
        }
        let observer = self.clone();
        let mut task = JoinSet::new();
        task.spawn(async move {
            loop {
                sleep(FRAME_INTERVAL).await;
                // The state stays locked, so that no event is shown in between.
                let state = observer.state();
                observer
                    .view
                    .console
                    .draw(state.waits(|start| observer.view.console.time_since(start)));
            }
        });
        Some(task)
    }

    /// Shows one event.
    pub(crate) fn event(&self, event: &Event) {
        let mut state = self.state();
        let (agent, own) = event_line::peel(event);
        let ended = state.record(agent, &own);
        let effect = self.view.effects.take(event);
        if let (None, Event::Done(summary)) = (agent, &*own) {
            self.view.effects.add(summary);
        }
        if state.output.is_some() {
            return;
        }
        let written = match self.format {
            OutputFormat::Text => self.show(agent, &own, (ended, effect), &mut state),
            OutputFormat::Json if !matches!(event, Event::Done(_)) => {
                self.show_protected(agent, &own);
                Ok(())
            }
            OutputFormat::Json | OutputFormat::StreamJson => {
                self.show_protected(agent, &own);
                let time = self.view.console.time_since(state.started);
                output::json_text(&StreamLine::from_event(event, time))
                    .and_then(|text| Ok(self.view.console.document(text)?))
            }
        };
        if let Err(error) = written {
            // Nobody can see what the run does from here on.
            state.output = Some(error);
            self.cancellation.cancel();
        }
    }

    /// Collects a failure, and shows nothing but protected files.
    pub(crate) fn record(&self, event: &Event) {
        let (agent, own) = event_line::peel(event);
        self.state().record(agent, &own);
        self.show_protected(agent, &own);
    }

    /// Says what became of protected files that a program created or changed. The person sees it, whatever reads the output.
    fn show_protected(&self, agent: Option<&str>, event: &Event) {
        let Event::ProtectedFiles { files, .. } = event else {
            return;
        };
        let agent = agent.map(|agent| format!("{}: ", line(agent)));
        let agent = agent.unwrap_or_default();
        for file in files {
            self.view.console.line(format!(
                "{}: {agent}{}",
                paint(ALERT, "warning"),
                visible(&file.to_string())
            ));
        }
    }

    /// Ends the output and returns the failures.
    pub(crate) fn finish(&self) -> CallFailures {
        let mut state = self.state();
        state.is_done = true;
        self.view.console.end_status();
        let refusals = std::mem::take(&mut state.refusals);
        let protected = std::mem::take(&mut state.protected);
        CallFailures {
            first: state.first_failure(),
            refusals,
            protected,
            output: state.output.take(),
            is_compacted: state.is_compacted,
        }
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().ignore_poison()
    }

    fn show(
        &self,
        agent: Option<&str>,
        event: &Event,
        (mut ended, effect): (Option<OpenCall>, Option<Preview>),
        state: &mut RunState,
    ) -> Result<(), Error> {
        // The words of a sub-agent are not the answer, and its plan is not that of the session.
        if let (Some(_), Event::Text { .. } | Event::PlanChanged { .. } | Event::Done(_)) =
            (agent, event)
        {
            return Ok(());
        }
        if let Event::Text { text } = event {
            // Results of tools are no Markdown.
            return Ok(self.view.console.text(text, !self.is_direct)?);
        }
        let progress = match event {
            // The status lines show it.
            Event::Progress { .. } if self.has_status_lines => return Ok(()),
            Event::Progress { id, .. } => match state.take_progress(id, Instant::now()) {
                Some(progress) => Some(progress),
                None => return Ok(()),
            },
            // The last progress can tell how far a call came that failed.
            Event::Result { result, .. } if result.is_error => {
                ended.as_mut().and_then(OpenCall::take_progress)
            }
            _ => None,
        };
        self.view.console.end_text()?;
        if self.detail == Detail::Quiet && !matches!(event, Event::ProtectedFiles { .. }) {
            return Ok(());
        }
        progress
            .into_iter()
            .for_each(|progress| self.view.console.line(progress));
        let path = agent;
        let agent = agent.map(|agent| format!("{}: ", line(agent)));
        let agent = agent.unwrap_or_default();
        let shown = match event {
            Event::PrefixChanged(change) if !self.is_direct => prefix_line(change),
            Event::Compacted(compacted) => format!("{agent}{}", compacted_line(compacted)),
            Event::Steered { text } => {
                self.view.console.take_queued(text);
                format!("{} {}", paint(FAINT, "sent:"), line(text))
            }
            Event::RequestRetried(retry) => {
                let wait = duration::format(Duration::from_millis(retry.wait_ms));
                format!(
                    "{agent}{} {} of {} in {wait}: {}{}",
                    paint(ALERT, "retry"),
                    retry.retry,
                    retry.max_retries,
                    line(&retry.describe()),
                    note_withdrawal(retry.withdraws_text)
                )
            }
            Event::ModelChanged(change) => format!(
                "{agent}{} goes on for {}: {}{}",
                paint(STRONG, line(&change.to)),
                line(&change.from),
                line(&change.reason),
                note_withdrawal(change.withdraws_text)
            ),
            Event::ReplyRejected {
                reason,
                withdraws_text,
            } => format!(
                "{agent}{} the model again: {}{}",
                paint(ALERT, "asking"),
                line(reason),
                note_withdrawal(*withdraws_text)
            ),
            Event::CallStarted {
                id,
                name,
                arguments,
                targets,
                ..
            } => {
                let call = Direct::prompt(&[ToolCall::new(id, name, arguments.clone())]);
                let arrow = paint(FAINT, "->");
                let whole = (self.detail == Detail::Whole).then(|| argument_lines(arguments));
                let whole = whole.unwrap_or_default();
                format!(
                    "{arrow} {agent}{}{}{whole}",
                    line(&call),
                    target_suffix(targets)
                )
            }
            Event::ProtectedFiles { .. } => {
                self.show_protected(path, event);
                return Ok(());
            }
            Event::Abandoned {
                name, abandoned, ..
            } => {
                let count = counted(*abandoned as u64, "thread");
                let name = paint(STRONG, format!("{agent}{}", line(name)));
                format!("   {name} does not stop; abandoned calls occupy {count} of this program")
            }
            Event::Result {
                name,
                result,
                duration_ms,
                ..
            } => {
                // If several calls of the tool ran in parallel, the targets identify the ended one.
                let is_of_program = ended
                    .as_ref()
                    .is_some_and(|call| is_of_program(&call.targets));
                let targets = ended.filter(|call| state.is_one_of_several(call));
                let targets = targets.map(|call| target_suffix(&call.targets));
                let name = format!("{agent}{name}");
                let targets = targets.unwrap_or_default();
                let mut line = result_line(&name, result, *duration_ms, &targets);
                if result.is_error && !self.has_results_in_answer {
                    line += &failure(result);
                }
                line += &effect_lines(self.detail, is_of_program, result, effect.as_ref());
                line
            }
            Event::ApprovalDeferred { request, .. } => format!(
                "{} {} waits for an approval: request {}",
                paint(ALERT, "<-"),
                paint(STRONG, line(&request.tool)),
                request.id
            ),
            Event::PlanChanged { items } => plan_lines(items),
            Event::ToolsSearched {
                query,
                found,
                others,
            } => format!("{agent}{}", search_line(query, found, *others)),
            Event::TaskEnded {
                task,
                name,
                title,
                state,
            } => format!(
                "{} {} has ended: {}: {}: {}",
                paint(FAINT, "task"),
                paint(STRONG, format!("{agent}{}", line(task))),
                line(state),
                line(name),
                line(title)
            ),
            Event::Done(summary) => {
                summary_line(summary, self.view.console.time_since(state.started))
            }
            _ => return Ok(()),
        };
        self.view.console.line(stderr::wrapped(&shown));
        Ok(())
    }
}

/// Returns a line about text that a model has written and that no longer counts, if there is any.
fn note_withdrawal(is_withdrawn: bool) -> &'static str {
    if is_withdrawn {
        "\n   the text since the last call is withdrawn"
    } else {
        ""
    }
}
