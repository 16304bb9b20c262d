//! What is over a limit: the head and the tail stay, and the whole goes where it can be read.

use std::any::TypeId;

use crate::{Entry, OutputStore, Resolve as _, Scope, ToolContext};

/// About how long the line gets that says what is missing. To cut what is no longer would make it longer.
const NOTICE_BYTES: usize = 128;

/// Where that goes which does not fit into the result of a call.
#[derive(Clone, Copy)]
pub(super) struct Overflow<'a> {
    pub(super) entry: &'a Entry,
    /// Who called, and where the call was looked up. Absent where the call was refused: what says so is short.
    pub(super) from: Option<(&'a ToolContext, &'a Scope)>,
}

impl Overflow<'_> {
    /// Cuts a text that is over the limit, in bytes, and longer than what says so.
    pub(super) fn cut_to(self, text: &mut String, limit: usize) {
        if text.len() > limit.max(NOTICE_BYTES) {
            self.cut(text, limit);
        }
    }

    /// Leaves the head and the tail of a text, with a line between that says what is missing: `limit` bytes together, or that line
    /// alone where it is longer.
    fn cut(self, text: &mut String, limit: usize) {
        let whole = std::mem::take(text);
        let (size, most) = (whole.len(), limit.min(whole.len()) / 2);
        let (before, after) = (head(&whole, most).to_owned(), tail(&whole, most).to_owned());
        let handle = self.keep(whole);
        // With the longest numbers that there can be.
        let room = limit.saturating_sub(notice(handle.as_deref(), size, most).len() + 2) / 2;
        let (before, after) = (head(&before, room), tail(&after, room));
        let notice = notice(handle.as_deref(), size - before.len() - after.len(), before.len());
        *text = format!("{before}\n{notice}\n{after}");
    }

    /// Puts an output where the caller can read it, and gives the handle.
    pub(super) fn keep(self, whole: String) -> Option<String> {
        // What reads the store would fill it with what it has from there.
        let is_reader = self.entry.needs().iter().any(|need| need.id() == TypeId::of::<OutputStore>());
        let (caller, scope) = self.from?;
        if is_reader || scope.resolve(OutputStore::READER).is_err() {
            return None;
        }
        caller.service::<OutputStore>()?.keep(caller.session(), whole)
    }
}

fn notice(handle: Option<&str>, missing: usize, start: usize) -> String {
    match handle {
        None => format!("[… {missing} bytes left out: the result is over its limit …]"),
        Some(handle) => format!(
            "[… {missing} bytes left out: the result is over its limit; {} reads them: handle {handle}, start {start} …]",
            OutputStore::READER
        ),
    }
}

/// The longest beginning of whole characters within so many bytes.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// The longest end of whole characters within so many bytes.
fn tail(text: &str, most: usize) -> &str {
    let start = (text.len() - most.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}
