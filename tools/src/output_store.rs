//! [`OutputStore`]: where truncated output is stored.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::sync::IgnorePoison as _;

/// The beginning of a handle.
const PREFIX: &str = "out-";

/// The number of hexadecimal digits of a handle.
const DIGITS: usize = 16;

/// A service that stores truncated outputs, to be read by their handles.
///
/// The pipeline fills it if the host offers one and the caller can call the tool [`READER`](Self::READER). A host creates one for
/// each session. When it is full, the oldest outputs are removed. A handle cannot be guessed and works only in its own session.
///
/// ```
/// use tools::OutputStore;
///
/// let store = OutputStore::default();
/// let handle = store.keep(Some("session-1"), "all of it".to_owned()).ok_or("too long")?;
/// assert_eq!(store.read(Some("session-1"), &handle).as_deref(), Some("all of it"));
/// assert_eq!(store.read(Some("session-2"), &handle), None);
/// # Ok::<(), &str>(())
/// ```
pub struct OutputStore {
    max_bytes: usize,
    secret: RandomState,
    state: Mutex<StoredOutputs>,
}

#[derive(Default)]
struct StoredOutputs {
    /// The outputs, oldest first.
    outputs: VecDeque<StoredOutput>,
    bytes: usize,
    count: u64,
}

struct StoredOutput {
    handle: String,
    session: Option<String>,
    text: Arc<str>,
}

impl OutputStore {
    /// The name of the tool that reads stored outputs, which `toolcrib-agent` provides.
    pub const READER: &str = "tools.output";

    /// The default capacity in bytes: 16 MiB.
    const DEFAULT_MAX_BYTES: usize = 16 * 1024 * 1024;

    /// The maximum number of outputs: 64.
    pub const MAX_OUTPUTS: usize = 64;

    /// Sets the total capacity, in bytes of UTF-8. 0 turns the store off.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Stores an output, removes the oldest ones to make room, and returns the handle. Returns `None` if the output is larger than the
    /// capacity or the store is turned off.
    pub fn keep(&self, session: Option<&str>, text: String) -> Option<String> {
        if self.max_bytes == 0 || text.len() > self.max_bytes {
            return None;
        }
        let mut state = self.state();
        while state.bytes + text.len() > self.max_bytes || state.outputs.len() >= Self::MAX_OUTPUTS
        {
            let Some(oldest) = state.outputs.pop_front() else {
                break;
            };
            state.bytes -= oldest.text.len();
        }
        state.count += 1;
        // SipHash with a random key: earlier handles do not reveal the next one.
        let handle = format!("{PREFIX}{:016x}", self.secret.hash_one(state.count));
        state.bytes += text.len();
        let session = session.map(str::to_owned);
        state.outputs.push_back(StoredOutput {
            handle: handle.clone(),
            session,
            text: text.into(),
        });
        Some(handle)
    }

    /// Returns the output, or `None` if the handle is unknown, belongs to another session or was removed.
    pub fn read(&self, session: Option<&str>, handle: &str) -> Option<Arc<str>> {
        let state = self.state();
        let kept = state
            .outputs
            .iter()
            // Sessions of one host may share a store, and must not read each other's results.
            .find(|kept| kept.handle == handle && kept.session.as_deref() == session);
        kept.map(|kept| kept.text.clone())
    }

    /// Returns the text without the digits of handles. Equal outputs that were truncated have equal texts then.
    pub fn without_handles(text: &str) -> Cow<'_, str> {
        if !text.contains(PREFIX) {
            return Cow::Borrowed(text);
        }
        let mut pieces = text.split(PREFIX);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let digits = piece.get(..DIGITS);
            let is_handle =
                digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            out.push_str(PREFIX);
            out.push_str(if is_handle { &piece[DIGITS..] } else { piece });
        }
        Cow::Owned(out)
    }

    fn state(&self) -> MutexGuard<'_, StoredOutputs> {
        self.state.lock().ignore_poison()
    }
}

impl Default for OutputStore {
    /// Creates an empty store.
    fn default() -> Self {
        Self {
            max_bytes: Self::DEFAULT_MAX_BYTES,
            secret: RandomState::new(),
            state: Mutex::default(),
        }
    }
}

// Prints sizes only: outputs may be confidential, and handles are.
crate::debug_fields!(self: OutputStore { outputs = self.state().outputs.len(), bytes = self.state().bytes });

/// A service by which a host takes results as the tool returns them, such as a program that prints them for a person. Without it, a result
/// is truncated to the tool's limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeOutput;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_outputs_make_room() {
        let store = OutputStore::default().with_max_bytes(10);
        let keep = |text: &str| store.keep(None, text.to_owned());
        let read = |handle: &Option<String>| {
            store
                .read(None, handle.as_ref()?)
                .map(|text| text.to_string())
        };
        let handles = [keep("four"), keep("4444"), keep("2!")];
        assert_eq!(
            handles.each_ref().map(read),
            ["four", "4444", "2!"].map(|text| Some(text.to_owned()))
        );
        let fifth = keep("5five");
        assert_eq!(
            handles.each_ref().map(read),
            [None, None, Some("2!".to_owned())],
            "by bytes"
        );
        assert_eq!(keep("eleven bytes"), None);
        assert_eq!(
            read(&fifth),
            Some("5five".to_owned()),
            "what has no room at all takes none"
        );
    }

    #[test]
    fn the_oldest_of_too_many_outputs_makes_room() {
        let store = OutputStore::default();
        let handles: Vec<_> = (0..=OutputStore::MAX_OUTPUTS)
            .filter_map(|number| store.keep(None, number.to_string()))
            .collect();
        assert_eq!(store.read(None, &handles[0]), None);
        assert_eq!(store.read(None, &handles[1]).as_deref(), Some("1"));
    }

    #[test]
    fn nothing_is_kept_where_there_is_no_room_for_anything() {
        assert_eq!(
            OutputStore::default()
                .with_max_bytes(0)
                .keep(None, "a".to_owned()),
            None
        );
    }

    #[test]
    fn handles_differ_between_outputs_and_between_stores() {
        let (one, other) = (OutputStore::default(), OutputStore::default());
        let keep = |store: &OutputStore| store.keep(None, "the same".to_owned()).unwrap();
        let handles = [keep(&one), keep(&one), keep(&other)];
        assert!(
            handles[0] != handles[1] && handles[0] != handles[2],
            "{handles:?}"
        );
        assert_eq!(one.read(None, &handles[2]), None);
    }

    #[test]
    fn texts_that_differ_in_handles_alone_are_equal_without_them() {
        let store = OutputStore::default();
        let [one, other] = [(); 2].map(|()| {
            format!(
                "[handle {}, start 1]",
                store.keep(None, "x".to_owned()).unwrap()
            )
        });
        assert_ne!(one, other);
        assert_eq!(
            OutputStore::without_handles(&one),
            OutputStore::without_handles(&other)
        );
        for text in ["", "out-", "out-of-order éééééééééééé", "time-out-0123"] {
            assert_eq!(OutputStore::without_handles(text), text);
        }
    }

    #[test]
    fn an_output_belongs_to_its_session() {
        let store = OutputStore::default();
        let handle = store.keep(Some("a"), "secret".to_owned()).unwrap();
        assert_eq!(
            [store.read(None, &handle), store.read(Some("b"), &handle)],
            [None, None]
        );
        assert!(store.read(Some("a"), &handle).is_some());
        assert!(
            !format!("{store:?}").contains("secret") && !format!("{store:?}").contains(&handle)
        );
    }
}
