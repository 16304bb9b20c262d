//! [`Line`]: a line of input.

use std::path::PathBuf;

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// The text, which may contain line breaks.
    Text(String),
    /// Discarded with Ctrl-C.
    Interrupted,
    /// The end of the input.
    End,
}

/// Returns the position of the word before the cursor, and the words that it may become, for the text before the cursor.
pub type Completion = Box<dyn Fn(&str) -> (usize, Vec<String>) + Send + Sync>;

/// The parts of a line editor that its program decides.
pub struct InputOptions {
    /// The text before each line.
    pub prompt: String,
    /// The file of former lines, if any are kept.
    pub history: Option<PathBuf>,
    /// Completes the typed text.
    pub completion: Completion,
    /// Reports a history that cannot be kept.
    pub warn: fn(&str),
}
