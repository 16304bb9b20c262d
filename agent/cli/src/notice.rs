//! Styles, and labelled messages on standard error: errors, hints, warnings and notes.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{Driver, Selection, ToolSet, WireToolSet};
use anstyle::Style;
pub(crate) use host::style::{ALERT, BAD, FAINT, GOOD, STRONG, paint};
use terminal::stderr::{wrapped, write_line};
use tools::{Entry, counted, visible};

use crate::program;

/// Prints an error.
pub(crate) fn error(message: &str) {
    write_line(&label_line(BAD, "error", message));
}

/// Prints a hint: the next step for the user.
pub(crate) fn hint(message: &str) {
    write_line(&label_line(GOOD, "hint", message));
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    write_line(&label_line(ALERT, "warning", message));
}

/// Prints a note.
pub(crate) fn note(message: &str) {
    write_line(&label_line(FAINT, "note", message));
}

/// Prints a note without a command to copy, wrapped at words on a terminal.
pub(crate) fn wrapped_note(message: &str) {
    write_line(&wrapped(&label_line(FAINT, "note", message)));
}

/// Warns about tools of the set that the provider's requests leave out.
pub(crate) fn warn_left_out(driver: &Driver, tools: &ToolSet) {
    driver
        .wire_tools(tools)
        .iter()
        .flat_map(|sent| left_out(sent, tools))
        .for_each(|message| warning(&message));
}

/// Returns a message for each reason for which requests leave out tools of the set.
fn left_out(sent: &WireToolSet, tools: &ToolSet) -> Vec<String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let skipped = sent.list_skipped().iter();
    for tool in skipped.filter(|skipped| tools.contains(&skipped.name)) {
        let names = by_reason.entry(tool.reason.to_string()).or_default();
        names.push(&tool.name);
    }
    let messages = by_reason.into_iter().map(|(reason, names)| {
        let others = match names.len() as u64 - 1 {
            0 => String::new(),
            others => format!(" and {}", counted(others, "other tool")),
        };
        format!("requests leave out {}{others}: {reason}", names[0])
    });
    messages.collect()
}

/// Warns about globs that match no tool; most are misspelt names.
pub(crate) fn warn_unmatched(selection: &Selection, entries: &[Arc<Entry>]) {
    for pattern in selection.unmatched(entries) {
        warning(&format!(
            "no tool matches {pattern}; run {} list to see all names",
            program::name()
        ));
    }
}

fn label_line(style: Style, label: &str, message: &str) -> String {
    // A quoted text must not look like another message, nor hide a character.
    format!("{}: {}", paint(style, label), visible::message(message))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tools::protocol::wire::{Format, Strictness};
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;

    #[test]
    fn tools_that_requests_leave_out_are_named_once() {
        let mut catalog = Catalog::new();
        for number in 0..131 {
            let tool = Tool::new(
                format!("t{number:03}"),
                "Does it.",
                json!({"type": "object"}),
            )
            .unwrap();
            catalog
                .register(
                    tool.with_effects(Effects::Pure),
                    async |_: ToolContext, _: Value| "done",
                )
                .unwrap();
        }
        let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        let said = |format| left_out(set.wire(format, Strictness::Relaxed), &set);
        let [message] = &said(Format::OpenAiChat)[..] else {
            panic!("{:?}", said(Format::OpenAiChat))
        };
        assert!(
            message.contains("t128 and 2 other tools: ") && message.contains("at most 128"),
            "{message}"
        );
        assert!(said(Format::Anthropic).is_empty());
    }
}
