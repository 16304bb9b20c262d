//! [`WireOptions`]: the form in which the tools of a set are sent.

use tools::protocol::wire::{Format, Strictness};

/// The form in which the tools of a set are sent to a service: by default relaxed, without examples, and at most as many as the public
/// service [takes](Format::most_tools).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOptions {
    pub(crate) format: Format,
    pub(crate) strictness: Strictness,
    pub(crate) examples: bool,
    pub(crate) is_limited: bool,
}

impl WireOptions {
    /// Creates the default form for a format.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            strictness: Strictness::Relaxed,
            examples: false,
            is_limited: true,
        }
    }

    /// Sets the mode of the definitions.
    #[must_use]
    pub fn with_strictness(self, strictness: Strictness) -> Self {
        Self { strictness, ..self }
    }

    /// Sets whether the definitions have their [examples](tools::Entry::wire_with_examples).
    #[must_use]
    pub fn with_examples(self, examples: bool) -> Self {
        Self { examples, ..self }
    }

    /// Sets whether the tools after the most that the public service takes are left out. Other services with its API may have no limit.
    #[must_use]
    pub fn with_limit(self, is_limited: bool) -> Self {
        Self { is_limited, ..self }
    }
}
