//! Truncating output over a limit, and storing the full text.

use std::any::TypeId;
use std::borrow::Cow;

use crate::context::ToolContext;
use crate::entry::Entry;
use crate::output_store::OutputStore;
use crate::resolve::{Resolve as _, Scope};
use crate::visible::{head, tail};

/// The approximate length of the notice about missing bytes. Truncating a shorter text would make it longer.
const NOTICE_BYTES: usize = 128;

/// Truncates the output of a call and stores the full text.
#[derive(Clone, Copy)]
pub(super) struct Overflow<'a> {
    pub(super) entry: &'a Entry,
    /// The caller and the scope of the call. `None` for a refused call, whose error is not stored.
    pub(super) from: Option<(&'a ToolContext, &'a Scope)>,
}

impl Overflow<'_> {
    /// Truncates a text if it is over the limit, in bytes, and longer than the notice.
    pub(super) fn cut_to(self, text: &mut String, limit: usize) {
        if text.len() > limit.max(NOTICE_BYTES) {
            self.cut(text, limit);
        }
    }

    /// Replaces a text with its head, a notice about the missing bytes, and its tail. The result has at most `limit` bytes, unless the
    /// notice alone is longer.
    fn cut(self, text: &mut String, limit: usize) {
        let whole = std::mem::take(text);
        let size = whole.len();
        let most = limit.min(whole.len()) / 2;
        let before = head(&whole, most).to_owned();
        let after = tail(&whole, most).to_owned();
        let handle = self.keep(whole);
        // Reserves room for the largest possible numbers.
        let room = limit.saturating_sub(self.notice(handle.as_deref(), size, most).len() + 2) / 2;
        let before = head(&before, room);
        let after = tail(&after, room);
        let notice = self.notice(
            handle.as_deref(),
            size - before.len() - after.len(),
            before.len(),
        );
        *text = format!("{before}\n{notice}\n{after}");
    }

    fn notice(self, handle: Option<&str>, missing: usize, start: usize) -> String {
        match handle {
            None => format!("[… {missing} bytes left out: the result is over its limit …]"),
            Some(handle) => format!(
                "[… {missing} bytes left out: the result is over its limit; {} reads them: handle {handle}, start {start} …]",
                self.reader()
            ),
        }
    }

    /// Returns the name by which the model knows the tool that reads stored outputs.
    pub(super) fn reader(self) -> Cow<'static, str> {
        self.from
            .map_or(Cow::Borrowed(OutputStore::READER), |(caller, _)| {
                caller.spelling(OutputStore::READER).into_owned().into()
            })
    }

    /// Stores an output and returns its handle, or `None` if there is no store or the caller cannot read it.
    pub(super) fn keep(self, whole: String) -> Option<String> {
        // The output of the reading tool comes from the store, so storing it again would only fill the store.
        let is_reader = self
            .entry
            .needs()
            .iter()
            .any(|need| need.id() == TypeId::of::<OutputStore>());
        let (caller, scope) = self.from?;
        // A handle that the session cannot use would make the model call a tool that it does not have.
        if is_reader || scope.resolve(OutputStore::READER).is_err() {
            return None;
        }
        caller
            .service::<OutputStore>()?
            .keep(caller.session(), whole)
    }
}
