//! [`Observer`]: shows the events of a run.

mod run_state;
mod sub_agent;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::refusal::Refusal;
use agent::{Compacted, Direct, Event, PlanItem, PlanStatus, PrefixChange, Summary};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tools::protocol::ResourceContents;
use tools::{CancellationToken, Content, Target, ToolCall, ToolResult};

use self::run_state::{OpenCall, RunState};
use crate::console::Console;
use crate::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::notice::{ALERT, BAD, FAINT, GOOD, STRONG, styled};
use crate::output;
use crate::output_format::OutputFormat;
use crate::size::Size;
use crate::status_lines::{FRAME_INTERVAL, StatusLines};
use crate::stream_line::{SessionLine, StreamLine};
use crate::visible::visible;
use crate::wording::counted;

/// The maximum number of columns of a call, its targets or an error in a progress line.
const SHOWN: usize = 160;

/// Writes the events of a run: text to standard output and calls to standard error, or JSON to standard output. Collects the
/// failures.
pub(crate) struct Observer {
    format: OutputFormat,
    /// True if standard error shows status lines, so that progress needs no lines of its own.
    has_status_lines: bool,
    /// True if the answer shows the results, so that the line of a failed call leaves out its message.
    has_results_in_answer: bool,
    console: Arc<Console>,
    cancellation: CancellationToken,
    state: Mutex<RunState>,
}

/// The failed calls of a run.
#[derive(Debug, Default)]
pub(crate) struct CallFailures {
    /// The exit code of the first failed call, in the order of the calls.
    pub(crate) first: Option<Exit>,
    /// The refused calls, in the order of their results.
    pub(crate) refusals: Vec<Refusal>,
}

impl Observer {
    /// Returns an observer of a run that starts now. If the output fails, it cancels the run.
    pub(crate) fn new(format: OutputFormat, console: Arc<Console>, cancellation: CancellationToken) -> Self {
        let has_status_lines = format == OutputFormat::Text && StatusLines::are_shown();
        let has_results_in_answer = false;
        Self { format, has_status_lines, has_results_in_answer, console, cancellation, state: Mutex::default() }
    }

    /// Sets whether the answer shows the results of the calls.
    pub(crate) fn with_results_in_answer(self, has_results_in_answer: bool) -> Self {
        Self { has_results_in_answer, ..self }
    }

    /// Writes the first line of a stream.
    pub(crate) fn session(&self, line: SessionLine<'_>) -> Result<(), Error> {
        if self.format == OutputFormat::StreamJson { output::json(&StreamLine::Session(line)) } else { Ok(()) }
    }

    /// Draws a status line for each wait of the run until the returned task is dropped. Returns `None` if standard error takes no
    /// status lines.
    pub(crate) fn animate(self: &Arc<Self>) -> Option<JoinSet<()>> {
        if !self.has_status_lines {
            return None;
        }
        let (observer, mut task) = (self.clone(), JoinSet::new());
        task.spawn(async move {
            loop {
                sleep(FRAME_INTERVAL).await;
                // The state stays locked, so that no event is shown in between.
                let state = observer.state();
                observer.console.draw(state.waits(|start| observer.console.time_since(start)));
            }
        });
        Some(task)
    }

    /// Shows one event.
    pub(crate) fn event(&self, event: &Event) {
        let mut state = self.state();
        let (agent, own) = sub_agent::unwrapped(event);
        let ended = state.record(agent, &own);
        if state.output.is_some() {
            return;
        }
        let written = match self.format {
            OutputFormat::Text => self.show(agent, &own, ended, &mut state),
            OutputFormat::Json if !matches!(event, Event::Done(_)) => Ok(()),
            OutputFormat::Json | OutputFormat::StreamJson => {
                let line = StreamLine::from_event(event, self.console.time_since(state.started));
                line.map_or(Ok(()), |line| self.console.document(&line))
            }
        };
        if let Err(error) = written {
            state.output = Some(error);
            self.cancellation.cancel();
        }
    }

