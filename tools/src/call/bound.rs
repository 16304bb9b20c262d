//! Bound: truncates results and errors to their limits.

use protocol::{Content, Json, Limits, ResourceContents, ToolResult};

use super::overflow::Overflow;
use crate::entry::Entry;
use crate::output_store::WholeOutput;
use crate::schema::Violation;
use crate::size;
use crate::tool_error::ToolErrorKind;

/// The maximum length in bytes of a URI, name, media type or description of a content piece.
const MAX_LABEL_BYTES: usize = 8 * 1024;

/// Truncates a result to the tool's limit, and stores the full output if there is a store.
///
/// Texts keep their head and tail. A structured value cannot be truncated, so it is left out, even if the output schema promises it: the
/// call has run, and an error would invite its repetition.
pub(super) fn bound(overflow: Overflow<'_>, mut result: ToolResult) -> ToolResult {
    if overflow
        .from
        .is_some_and(|(caller, _)| caller.service::<WholeOutput>().is_some())
    {
        return result;
    }
    let limit = limit(overflow.entry);
    let structured = result.structured.as_ref();
    let size = structured.and_then(|value| size::over(value, limit));
    let note = size.and_then(|size| {
        let value = result.structured.take()?;
        left_out(overflow, &result.content, &value, size)
    });
    if note.is_none() && is_short(&result.content, limit) {
        return result;
    }
    bound_pieces(
        &mut result.content,
        Limits::MAX_PIECES - usize::from(note.is_some()),
    );
    let noted = note.as_ref().and_then(Content::as_text).map_or(0, str::len);
    bound_texts(&mut result.content, limit.saturating_sub(noted), overflow);
    result.content.extend(note);
    let mut left = Limits::MAX_BINARY_BYTES;
    result
        .content
        .iter_mut()
        .for_each(|content| drop_oversized(content, &mut left));
    result
}

/// Truncates the texts of an error, which a tool can make arbitrarily long.
pub(super) fn bound_error(overflow: Overflow<'_>, error: &mut ToolErrorKind) {
    let limit = limit(overflow.entry);
    match error {
        ToolErrorKind::ExecutionFailed { message: text, .. }
        | ToolErrorKind::Transient { message: text, .. }
        | ToolErrorKind::Panicked { message: text, .. }
        | ToolErrorKind::Internal { message: text, .. }
        | ToolErrorKind::Denied { reason: text, .. }
        | ToolErrorKind::Unavailable { reason: text, .. } => overflow.cut_to(text, limit),
        ToolErrorKind::InvalidArguments { violations, .. }
        | ToolErrorKind::InvalidOutput { violations, .. } => {
            // Schema violations are bounded already, but a tool can create its own.
            violations.truncate(2 * Limits::MAX_PIECES);
            for Violation {
                pointer,
                expected,
                found,
                near,
            } in violations
            {
                near.truncate(Limits::MAX_PIECES);
                let texts = [pointer, expected, found].into_iter().chain(near);
                texts.for_each(|text| overflow.cut_to(text, MAX_LABEL_BYTES));
            }
        }
        _ => {}
    }
}

/// Returns true if the content is only texts within the limits, as in most results.
fn is_short(content: &[Content], limit: usize) -> bool {
    let rest = content.iter().try_fold(limit, |left, piece| match piece {
        Content::Text { text } => left.checked_sub(text.len()),
        _ => None,
    });
    content.len() <= Limits::MAX_PIECES && rest.is_some()
}

