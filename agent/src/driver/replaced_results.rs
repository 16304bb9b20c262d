//! Replaces the results of calls by notices with handles, which `tools.output` reads.

use std::cmp::Reverse;
use std::ops::Range;

use tools::OutputStore;
use tools::protocol::{Message, Part};

use super::RunContext;
use super::metering::result_bytes;
use crate::Run;

/// The bytes up to which a result stays, because a notice is hardly shorter.
const SMALL_RESULT: u64 = 400;

/// A result that requests still show.
struct ShownResult {
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

fn large_results(run: &Run, messages: Range<usize>) -> Vec<ShownResult> {
    let is_large = |result: &ShownResult| result.bytes > SMALL_RESULT && !run.compaction().is_replaced(&result.id);
    results(run.messages(), messages).filter(is_large).collect()
}

fn results(messages: &[Message], range: Range<usize>) -> impl Iterator<Item = ShownResult> {
    messages[range].iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::ToolResult { id, result, .. } => Some(ShownResult { id: id.clone(), bytes: result_bytes(result) }),
        _ => None,
    })
}

/// Replaces a result by a notice. Returns the id of its call.
fn replace(run: &mut Run, ShownResult { id, bytes }: ShownResult, run_cx: &RunContext<'_>) -> String {
    run.compaction_mut().replace(id.clone(), notice(&id, bytes, run_cx));
    id
}

/// Returns the text that takes the place of a result. The id of its call is its handle, because the conversation keeps the result.
fn notice(id: &str, bytes: u64, run_cx: &RunContext<'_>) -> String {
    if !run_cx.session.tools().contains(OutputStore::READER) {
        return "[this result was left out to save context; if you need it, make the call again and ask for less]"
            .to_owned();
    }
    let reader = run_cx.cx.spelling(OutputStore::READER);
    format!("[this result of {bytes} bytes was left out to save context; {reader} reads it: handle {id}]")
}