    /// Ends the output and returns the failures, or the error of a failed write.
    pub(crate) fn finish(&self) -> Result<CallFailures, Error> {
        let mut state = self.state();
        state.is_done = true;
        self.console.clear();
        if let Some(error) = state.output.take() {
            return Err(error);
        }
        Ok(CallFailures { first: state.first_failure(), refusals: std::mem::take(&mut state.refusals) })
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(
        &self,
        agent: Option<&str>,
        event: &Event,
        mut ended: Option<OpenCall>,
        state: &mut RunState,
    ) -> Result<(), Error> {
        // The words of a sub-agent are not the answer, and its plan is not that of the session.
        if let (Some(_), Event::Text { .. } | Event::PlanChanged { .. } | Event::Done(_)) = (agent, event) {
            return Ok(());
        }
        if let Event::Text { text } = event {
            self.console.clear();
            self.console.set_line_open(!text.ends_with('\n'));
            return output::untrusted_piece(text);
        }
        let progress = match event {
            Event::Progress { .. } if self.has_status_lines => return Ok(()),
            Event::Progress { id, .. } => match state.take_progress(id, Instant::now()) {
                Some(progress) => Some(progress),
                None => return Ok(()),
            },
            // The last progress can tell how far a call came that failed.
            Event::Result { result, .. } if result.is_error => ended.as_mut().and_then(OpenCall::take_progress),
            _ => None,
        };
        if self.console.set_line_open(false) {
            output::untrusted_piece("\n")?;
        }
        progress.into_iter().for_each(|progress| self.console.line(progress));
        let agent = agent.map(|agent| format!("{}: ", line(agent))).unwrap_or_default();
        match event {
            Event::PrefixChanged(change) => self.console.line(prefix_line(change)),
            Event::Compacted(compacted) => self.console.line(format!("{agent}{}", compacted_line(compacted))),
            Event::RequestRetried(retry) => {
                let wait = duration::shown(Duration::from_millis(retry.wait_ms));
                let (label, cause) = (styled(ALERT, "retry"), line(&retry.cause.to_string()));
                self.console
                    .line(format!("{agent}{label} {} of {} in {wait}: {cause}", retry.retry, retry.max_retries));
            }
            Event::CallStarted { id, name, arguments, targets, .. } => {
                let call = Direct::prompt(&[ToolCall::new(id, name, arguments.clone())]);
                let line = format!("{} {agent}{}{}", styled(FAINT, "->"), line(&call), target_suffix(targets));
                self.console.line(line);
            }
            Event::Abandoned { name, abandoned, .. } => {
                let count = counted(u64::try_from(*abandoned).unwrap_or(u64::MAX), "thread");
                let name = styled(STRONG, format!("{agent}{}", line(name)));
                self.console.line(format!("   {name} does not stop; abandoned calls occupy {count} of this program"));
            }
            Event::Result { name, result, duration_ms, .. } => {
                // If several calls of the tool ran in parallel, the targets identify the ended one.
                let targets =
                    ended.filter(|call| state.is_one_of_several(call)).map(|call| target_suffix(&call.targets));
                let mut line =
                    result_line(&format!("{agent}{name}"), result, *duration_ms, &targets.unwrap_or_default());
                if result.is_error && !self.has_results_in_answer {
                    line += &failure(result);
                }
                self.console.line(line);
            }
            Event::ApprovalDeferred { request, .. } => {
                let label = format!("{} {}", styled(ALERT, "<-"), styled(STRONG, line(&request.tool)));
                self.console.line(format!("{label} waits for an approval: request {}", request.id));
            }
            Event::PlanChanged { items } => plan_lines(items).into_iter().for_each(|line| self.console.line(line)),
            Event::Done(summary) => self.console.line(summary_line(summary, self.console.time_since(state.started))),
            _ => {}
        }
        Ok(())
    }
}

/// Says which parts of the prompt prefix changed.
fn prefix_line(change: &PrefixChange) -> String {
    let PrefixChange { added, removed, changed, system, format, .. } = change;
    let tools = [("added", added), ("removed", removed), ("changed", changed)];
    let tools = tools.into_iter().filter(|(_, names)| !names.is_empty());
    let parts = tools.map(|(word, names)| {
        let names = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("{word} {names}")
    });
    let system = system.then(|| "another system text".to_owned());
    let format = format.then(|| "another format".to_owned());
    let parts = parts.chain(system).chain(format).collect::<Vec<_>>().join("; ");
    format!("{}: its beginning changed, so no cache has it: {}", styled(FAINT, "prompt"), line(&parts))
}

/// Says what later requests leave out.
fn compacted_line(compacted: &Compacted) -> String {
    let Compacted { replaced, summarised, before, after, .. } = compacted;
    let count = |count: usize, unit: &str| counted(u64::try_from(count).unwrap_or(u64::MAX), unit);
    let results = (!replaced.is_empty()).then(|| format!("{} left out", count(replaced.len(), "result")));
    let messages = summarised.as_ref().map(|messages| format!("{} summarised", count(messages.len(), "message")));
    let parts = results.into_iter().chain(messages).collect::<Vec<_>>().join(", ");
    let label = styled(FAINT, "compacted");
    format!("{label}: {parts}; from about {} to {}", counted(before.tokens, "token"), after.tokens)
}

fn result_line(name: &str, result: &ToolResult, duration_ms: u64, targets: &str) -> String {
    let (name, time) = (styled(STRONG, line(name)), duration::shown(Duration::from_millis(duration_ms)));
    if result.is_error {
        return format!("{} {name} failed after {time}{targets}", styled(BAD, "<-"));
    }
    let facts = styled(FAINT, format_args!("{time}, {}", Size::from_bytes(size(result)).shown()));
    format!("{} {name} {facts}{targets}", styled(GOOD, "<-"))
}

/// Returns the lines of a plan.
fn plan_lines(items: &[PlanItem]) -> Vec<String> {
    let steps = counted(u64::try_from(items.len()).unwrap_or(u64::MAX), "step");
    let item = |PlanItem { text, status }: &PlanItem| {
        let mark = match status {
            PlanStatus::Done => styled(GOOD, "[x]"),
            PlanStatus::Active => styled(ALERT, "[>]"),
            PlanStatus::Open => styled(FAINT, "[ ]"),
        };
        format!("   {mark} {}", line(text))
    };
    let title = format!("{}: {steps}", styled(FAINT, "plan"));
    [title].into_iter().chain(items.iter().map(item)).collect()
}

/// Returns the message of a failed call as a suffix for its line.
fn failure(result: &ToolResult) -> String {
    format!(": {}", line(&result.to_text()))
}

fn summary_line(summary: &Summary, time: Duration) -> String {
    let count = |count: u32, unit: &str| counted(u64::from(count), unit);
    let mut facts = vec![count(summary.steps, "step"), count(summary.calls, "call")];
    if summary.failed_calls > 0 {
        facts[1] += &format!(" ({} failed)", summary.failed_calls);
    }
    if let Some(usage) = summary.usage {
        let cached = match usage.cached_input_tokens {
            0 => String::new(),
            cached => format!(" ({cached} cached)"),
        };
        facts.push(format!("{} in{cached}, {} out", counted(usage.input_tokens, "token"), usage.output_tokens));
    }
    facts.push(duration::shown(time));
    format!("{}: {}", styled(FAINT, "summary"), facts.join(", "))
}

/// Returns the targets of a call as a suffix for its line.
fn target_suffix(targets: &[Target]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let targets = targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
    format!("  {}", styled(FAINT, line(&targets)))
}

/// Returns the size of a result in bytes: of its text, and of images, audio and files in base64.
fn size(result: &ToolResult) -> u64 {
    let bytes = |content: &Content| match content {
        Content::Text { text } | Content::Resource { resource: ResourceContents::Text { text, .. } } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::Resource { resource: ResourceContents::Blob { blob, .. } } => blob.len(),
        Content::ResourceLink { uri, .. } => uri.len(),
        _ => 0,
    };
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => value.to_string().len() as u64,
        (content, _) => content.iter().map(bytes).sum::<usize>() as u64,
    }
}

