//! Bound: no result is larger than its limit.

use protocol::{Content, ToolResult};
use serde_json::Value;

use crate::{Entry, ToolError, Violation};

/// How much text a result may carry where its tool does not say: 64 KiB, about 16,000 tokens of English.
pub const DEFAULT_MAX_OUTPUT_BYTES: u64 = 64 * 1024;

/// How large one picture, recording or embedded file may be, in bytes of base64: 8 MiB. Such content cannot be cut, so what
/// is larger is left out whole.
pub const MAX_BINARY_BYTES: usize = 8 * 1024 * 1024;

/// Cuts what is over the limit. All texts together keep their head and their tail. A structured value cannot be cut: it is
/// left out, or, where the output schema promises one, the call fails.
pub(super) fn bound(entry: &Entry, mut result: ToolResult) -> Result<ToolResult, ToolError> {
    let limit = entry.tool().limits.max_output_bytes.unwrap_or(DEFAULT_MAX_OUTPUT_BYTES);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let size = result.structured.as_ref().map_or(0, encoded_size);
    if size > limit {
        if entry.tool().output.is_some() && !result.is_error {
            return Err(ToolError::InvalidOutput {
                tool: entry.name().to_string(),
                violations: vec![Violation {
                    pointer: String::new(),
                    expected: format!("at most {limit} bytes of JSON; ask for less at a time"),
                    found: format!("{size} bytes"),
                    near: Vec::new(),
                }],
            });
        }
        result.structured = None;
    }
    bound_texts(&mut result.content, limit);
    result.content.iter_mut().for_each(drop_oversized);
    Ok(result)
}

/// Gives every text what is left of the limit, so that a first long one does not take all: texts that fit their even share
/// stay whole, the others divide the rest.
fn bound_texts(content: &mut [Content], limit: usize) {
    let mut texts: Vec<&mut String> = content.iter_mut().filter_map(text_of).collect();
    if texts.iter().map(|text| text.len()).sum::<usize>() <= limit {
        return;
    }
    texts.sort_by_key(|text| text.len());
    let (mut left, mut count) = (limit, texts.len());
    for text in texts {
        let share = left / count;
        if text.len() > share {
            *text = cut(text, share);
        }
        left = left.saturating_sub(text.len().min(share));
        count -= 1;
    }
}

/// The head and the tail of a text, each half of `keep` bytes, with a line between that says what is missing.
fn cut(text: &str, keep: usize) -> String {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=keep / 2).rfind(is_boundary).unwrap_or(0);
    let tail = (text.len() - keep / 2..=text.len()).find(is_boundary).unwrap_or(text.len());
    let missing = tail - head;
    format!("{}\n[… {missing} bytes left out: the result is over its limit …]\n{}", &text[..head], &text[tail..])
}

fn text_of(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text { text } => Some(text),
        Content::Resource { resource: protocol::ResourceContents::Text { text, .. } } => Some(text),
        _ => None,
    }
}

fn drop_oversized(content: &mut Content) {
    let (kind, size) = match content {
        Content::Image { data, .. } => ("a picture", data.len()),
        Content::Audio { data, .. } => ("a recording", data.len()),
        Content::Resource { resource: protocol::ResourceContents::Blob { blob, .. } } => ("a file", blob.len()),
        _ => return,
    };
    if size > MAX_BINARY_BYTES {
        *content = Content::text(format!("[{kind} of {size} bytes left out: the limit is {MAX_BINARY_BYTES} bytes]"));
    }
}

/// The size of a value as JSON, without writing it anywhere.
fn encoded_size(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither a value nor the counting can fail; were it to, the value would count as too large.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}
