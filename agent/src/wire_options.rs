//! [`WireOptions`]: the form in which the tools of a set are sent.

use std::sync::Arc;

use tools::Entry;
use tools::protocol::wire::schema::Unsendable;
use tools::protocol::wire::{Format, Strictness, WireTool};

/// The form in which the tools of a set are sent to a service: by default relaxed, without examples, and at most as many as the public
/// service [takes](Format::most_tools).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOptions {
    /// The format of the service.
    pub format: Format,
    /// The mode of the definitions.
    pub strictness: Strictness,
    /// True if the definitions have their [examples](Entry::wire_with_examples).
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

    /// Returns the function that renders one tool.
    pub(crate) fn render(self) -> Render {
        if self.examples {
            Entry::wire_with_examples
        } else {
            Entry::wire
        }
    }
}

/// Returns one tool as a service takes it: with or without its examples.
pub(crate) type Render = fn(&Entry, Format, Strictness) -> Result<&Arc<WireTool>, &Unsendable>;