/// Returns untrusted text as one visible line, cut to [`SHOWN`].
fn line(text: &str) -> String {
    fit::cut(&visible(text), SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn a_summary_counts_what_there_was() {
        let summary = |value| serde_json::from_value::<Summary>(value).unwrap();
        let outcome = json!({"kind": "cancelled"});
        let some = json!({"outcome": outcome, "steps": 1, "calls": 0, "failed_calls": 0});
        assert_eq!(plain(&summary_line(&summary(some), Duration::from_secs(2))), "summary: 1 step, 0 calls, 2s");
        let usage = json!({"input_tokens": 1200, "output_tokens": 7});
        let some = json!({"outcome": outcome, "steps": 3, "calls": 2, "failed_calls": 1, "usage": usage});
        assert_eq!(
            plain(&summary_line(&summary(some), Duration::from_millis(5))),
            "summary: 3 steps, 2 calls (1 failed), 1200 tokens in, 7 out, 5ms"
        );
    }

    #[test]
    fn a_result_is_as_large_as_all_of_its_contents() {
        let picture = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned() };
        let result = ToolResult { content: vec![Content::text("é"), picture], ..ToolResult::default() };
        assert_eq!(plain(&result_line("fs.read", &result, 3, "")), "<- fs.read 3ms, 6 bytes");
        let result = ToolResult { structured: Some(json!([1]).into()), ..ToolResult::default() };
        assert_eq!(size(&result), 3);
    }

    #[test]
    fn a_changed_prompt_names_its_parts() {
        let mut change = PrefixChange::default();
        change.added = vec!["fs.read".parse().unwrap(), "fs.write".parse().unwrap()];
        change.system = true;
        let parts = plain(&prefix_line(&change)).split_once("it: ").unwrap().1.to_owned();
        assert_eq!(parts, "added fs.read, fs.write; another system text");
    }

    #[test]
    fn targets_hide_nothing() {
        let targets: Vec<Target> = ["fs:read:a\u{202e}b", "fs:write:c"].map(|target| target.parse().unwrap()).into();
        assert_eq!(plain(&target_suffix(&targets)), r"  fs:read:a\u{202e}b, fs:write:c");
        assert_eq!(target_suffix(&[]), "");
    }
}