fn limit(entry: &Entry) -> usize {
    let limit = entry
        .tool()
        .limits
        .max_output_bytes
        .unwrap_or(Limits::DEFAULT_MAX_OUTPUT_BYTES);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Returns a note about a structured value that is left out. Returns `None` if the content contains its JSON as text, which is truncated
/// instead.
fn left_out(
    overflow: Overflow<'_>,
    content: &[Content],
    value: &Json,
    size: usize,
) -> Option<Content> {
    let json = value.to_string();
    // A value and its text are one output, so the note would announce a loss that the cut text announces too.
    if content.iter().any(|piece| piece.as_text() == Some(&json)) {
        return None;
    }
    Some(Content::text(match overflow.keep(json) {
        None => format!("[a structured value of {size} bytes left out: it is over the limit]"),
        Some(handle) => format!(
            "[a structured value of {size} bytes left out: it is over the limit; {} reads it: handle {handle}]",
            overflow.reader()
        ),
    }))
}

/// Joins adjacent texts if there are too many pieces, and drops the pieces that are still over the limit.
fn bound_pieces(content: &mut Vec<Content>, most: usize) {
    if content.len() <= most {
        return;
    }
    let mut joined: Vec<Content> = Vec::new();
    for piece in content.drain(..) {
        match (joined.last_mut(), piece) {
            (Some(Content::Text { text }), Content::Text { text: next }) => {
                text.push('\n');
                text.push_str(&next);
            }
            (_, piece) => joined.push(piece),
        }
    }
    if joined.len() > most {
        let missing = joined.len() - (most - 1);
        joined.truncate(most - 1);
        joined.push(Content::text(format!(
            "[{missing} pieces of content left out: the limit is {}]",
            Limits::MAX_PIECES
        )));
    }
    *content = joined;
}

/// Truncates the texts to their fair shares of the limit: a text within an even share stays whole, and the longer ones divide the rest.
fn bound_texts(content: &mut [Content], limit: usize, overflow: Overflow<'_>) {
    let mut texts: Vec<&mut String> = content.iter_mut().filter_map(text_of).collect();
    if texts.iter().map(|text| text.len()).sum::<usize>() <= limit {
        return;
    }
    // The shortest goes first, so that what it leaves of its share is for the longer ones.
    texts.sort_by_key(|text| text.len());
    let mut left = limit;
    let mut count = texts.len();
    for text in texts {
        let share = left / count;
        left = left.saturating_sub(text.len().min(share));
        overflow.cut_to(text, share);
        count -= 1;
    }
}

fn text_of(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text { text } => Some(text),
        Content::Resource {
            resource: ResourceContents::Text { text, .. },
        } => Some(text),
        _ => None,
    }
}

/// Replaces a piece with a note if its binary content exceeds the remaining limit or a label is too long.
fn drop_oversized(content: &mut Content, left: &mut usize) {
    let none = String::new();
    let (kind, data, labels) = match &*content {
        Content::Image { data, mime_type } => ("a picture", data, vec![Some(mime_type)]),
        Content::Audio { data, mime_type } => ("a recording", data, vec![Some(mime_type)]),
        Content::Resource {
            resource:
                ResourceContents::Blob {
                    uri,
                    mime_type,
                    blob,
                },
        } => ("a file", blob, vec![Some(uri), mime_type.as_ref()]),
        Content::Resource {
            resource: ResourceContents::Text { uri, mime_type, .. },
        } => ("a file", &none, vec![Some(uri), mime_type.as_ref()]),
        Content::ResourceLink {
            uri,
            name,
            description,
            mime_type,
            ..
        } => {
            let others = [description.as_ref(), mime_type.as_ref()];
            let labels = [Some(uri), Some(name)].into_iter().chain(others);
            ("a link", &none, labels.collect())
        }
        _ => return,
    };
    if labels
        .into_iter()
        .flatten()
        // A cut address or type would be another one, so the piece goes as a whole.
        .any(|label| label.len() > MAX_LABEL_BYTES)
    {
        *content = Content::text(format!(
            "[{kind} left out: its name, address or type is over {MAX_LABEL_BYTES} bytes]"
        ));
        return;
    }
    match left.checked_sub(data.len()) {
        Some(rest) => *left = rest,
        None => {
            let size = data.len();
            *content = Content::text(format!(
                "[{kind} of {size} bytes left out: the limit for all binary content is {} bytes]",
                Limits::MAX_BINARY_BYTES
            ));
        }
    }
}
