//! Replaces the results of calls by notices with handles, which `tools.output` reads.

use std::cmp::Reverse;
use std::ops::Range;

use tools::protocol::Part;
use tools::{OutputStore, ToolResult};

use super::RunContext;
use super::metering::result_bytes;
use crate::run::{Run, is_media, text_of};

/// The bytes up to which a result stays, because a notice is hardly shorter.
const SMALL_RESULT: u64 = 400;

/// A result that requests still show.
struct ShownResult {
    id: String,
    /// The size in a request.
    bytes: u64,
    /// The size in words, for the notice.
    size: String,
}

/// Replaces the large results of these messages. Returns the ids of their calls.
pub(super) fn replace_all(
    run: &mut Run,
    messages: Range<usize>,
    run_cx: &RunContext<'_>,
) -> Vec<String> {
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
    // So the fewest results are lost to the model.
    large.sort_by_key(|result| Reverse(result.bytes));
    let mut replaced = Vec::new();
    for result in large {
        if run.compaction.tokens(bytes) <= most {
            break;
        }
        bytes = (bytes + replace(run, &result, run_cx)).saturating_sub(result.bytes);
        replaced.push(result.id);
    }
    replaced
}

fn large_results(run: &Run, messages: Range<usize>) -> Vec<ShownResult> {
    let parts = run.messages()[messages].iter();
    let parts = parts.flat_map(|message| &message.parts);
    let large = parts.filter_map(|part| {
        let Part::ToolResult { id, result, .. } = part else {
            return None;
        };
        let bytes = result_bytes(result);
        let is_large = bytes > SMALL_RESULT && run.compaction.notice(id).is_none();
        is_large.then(|| ShownResult {
            id: id.clone(),
            bytes,
            size: size(result),
        })
    });
    large.collect()
}

/// Replaces a result by a notice, whose handle is the id of the call. Returns the bytes of the notice.
fn replace(
    run: &mut Run,
    ShownResult { id, size, .. }: &ShownResult,
    run_cx: &RunContext<'_>,
) -> u64 {
    let notice = if run_cx.tools.contains(OutputStore::READER) {
        let reader = run_cx.cx.spelling(OutputStore::READER);
        format!(
            "[this result of {size} was left out to save context; {reader} reads it: handle {id}]"
        )
    } else {
        "[this result was left out to save context; if you need it, make the call again and ask for less]".to_owned()
    };
    let bytes = notice.len() as u64;
    run.compaction.replace(id.clone(), notice);
    bytes
}

/// Returns the size of a result in words.
fn size(result: &ToolResult) -> String {
    let bytes = text_of(result).len();
    match result
        .content
        .iter()
        .filter(|content| is_media(content))
        .count()
    {
        0 => format!("{bytes} bytes"),
        1 => format!("{bytes} bytes and an image or recording"),
        media => format!("{bytes} bytes and {media} images or recordings"),
    }
}
