//! [`StatusHint`]: the status line below the line editor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustyline::hint::Hint;
use tools::IgnorePoison as _;

use crate::status_lines::status_line;
use crate::stderr;

/// The status line below the line editor.
#[derive(Clone, Default)]
pub(crate) struct StatusHint {
    /// The status. Empty if none is shown.
    status: Arc<Mutex<String>>,
    /// The columns of the terminal when the line was drawn. 0 before.
    width: Arc<AtomicUsize>,
}

impl StatusHint {
    pub(crate) fn set(&self, status: String) {
        *self.status.lock().ignore_poison() = status;
        self.width.store(0, Ordering::Relaxed);
    }

    /// Returns the text to be drawn below the typed one. On a terminal that has become narrower, erases the rows into which it broke
    /// the former one: the editor knows of one row.
    pub(crate) fn draw(&self) -> Option<StatusText> {
        let width = stderr::width();
        let before = self.width.swap(width, Ordering::Relaxed);
        if width < before {
            stderr::write_raw("\x1b[J");
        }
        let status = self.status.lock().ignore_poison();
        (!status.is_empty()).then(|| StatusText(format!(" \n{}", status_line(&status, width))))
    }

    /// Erases the line after the editor left it, as it does at Ctrl-C. The cursor is in the row below it.
    pub(crate) fn erase(&self) {
        if !self.status.lock().ignore_poison().is_empty() {
            stderr::write_raw("\x1b[A\r\x1b[J");
        }
    }
}

/// A text below the typed one, which is not to be typed.
pub(crate) struct StatusText(String);

impl Hint for StatusText {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}
