//! The lines of events on standard error.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use agent::{
    Compacted, Cost, Event, Outcome, PlanItem, PlanStatus, PrefixChange, Resource, Summary, Usage,
};
use host::{describe_size, duration, fit};
use tools::protocol::ResourceContents;
use tools::{Content, Target, ToolName, ToolResult, counted, join};

use crate::notice::{ALERT, BAD, FAINT, GOOD, STRONG, paint};
use tools::visible::visible;

/// The maximum number of columns of a call, its targets or an error in a progress line.
pub(super) const SHOWN: usize = 160;

/// Says which parts of the prompt prefix changed.
pub(super) fn prefix_line(change: &PrefixChange) -> String {
    let tools = [
        ("added", &change.added),
        ("removed", &change.removed),
        ("changed", &change.changed),
    ];
    let tools = tools.into_iter().filter(|(_, names)| !names.is_empty());
    let tools = tools.map(|(verb, names)| format!("{verb} {}", join(names, ", ")));
    let others = [
        (change.system, "another system text"),
        (change.format, "another format"),
        (change.model, "another model"),
    ];
    let others = others.into_iter().filter(|(is_other, _)| *is_other);
    let parts = tools.chain(others.map(|(_, words)| words.to_owned()));
    format!(
        "{}: its beginning changed, so no cache has it: {}",
        paint(FAINT, "prompt"),
        line(&join(parts, "; "))
    )
}

/// Says which tools the model searched for and found.
pub(super) fn search_line(query: &str, found: &[ToolName], others: usize) -> String {
    let names = join(found, ", ");
    let names = if names.is_empty() { "nothing" } else { &names };
    let others = (others > 0).then(|| format!(" and {others} more"));
    let others = others.unwrap_or_default();
    format!(
        "{} {}: {}{others}",
        paint(FAINT, "searched"),
        paint(STRONG, line(query)),
        line(names)
    )
}

