//! [`Format`]: the shapes that providers want their requests in.

use std::sync::OnceLock;

/// How a provider wants to be told of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The `tools` of OpenAI's chat completions, and of all services that speak it.
    OpenAiChat,
    /// The `tools` of Anthropic's messages.
    Anthropic,
}

/// One value for each format, made when it is first asked for and kept: for what does not change, beside what it is made of.
#[derive(Clone, Debug)]
pub struct FormatCell<T> {
    openai_chat: OnceLock<T>,
    anthropic: OnceLock<T>,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::OpenAiChat, Self::Anthropic];
}

impl<T> FormatCell<T> {
    /// Nothing made so far.
    pub const fn new() -> Self {
        Self { openai_chat: OnceLock::new(), anthropic: OnceLock::new() }
    }

    /// The value for a format, `None` where none was made.
    pub fn get(&self, format: Format) -> Option<&T> {
        self.cell(format).get()
    }

    /// The value for a format, made by this where there is none.
    pub fn get_or_init(&self, format: Format, make: impl FnOnce() -> T) -> &T {
        self.cell(format).get_or_init(make)
    }

    fn cell(&self, format: Format) -> &OnceLock<T> {
        match format {
            Format::OpenAiChat => &self.openai_chat,
            Format::Anthropic => &self.anthropic,
        }
    }
}

impl<T> Default for FormatCell<T> {
    fn default() -> Self {
        Self::new()
    }
}
