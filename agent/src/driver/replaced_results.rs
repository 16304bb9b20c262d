//! Replaces the results of calls by notices with handles, which `tools.output` reads.

use std::cmp::Reverse;
use std::ops::Range;

use tools::protocol::{Message, Part};
use tools::{OutputStore, ToolContext, ToolResult};

use super::RunContext;
use super::metering::result_bytes;
use crate::Run;

/// The bytes up to which a result stays, because a notice is hardly shorter.
const SMALL_RESULT: u64 = 400;

/// A result that requests still show.
struct ShownResult {
    /// The position of its message.
    message: usize,
    id: String,
    bytes: u64,
}

/// Replaces the large results of these messages. Returns the ids of their calls.
pub(super) fn replace_all(run: &mut Run, messages: Range<usize>, run_cx: &RunContext<'_>) -> Vec<String> {
    let large = large_results(run, messages);
    large.into_iter().map(|result| replace(run, result, run_cx)).collect()
}

/// Replaces the large results of these messages, the largest first, while the run `is_too_large`. Returns the ids of their calls.
pub(super) fn replace_largest(
    run: &mut Run,
    messages: Range<usize>,
    run_cx: &RunContext<'_>,
    is_too_large: impl Fn(&Run) -> bool,
) -> Vec<String> {
    let mut large = large_results(run, messages);
    large.sort_by_key(|result| Reverse(result.bytes));
    let mut replaced = Vec::new();
    for result in large {
        if !is_too_large(run) {
            break;
        }
        replaced.push(replace(run, result, run_cx));
    }
    replaced
}

/// Writes the notices of a resumed run, whose outputs were stored by another process.
pub(super) fn restore_notices(run: &mut Run, run_cx: &RunContext<'_>) {
    let shown = results(run.messages(), 0..run.messages().len());
    let missing: Vec<_> = shown.filter(|result| run.compaction().lacks_notice(&result.id)).collect();
    for result in missing {
        replace(run, result, run_cx);
    }
}

fn large_results(run: &Run, messages: Range<usize>) -> Vec<ShownResult> {
    let is_large = |result: &ShownResult| result.bytes > SMALL_RESULT && !run.compaction().is_replaced(&result.id);
    results(run.messages(), messages).filter(is_large).collect()
}

fn results(messages: &[Message], range: Range<usize>) -> impl Iterator<Item = ShownResult> {
    let of_message = |message: usize| {
        messages[message].parts.iter().filter_map(move |part| match part {
            Part::ToolResult { id, result, .. } => {
                Some(ShownResult { message, id: id.clone(), bytes: result_bytes(result) })
            }
            _ => None,
        })
    };
    range.flat_map(of_message)
}

/// Replaces a result by a notice. Returns the id of its call.
fn replace(run: &mut Run, replaced: ShownResult, run_cx: &RunContext<'_>) -> String {
    let ShownResult { message, id, .. } = replaced;
    let mut parts = run.messages()[message].parts.iter();
    let found = parts.find_map(|part| match part {
        Part::ToolResult { id: other, name, result } if *other == id => Some((name, result)),
        _ => None,
    });
    if let Some((name, result)) = found {
        let notice = notice(name, result, run_cx.cx, run_cx.session.tools().contains(OutputStore::READER));
        run.compaction_mut().replace(&id, notice);
    }
    id
}

/// Stores the text of a result, if the session `has_reader`, and returns the notice that takes its place.
fn notice(tool: &str, result: &ToolResult, cx: &ToolContext, has_reader: bool) -> String {
    let text = match (&result.content[..], &result.structured) {
        ([], Some(structured)) => structured.to_string(),
        _ => result.to_text(),
    };
    let bytes = text.len();
    // A part of a stored output is not stored again.
    let store = cx.service::<OutputStore>().filter(|_| has_reader && tool != OutputStore::READER && bytes > 0);
    match store.and_then(|store| store.keep(cx.session(), text)) {
        Some(handle) => {
            let reader = cx.spelling(OutputStore::READER);
            format!("[this result of {bytes} bytes was left out to save context; {reader} reads it: handle {handle}]")
        }
        None => "[this result was left out to save context; if you need it, make the call again and ask for less]"
            .to_owned(),
    }
}
