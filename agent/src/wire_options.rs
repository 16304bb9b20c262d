//! [`WireOptions`]: the form in which the tools of a set are sent.

use tools::protocol::wire::{Format, Strictness};

/// The form in which the tools of a set are sent to a service: by default relaxed, without examples, and at most as many as the public
/// service [takes](Format::most_tools).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOptions {
    /// The format of the service.
    pub format: Format,
    /// The mode of the definitions.
    pub strictness: Strictness,
    /// True if the definitions have their [examples](tools::Entry::wire_with_examples).
    pub examples: bool,
    /// True if the tools after the most that the public service takes are left out. Other services with its API may have no limit.
    pub is_limited: bool,
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
}
