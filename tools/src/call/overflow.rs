//! What is over a limit: the head and the tail stay, and the whole goes where it can be read.

use std::any::TypeId;

use crate::{Entry, OutputStore, Resolve as _, Scope, ToolContext};

/// Where that goes which does not fit into the result of a call.
#[derive(Clone, Copy)]
pub(super) struct Overflow<'a> {
    pub(super) entry: &'a Entry,
    /// Who called, and where the call was looked up. Absent where the call was refused: what says so is short.
    pub(super) from: Option<(&'a ToolContext, &'a Scope)>,
}

impl Overflow<'_> {
    /// Cuts a text that is over the limit, in bytes.
    pub(super) fn cut_to(self, text: &mut String, limit: usize) {
        if text.len() > limit {
            self.cut(text, limit);
        }
    }

    /// Leaves the head and the tail of a text, each half of `keep` bytes, with a line between that says what is missing.
    pub(super) fn cut(self, text: &mut String, keep: usize) {
        let is_boundary = |at: &usize| text.is_char_boundary(*at);
        let head = (0..=keep / 2).rfind(is_boundary).unwrap_or(0);
        let tail = (text.len() - keep / 2..=text.len()).find(is_boundary).unwrap_or(text.len());
        let (before, after, missing) = (text[..head].to_owned(), text[tail..].to_owned(), tail - head);
        let note = match self.keep(std::mem::take(text)) {
            None => format!("[… {missing} bytes left out: the result is over its limit …]"),
            Some(handle) => format!(
                "[… {missing} bytes left out: the result is over its limit; {} reads them: handle {handle}, start {head} …]",
                OutputStore::READER
            ),
        };
        *text = format!("{before}\n{note}\n{after}");
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
