//! Replaces the results of calls by notices with handles, which `tools.output` reads.

use std::cmp::Reverse;
use std::ops::Range;

use tools::OutputStore;
use tools::protocol::Part;

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
    for result in &large {
        replace(run, result, run_cx);
    }
    large.into_iter().map(|result| result.id).collect()
}

/// Replaces large results after the first messages, the largest first, while a request of so many bytes has more than `most` tokens.
/// Returns the ids of their calls.
pub(super) fn replace_largest(
    run: &mut Run,
    first: usize,
    mut bytes: u64,
    most: u64,
    run_cx: &RunContext<'_>,
) -> Vec<String> {
    let mut large = large_results(run, first..run.messages().len());
    large.sort_by_key(|result| Reverse(result.bytes));
    let mut replaced = Vec::new();
    for result in large {
        if run.compaction().tokens(bytes) <= most {
            break;
        }
        bytes = (bytes + replace(run, &result, run_cx)).saturating_sub(result.bytes);
        replaced.push(result.id);
    }
    replaced
}

fn large_results(run: &Run, messages: Range<usize>) -> Vec<ShownResult> {
    let parts = run.messages()[messages].iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match part {
        Part::ToolResult { id, result, .. } => Some(ShownResult { id: id.clone(), bytes: result_bytes(result) }),
        _ => None,
    });
    let is_shown = |id: &str| run.compaction().notice(id).is_none();
    results.filter(|result| result.bytes > SMALL_RESULT && is_shown(&result.id)).collect()
}

/// Replaces a result by a notice, whose handle is the id of the call. Returns the bytes of the notice.
fn replace(run: &mut Run, ShownResult { id, bytes }: &ShownResult, run_cx: &RunContext<'_>) -> u64 {
    let notice = if run_cx.session.tools().contains(OutputStore::READER) {
        let reader = run_cx.cx.spelling(OutputStore::READER);
        format!("[this result of {bytes} bytes was left out to save context; {reader} reads it: handle {id}]")
    } else {
        "[this result was left out to save context; if you need it, make the call again and ask for less]".to_owned()
    };
    let bytes = notice.len() as u64;
    run.compaction_mut().replace(id.clone(), notice);
    bytes
}
