//! Note: tells the model about arguments that the tool ignores, and about the present name of a renamed tool.

use protocol::{Content, ToolResult};

use super::convert;
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::input::Input;
use crate::schema::{Misspelt, Reading, misspelt, quote};

/// Returns a note for each argument that was read as another value, one for each misspelt argument, and one for a call with a
/// former name of the tool. The result of a nested call is for a tool, which may parse it, so it has none.
pub(super) fn notes(
    entry: &Entry,
    caller: &ToolContext,
    former: Option<&str>,
    arguments: &Input,
    readings: &[Reading],
) -> Vec<Content> {
    let is_plain = former.is_none() && readings.is_empty();
    if caller.depth() > 0 || (entry.is_closed && is_plain) {
        return Vec::new();
    }
    let misspelt = if entry.is_closed {
        Vec::new()
    } else {
        misspelt(&entry.tool().parameters, arguments.node())
    };
    if misspelt.is_empty() && is_plain {
        return Vec::new();
    }
    let spelling = entry.spelling(caller.wire());
    let tool = spelling.tool(entry.name());
    let note = |Misspelt { given, near }: &Misspelt| {
        let given = quote(&spelling.spell_unnamed(given), 128);
        let near = quote(spelling.argument(near), 128);
        Content::text(format!(
            "note: {given} is not a parameter of {tool}; did you mean {near}?"
        ))
    };
    let renamed = former.map(|former| Content::text(spelling.note_renamed(former, entry.name())));
    let read = readings
        .iter()
        .map(|reading| convert::note(reading, |name| spelling.argument(name).to_owned()));
    read.chain(misspelt.iter().map(note))
        .chain(renamed)
        .collect()
}

/// Adds notes to a result. Model services show a structured value only without other content, so the value becomes text first.
pub(super) fn add(result: &mut ToolResult, notes: Vec<Content>) {
    let mut texts = result.content.iter().map(Content::as_text);
    if texts.all(|text| text.is_some_and(|text| text.trim().is_empty()))
        && let Some(value) = &result.structured
    {
        result.content = vec![Content::text(value.to_string())];
    }
    result.content.extend(notes);
}
