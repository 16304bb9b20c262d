//! [`Observer`]: shows a run while it is under way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::{Direct, Event};
use tools::{CancellationToken, Progress, Target, ToolCall, ToolResult};

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{self, BAD, Console, FAINT, GOOD, STRONG, styled};
use crate::visible::visible;
use crate::{duration, host};

/// How many characters of a call or of an error a line of progress has.
const SHOWN: usize = 160;

/// Writes the events of a run as they come: text to the standard output and the calls to the standard error, or everything
/// as JSON to the standard output. Remembers what failed.
pub(crate) struct Observer {
    is_json: bool,
    console: Arc<Console>,
    cancellation: CancellationToken,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The ids of the calls, in their order.
    calls: Vec<String>,
    /// How calls failed, by their place in the order.
    failures: BTreeMap<usize, Exit>,
    /// What calls were refused.
    needed: BTreeSet<Target>,
    /// Whether the last text did not end its line.
    is_line_open: bool,
    output: Option<Error>,
}

impl Observer {
    /// An observer that cancels the run when there is nowhere left to write to.
    pub(crate) fn new(is_json: bool, console: Arc<Console>, cancellation: CancellationToken) -> Self {
        Self { is_json, console, cancellation, seen: Mutex::default() }
    }

    /// Shows one event.
    pub(crate) fn event(&self, event: &Event) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.note(event);
        if seen.output.is_some() {
            return;
        }
        let written = if self.is_json { output::json(event) } else { self.show(event, &mut seen) };
        if let Err(error) = written {
            seen.output = Some(error);
            self.cancellation.cancel();
        }
    }

    /// Ends the output and tells which flags would have allowed what was refused. Gives how the first call that failed did.
    pub(crate) fn finish(&self) -> Result<Option<Exit>, Error> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = seen.output.take() {
            return Err(error);
        }
        if seen.is_line_open {
            output::piece("\n")?;
        }
        if !seen.needed.is_empty() {
            output::hint(&host::how_to_grant(&seen.needed.iter().cloned().collect::<Vec<_>>()));
        }
        Ok(seen.failures.values().next().copied())
    }

    fn show(&self, event: &Event, seen: &mut Seen) -> Result<(), Error> {
        if let Event::Text { text } = event {
            seen.is_line_open = !text.ends_with('\n');
            return output::piece(text);
        }
        if std::mem::take(&mut seen.is_line_open) {
            output::piece("\n")?;
        }
        match event {
            Event::CallStarted { id, name, arguments, .. } => {
                let call = Direct::prompt(&[ToolCall::new(id, name, arguments.clone())]);
                self.console.progress(format!("{} {}", styled(FAINT, "->"), line(&call)));
            }
            Event::Progress { name, progress, .. } => {
                self.console.progress(format!("   {} {}", styled(STRONG, line(name)), line(&told(progress))));
            }
            Event::Result { name, result, duration_ms, .. } => self.console.progress(ended(name, result, *duration_ms)),
            _ => {}
        }
        Ok(())
    }
}

impl Seen {
    fn note(&mut self, event: &Event) {
        match event {
            Event::CallStarted { id, .. } => self.calls.push(id.clone()),
            Event::Result { id, result, .. } if result.is_error => {
                let place = self.calls.iter().position(|call| call == id).unwrap_or(self.calls.len());
                let error = result.structured.as_ref().and_then(|structured| structured.get("error"));
                let kind = error.and_then(|error| error.get("kind")?.as_str()).unwrap_or_default();
                self.failures.insert(place, Exit::of_kind(kind));
                let needed = error.and_then(|error| error.get("needed")?.as_array()).into_iter().flatten();
                self.needed.extend(needed.filter_map(|target| target.as_str()?.parse::<Target>().ok()));
            }
            _ => {}
        }
    }
}

fn ended(name: &str, result: &ToolResult, duration_ms: u64) -> String {
    let (name, time) = (styled(STRONG, line(name)), duration::shown(Duration::from_millis(duration_ms)));
    let text = result.to_text();
    if result.is_error {
        return format!("{} {name} failed after {time}: {}", styled(BAD, "<-"), line(&text));
    }
    format!("{} {name} {}", styled(GOOD, "<-"), styled(FAINT, format_args!("{time}, {} bytes", text.len())))
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
