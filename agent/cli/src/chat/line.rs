//! [`Line`]: a line of input.

use crate::program;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Discarded with Ctrl-C.
    Interrupted,
    End,
}

/// Returns the prompt of the terminal.
pub(super) fn prompt() -> String {
    format!("{}> ", program::name())
}
