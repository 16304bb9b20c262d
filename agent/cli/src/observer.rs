//! [`Observer`]: shows a run while it is under way.

mod seen;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Direct, Event, Summary};
use tools::protocol::ResourceContents;
use tools::{CancellationToken, Content, Progress, Target, ToolCall, ToolResult};

use self::seen::{Call, Seen};
use crate::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::notice::{BAD, FAINT, GOOD, STRONG, styled};
use crate::output::{self, Console};
use crate::refusal::Refusal;
use crate::visible::visible;
use crate::wording::counted;

/// How many characters of a call, of its targets or of an error a line of progress has.
const SHOWN: usize = 160;

/// Writes the events of a run as they come: text to the standard output and the calls to the standard error, or everything
/// as JSON to the standard output. Remembers what failed.
pub(crate) struct Observer {
    is_json: bool,
    console: Arc<Console>,
    cancellation: CancellationToken,
    seen: Mutex<Seen>,
}

/// What is left to say when a run is over.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// How the first call that failed did.
    pub(crate) failure: Option<Exit>,
    /// The calls that were refused, in the order of their ends.
    pub(crate) refusals: Vec<Refusal>,
}

impl Observer {
    /// An observer of a run that begins now. It cancels the run when there is nowhere left to write to.
    pub(crate) fn new(is_json: bool, console: Arc<Console>, cancellation: CancellationToken) -> Self {
        let observer = Self { is_json, console, cancellation, seen: Mutex::default() };
        observer.wait(&observer.seen());
        observer
    }

    /// Shows one event.
    pub(crate) fn event(&self, event: &Event) {
        let mut seen = self.seen();
        let ended = seen.note(event);
        if seen.output.is_some() {
            return;
        }
        let written = if self.is_json { output::json(event) } else { self.show(event, ended, &mut seen) };
        if let Err(error) = written {
            seen.output = Some(error);
            self.cancellation.cancel();
        }
        self.wait(&seen);
    }

    /// Ends the output.
    pub(crate) fn finish(&self) -> Result<Rest, Error> {
        let mut seen = self.seen();
        self.console.wait(None);
        if let Some(error) = seen.output.take() {
            return Err(error);
        }
        Ok(Rest { failure: seen.first_failure(), refusals: std::mem::take(&mut seen.refusals) })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, seen: &Seen) {
        self.console.wait(seen.waiting().filter(|_| !self.is_json));
    }

    fn show(&self, event: &Event, ended: Option<Call>, seen: &mut Seen) -> Result<(), Error> {
        self.console.wait(None);
        if let Event::Text { text } = event {
            seen.is_line_open = !text.ends_with('\n');
            return output::piece(text);
        }
        if std::mem::take(&mut seen.is_line_open) {
            output::piece("\n")?;
        }
        match event {
            Event::CallStarted { id, name, arguments, targets } => {
                let call = Direct::prompt(&[ToolCall::new(id, name, arguments.clone())]);
                let line = format!("{} {}{}", styled(FAINT, "->"), line(&call), touched(targets));
                self.console.progress(line);
            }
            Event::Progress { name, progress, .. } => {
                self.console.progress(format!("   {} {}", styled(STRONG, line(name)), line(&told(progress))));
            }
            Event::Abandoned { name, abandoned, .. } => {
                let count = counted(u64::try_from(*abandoned).unwrap_or(u64::MAX), "thread");
                let name = styled(STRONG, line(name));
                self.console.progress(format!("   {name} does not stop; calls like it hold {count} of this program"));
            }
            Event::Result { name, result, duration_ms, .. } => {
                // Where several calls of a tool ran side by side, its name does not say which of them has ended.
                let targets = ended.filter(|call| seen.is_one_of_several(call)).map(|call| touched(&call.targets));
                self.console.progress(result_line(name, result, *duration_ms, &targets.unwrap_or_default()));
            }
            Event::Done(summary) => self.console.progress(summary_line(summary, seen.begun.elapsed())),
            _ => {}
        }
        Ok(())
    }
}

fn result_line(name: &str, result: &ToolResult, duration_ms: u64, targets: &str) -> String {
    let (name, time) = (styled(STRONG, line(name)), duration::shown(Duration::from_millis(duration_ms)));
    if result.is_error {
        return format!("{} {name} failed after {time}{targets}: {}", styled(BAD, "<-"), line(&result.to_text()));
    }
    let facts = styled(FAINT, format_args!("{time}, {}", counted(size(result), "byte")));
    format!("{} {name} {facts}{targets}", styled(GOOD, "<-"))
}

fn summary_line(summary: &Summary, time: Duration) -> String {
    let count = |count: u32, unit: &str| counted(u64::from(count), unit);
    let mut facts = vec![count(summary.steps, "step"), count(summary.calls, "call")];
    if summary.failed_calls > 0 {
        facts[1] += &format!(" ({} failed)", summary.failed_calls);
    }
    if let Some(usage) = summary.usage {
        facts.push(format!("{} in, {} out", counted(usage.input_tokens, "token"), usage.output_tokens));
    }
    facts.push(duration::shown(time));
    format!("{}: {}", styled(FAINT, "summary"), facts.join(", "))
}

/// What a call touches, to stand behind it.
fn touched(targets: &[Target]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let targets = targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
    format!("  {}", styled(FAINT, line(&targets)))
}

/// The bytes of a result's text; of pictures, recordings and files, the bytes of their base64.
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

fn told(progress: &Progress) -> String {
    let mut parts = Vec::new();
    parts.extend(match (progress.done, progress.total) {
        (Some(done), Some(total)) => Some(format!("{done} of {total}")),
        (Some(done), None) => Some(done.to_string()),
        _ => None,
    });
    parts.extend(progress.message.clone());
    parts.join(": ")
}

/// Foreign text as one line in which everything is visible.
fn line(text: &str) -> String {
    let visible = visible(text);
    match visible.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &visible[..end]),
        None => visible.into_owned(),
    }
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
    fn targets_hide_nothing() {
        let targets: Vec<Target> = ["fs:read:a\u{202e}b", "fs:write:c"].map(|target| target.parse().unwrap()).into();
        assert_eq!(plain(&touched(&targets)), r"  fs:read:a\u{202e}b, fs:write:c");
        assert_eq!(touched(&[]), "");
    }
}
