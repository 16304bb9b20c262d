//! `tools.output`: the rest of an output that was cut.

use tools::{OutputStore, ToolContext, ToolError, tool};

/// How much is read at once, in bytes. With the last line it stays below what a result may have.
const MAX_LENGTH: u64 = 60_000;

/// Reads an output that was too long to be shown whole, from any place on.
///
/// A result that was cut names the handle of the whole output, and where the missing part begins. Outputs are kept for a while
/// only; where one is gone, make the call again and ask it for less.
// Pure: what a handle stands for never changes, and it is told only to the session whose call gave the output.
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
    /// The handle that the cut result names.
    handle: String,
    /// Where to begin, in bytes from the start of the output.
    #[serde(default)]
    start: u64,
    /// How many bytes to read at most.
    #[serde(default = "usual_length")]
    #[schemars(range(min = 1, max = MAX_LENGTH))]
    length: u64,
) -> Result<String, ToolError> {
    let store = cx.need::<OutputStore>()?;
    let Some(text) = store.read(cx.session(), handle.trim()) else {
        let message =
            format!("there is no output {handle:?}, or not any more; make the call again and ask it for less");
        return Err(ToolError::execution_failed(message));
    };
    let size = text.len();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if start >= size {
        let message = format!("the output ends at byte {size}; start before that");
        return Err(ToolError::execution_failed(message));
    }
    let (start, end) = span(&text, start, usize::try_from(length).unwrap_or(usize::MAX));
    let rest = if end < size { format!("go on with start {end}") } else { "this is the end".to_owned() };
    Ok(format!("{}\n[bytes {start} to {end} of {size}; {rest}]", &text[start..end]))
}

/// So many bytes from there on, without breaking a character. There is at least one in it.
fn span(text: &str, start: usize, length: usize) -> (usize, usize) {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=start).rfind(is_boundary).unwrap_or(0);
    let most = start.saturating_add(length).min(text.len());
    let end = (start + 1..=most).rfind(is_boundary).or_else(|| (most..=text.len()).find(is_boundary));
    (start, end.unwrap_or(text.len()))
}

fn usual_length() -> u64 {
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
