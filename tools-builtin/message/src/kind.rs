//! [`ChannelKind`]: the link-time record of a kind of channels.
//!
//! A program says `tools::link!(pager_channel)` for the crate of a kind. A line in `Cargo.toml` alone is not enough: the compiler leaves
//! out a crate that no code names, and no channel of the settings can be of its kind.

use std::sync::Arc;

use tools::Source;

use crate::channel_settings::{Channel, ChannelSettings};
use crate::error::ChannelError;

/// The link-time record of a kind of channels. Every program that links its crate finds it by name. Register it with
/// [`inventory::submit!`](crate::inventory::submit).
///
/// ```
/// use std::sync::Arc;
/// use tools::source;
/// use tools_message::{Channel, ChannelField, ChannelKind, Delivery, FieldType, SendFuture};
///
/// /// Drops every message.
/// #[derive(Debug)]
/// struct Nowhere;
///
/// impl Channel for Nowhere {
///     fn send<'a>(&'a self, _: Delivery<'a>) -> SendFuture<'a> {
///         Box::pin(async { Ok(()) })
///     }
/// }
///
/// tools_message::inventory::submit! {
///     ChannelKind {
///         name: "nowhere",
///         description: "drops every message",
///         source: source!(),
///         fields: &[],
///         create: |_| Ok(Arc::new(Nowhere)),
///     }
/// }
///
/// assert_eq!(tools_message::kind("nowhere")?.description, "drops every message");
/// # Ok::<(), tools::linked::LookupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChannelKind {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A one-line description for people.
    pub description: &'static str,
    /// The place that declares it.
    pub source: Source,
    /// The fields of a channel in the settings.
    pub fields: &'static [ChannelField],
    /// Creates a channel. Connects to nothing.
    pub create: fn(&ChannelSettings) -> Result<Arc<dyn Channel>, ChannelError>,
}

/// A field of a channel in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelField {
    /// The name.
    pub name: &'static str,
    /// The type of the value.
    pub value: FieldType,
    /// True if the channel cannot be used without it.
    pub is_required: bool,
}

impl ChannelField {
    /// Declares a field that a channel may lack.
    pub const fn optional(name: &'static str, value: FieldType) -> Self {
        Self {
            name,
            value,
            is_required: false,
        }
    }

    /// Declares a field that every channel has.
    pub const fn required(name: &'static str, value: FieldType) -> Self {
        Self {
            name,
            value,
            is_required: true,
        }
    }
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// A list of texts.
    List,
    /// The path of a file. The program makes it absolute.
    File,
    /// A secret. The settings name the place of it, and never the secret itself: `NAME_env` is a variable, `NAME_file` a file.
    Secret,
}

inventory::collect!(ChannelKind);

tools::named_submission!(ChannelKind, "type of channel");
