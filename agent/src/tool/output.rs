//! `tools.output`: reads output that a request does not show.

use std::sync::Arc;

use tools::{Content, OutputStore, ToolContext, ToolError, ToolResult, tool};

use crate::driver::ActiveRun;
use crate::run::{is_media, text_of};

/// The most bytes returned by one call. With the last line, the result stays below the result limit.
const MAX_LENGTH: u64 = 60_000;

/// Reads an output that was truncated or left out, from any position.
///
/// A truncated result names the handle of the whole output and the position of the missing part. Truncated outputs are kept for a
/// limited time. If an output is gone, make the original call again and ask for less.
// Pure: the output behind a handle never changes, and only the session that made the call can read it.
#[tool(
    name = "tools.output",
    title = "Read more of an output",
    pure,
    needs = OutputStore,
    tags = ["session"],
    example({"handle": "out-0123456789abcdef", "start": 32768}),
)]
pub(crate) fn output(
    cx: &ToolContext,
    /// The handle named in place of the missing output.
    handle: String,
    /// The position to start at, in bytes from the start of the output.
    #[serde(default)]
    start: u64,
    /// The most bytes to read.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1, max = MAX_LENGTH))]
    length: u64,
) -> Result<ToolResult, ToolError> {
    let store = cx.need::<OutputStore>()?;
    let handle = handle.trim();
    let (text, media) = match store.read(cx.session(), handle) {
        Some(text) => (text, Vec::new()),
        None => past_output(cx, handle).ok_or_else(|| {
            let reason = "or it has expired; make the original call again and ask for less";
            ToolError::execution_failed(format!("there is no output {handle:?}, {reason}"))
        })?,
    };
    let size = text.len();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if start >= size && (start > 0 || media.is_empty()) {
        let message = format!("the output ends at byte {size}; give a smaller start");
        return Err(ToolError::execution_failed(message));
    }
    let is_first = start == 0;
    let (start, end) = span(&text, start, usize::try_from(length).unwrap_or(usize::MAX));
    let rest = if end < size {
        format!("continue with start {end}")
    } else {
        "this is the end".to_owned()
    };
    let mut result = ToolResult::text(format!(
        "{}\n[bytes {start} to {end} of {size}; {rest}]",
        &text[start..end]
    ));
    result
        .content
        .extend(media.into_iter().filter(|_| is_first));
    Ok(result)
}

/// Returns the text, the images and the recordings of an earlier result, by the id of its call.
fn past_output(cx: &ToolContext, id: &str) -> Option<(Arc<str>, Vec<Content>)> {
    let mut result = cx.service::<ActiveRun>()?.past_result(id)?;
    let text = text_of(&result);
    result.content.retain(is_media);
    Some((text.into(), result.content))
}

/// Returns the byte range of about `length` bytes at `start`, moved to character boundaries. It is empty only if the text is.
fn span(text: &str, start: usize, length: usize) -> (usize, usize) {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=start).rfind(is_boundary).unwrap_or(0);
    let most = start.saturating_add(length).min(text.len());
    let end = (start + 1..=most).rfind(is_boundary);
    let end = end.or_else(|| (most..=text.len()).find(is_boundary));
    (start, end.unwrap_or(text.len()))
}

fn default_length() -> u64 {
    32_768
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::span;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spans_follow_each_other_to_the_end(text in ".{1,60}", length in 1_usize..10) {
            let (mut read, mut at) = (String::new(), 0);
            while at < text.len() {
                let (start, end) = span(&text, at, length);
                prop_assert!(start == at && end > at && end - start <= length.max(4));
                read.push_str(&text[start..end]);
                at = end;
            }
            prop_assert_eq!(read, text);
        }

        #[test]
        fn any_start_inside_of_the_text_reads_something(text in ".{1,30}", start in 0_usize..30, length in 1_usize..10) {
            prop_assume!(start < text.len());
            let (from, to) = span(&text, start, length);
            prop_assert!(from <= start && from < to && text.get(from..to).is_some());
        }
    }
}