/// Says what later requests leave out.
pub(super) fn compacted_line(compacted: &Compacted) -> String {
    let length = |messages: &Option<Range<usize>>| messages.as_ref().map_or(0, Range::len);
    let counts = [
        (compacted.replaced.len(), "result", "left out"),
        (length(&compacted.summarised), "message", "summarised"),
        (length(&compacted.dropped), "old message", "dropped"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts =
        counts.map(|(count, unit, verb)| format!("{} {verb}", counted(count as u64, unit)));
    let problem = compacted.summary_problem.as_ref();
    let parts = counts.chain(problem.map(|problem| line(&problem.to_string())));
    format!(
        "{}: {}; from about {} to {}",
        paint(FAINT, "compacted"),
        join(parts, ", "),
        counted(compacted.before.tokens, "token"),
        compacted.after.tokens
    )
}

pub(super) fn result_line(
    name: &str,
    result: &ToolResult,
    duration_ms: u64,
    targets: &str,
) -> String {
    let end = end_suffix(name, result);
    let name = paint(STRONG, line(name));
    let time = duration::format(Duration::from_millis(duration_ms));
    if result.is_error {
        return format!("{} {name} failed after {time}{targets}", paint(BAD, "<-"));
    }
    let facts = paint(
        FAINT,
        format_args!("{time}, {}", describe_size(size(result))),
    );
    format!("{} {name} {facts}{end}{targets}", paint(GOOD, "<-"))
}

/// Returns the first line of the result of a program or a task as a suffix, which says how it ended: `[exit code 101, 0.6 s]`. Its end is
/// no error of the call, so the line would not show it otherwise.
fn end_suffix(name: &str, result: &ToolResult) -> String {
    // The name of a sub-agent may stand before it.
    let tool = name.rsplit(' ').next().unwrap_or_default();
    let is_state = result.task.is_some()
        || ["exec.", "task."]
            .iter()
            .any(|family| tool.starts_with(family));
    let text = result.to_text();
    let first = text.lines().next();
    let end = first.filter(|first| is_state && first.starts_with('['));
    end.map(|end| format!(" {}", line(end))).unwrap_or_default()
}

/// Returns the lines of a plan.
pub(super) fn plan_lines(items: &[PlanItem]) -> String {
    let steps = counted(items.len() as u64, "step");
    let items = items.iter().map(|PlanItem { text, status }| {
        let mark = match status {
            PlanStatus::Done => paint(GOOD, "[x]"),
            PlanStatus::Active => paint(ALERT, "[>]"),
            PlanStatus::Open => paint(FAINT, "[ ]"),
        };
        format!("   {mark} {}", line(text))
    });
    let title = format!("{}: {steps}", paint(FAINT, "plan"));
    join([title].into_iter().chain(items), "\n")
}

/// Returns the message of a failed call as a suffix for its line.
pub(super) fn failure(result: &ToolResult) -> String {
    format!(": {}", line(&result.to_text()))
}

pub(super) fn summary_line(summary: &Summary, time: Duration) -> String {
    let mut facts = vec![
        counted(summary.steps, "step"),
        counted(summary.calls, "call"),
    ];
    if summary.failed_calls > 0 {
        facts[1] += &format!(" ({} failed)", summary.failed_calls);
    }
    if let Some(usage) = summary.usage {
        let cached = match usage.cached_input_tokens {
            0 => String::new(),
            cached => format!(" ({cached} cached)"),
        };
        facts.push(format!(
            "{} in{cached}, {} out",
            counted(usage.input_tokens, "token"),
            usage.output_tokens
        ));
    }
    if summary.spent.cost > Cost::default() {
        facts.push(format!("cost {}", summary.spent.cost));
    }
    facts.push(duration::format(time));
    format!(
        "{}: {}{}",
        paint(FAINT, "summary"),
        facts.join(", "),
        whole_suffix(summary)
    )
}

/// Returns the amounts of the run and its sub-agents as a suffix for the line of the summary. Empty if they are those of the run.
fn whole_suffix(summary: &Summary) -> String {
    let spent = summary.spent;
    let own_tokens = summary.usage.map_or(0, Usage::total);
    // The last request of a run that was cut off may have had no turn.
    let is_cut_off = match &summary.outcome {
        Outcome::Cancelled | Outcome::Failed { .. } => true,
        Outcome::Budget(exhausted) => exhausted.resource == Resource::Time,
        _ => false,
    };
    let own_steps = u64::from(summary.steps) + u64::from(is_cut_off);
    let is_all_own = spent.steps <= own_steps
        && spent.calls <= summary.calls.into()
        && spent.tokens <= own_tokens;
    if is_all_own {
        return String::new();
    }
    let mut parts = vec![counted(spent.steps, "step"), counted(spent.calls, "call")];
    parts.extend((spent.tokens > 0).then(|| counted(spent.tokens, "token")));
    format!("; in all {}", parts.join(", "))
}

/// Returns the targets of a call as a suffix for its line.
pub(super) fn target_suffix(targets: &[Target]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    format!("  {}", paint(FAINT, line(&join(targets, ", "))))
}

/// Returns the size of a result in bytes: of its text, and of images, audio and files in base64.
fn size(result: &ToolResult) -> u64 {
    if let ([], Some(value)) = (&result.content[..], &result.structured) {
        return value.to_string().len() as u64;
    }
    let bytes = result.content.iter().map(|content| match content {
        Content::Text { text }
        | Content::Resource {
            resource: ResourceContents::Text { text, .. },
        } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::Resource {
            resource: ResourceContents::Blob { blob, .. },
        } => blob.len(),
        Content::ResourceLink { uri, .. } => uri.len(),
        _ => 0,
    });
    bytes.sum::<usize>() as u64
}

/// Returns untrusted text as one visible line, cut to [`SHOWN`].
pub(super) fn line(text: &str) -> String {
    fit::cut(&visible(text), SHOWN)
}

/// Returns the path of the sub-agent and its event. The ids of its calls then begin with the call that started it, because each run has
/// ids of its own.
pub(super) fn peel(event: &Event) -> (Option<&str>, Cow<'_, Event>) {
    let Event::SubAgent { agent, call, event } = event else {
        return (None, Cow::Borrowed(event));
    };
    let mut event = (**event).clone();
    if let Event::CallStarted { id, .. }
    | Event::Progress { id, .. }
    | Event::ProtectedFiles { id, .. }
    | Event::Abandoned { id, .. }
    | Event::Result { id, .. } = &mut event
    {
        *id = format!("{call}/{agent}/{id}");
    }
    (Some(agent), Cow::Owned(event))
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
        assert_eq!(
            plain(&summary_line(&summary(some), Duration::from_secs(2))),
            "summary: 1 step, 0 calls, 2s"
        );
        let usage = json!({"input_tokens": 1200, "output_tokens": 7});
        let some =
            json!({"outcome": outcome, "steps": 3, "calls": 2, "failed_calls": 1, "usage": usage});
        assert_eq!(
            plain(&summary_line(&summary(some), Duration::from_millis(5))),
            "summary: 3 steps, 2 calls (1 failed), 1200 tokens in, 7 out, 5ms"
        );
    }

    #[test]
    fn a_result_is_as_large_as_all_of_its_contents() {
        let picture = Content::Image {
            data: "AAAA".to_owned(),
            mime_type: "image/png".to_owned(),
        };
        let result = ToolResult {
            content: vec![Content::text("é"), picture],
            ..ToolResult::default()
        };
        assert_eq!(
            plain(&result_line("fs.read", &result, 3, "")),
            "<- fs.read 3ms, 6 bytes"
        );
        let result = ToolResult {
            structured: Some(json!([1]).into()),
            ..ToolResult::default()
        };
        assert_eq!(size(&result), 3);
    }

    #[test]
    fn the_line_of_a_program_says_how_it_ended() {
        let result = ToolResult::text("[exit code 101, 0.6 s]\nstdout:\nfailed");
        for name in ["exec.run", "review: exec.run"] {
            let shown = format!("<- {name} 3ms, 37 bytes [exit code 101, 0.6 s]");
            assert_eq!(plain(&result_line(name, &result, 3, "")), shown);
        }
        // A file may begin with anything.
        assert_eq!(
            plain(&result_line("fs.read", &result, 3, "")),
            "<- fs.read 3ms, 37 bytes"
        );
    }

    #[test]
    fn the_line_of_a_call_that_goes_on_names_its_task() {
        let result = ToolResult::text("[t1: it goes on]").with_task("t1");
        for (name, result) in [
            ("mcp:s/t", result),
            ("task.result", ToolResult::text("[t1: completed]\nlate")),
        ] {
            let line = plain(&result_line(name, &result, 10, ""));
            assert!(line.contains(" [t1: "), "{line}");
        }
    }

    #[test]
    fn a_changed_prompt_names_its_parts() {
        let mut change = PrefixChange::default();
        change.added = vec!["fs.read".parse().unwrap(), "fs.write".parse().unwrap()];
        change.system = true;
        let parts = plain(&prefix_line(&change))
            .split_once("it: ")
            .unwrap()
            .1
            .to_owned();
        assert_eq!(parts, "added fs.read, fs.write; another system text");
    }

    #[test]
    fn targets_hide_nothing() {
        let targets: Vec<Target> = ["fs:read:a\u{202e}b", "fs:write:c"]
            .map(|target| target.parse().unwrap())
            .into();
        assert_eq!(
            plain(&target_suffix(&targets)),
            r"  fs:read:a\u{202e}b, fs:write:c"
        );
        assert_eq!(target_suffix(&[]), "");
    }
}
