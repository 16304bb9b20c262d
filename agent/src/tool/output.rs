//! `tools.output`: reads output that a request does not show.

use tools::{OutputStore, ToolContext, ToolError, ToolResult, tool};

use crate::driver::ActiveRun;

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
) -> Result<String, ToolError> {
    let store = cx.need::<OutputStore>()?;
    let handle = handle.trim();
    let past = || cx.service::<ActiveRun>()?.past_result(handle).map(|result| text_of(&result).into());
    let Some(text) = store.read(cx.session(), handle).or_else(past) else {
        let message =
            format!("there is no output {handle:?}, or it has expired; make the original call again and ask for less");
        return Err(ToolError::execution_failed(message));
    };
    let size = text.len();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if start >= size {
        let message = format!("the output ends at byte {size}; give a smaller start");
        return Err(ToolError::execution_failed(message));
    }
    let (start, end) = span(&text, start, usize::try_from(length).unwrap_or(usize::MAX));
    let rest = if end < size { format!("continue with start {end}") } else { "this is the end".to_owned() };
    Ok(format!("{}\n[bytes {start} to {end} of {size}; {rest}]", &text[start..end]))
}

/// Returns the text of a result as a model reads it.
fn text_of(result: &ToolResult) -> String {
    match (&result.content[..], &result.structured) {
        ([], Some(structured)) => structured.to_string(),
        _ => result.to_text(),
    }
}

/// Returns the byte range of about `length` bytes at `start`, moved to character boundaries. It is never empty.
fn span(text: &str, start: usize, length: usize) -> (usize, usize) {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=start).rfind(is_boundary).unwrap_or(0);
    let most = start.saturating_add(length).min(text.len());
    let end = (start + 1..=most).rfind(is_boundary).or_else(|| (most..=text.len()).find(is_boundary));
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
