//! The settings of channels, and the service that they describe.

pub(crate) mod channels;
mod table;

use std::path::PathBuf;

use host::declare_keys;
use host::settings::{Key, ProjectRule, REACHES, Setting, Values, named_tables};
use tools_text::KeySource;

pub use table::ConfiguredChannel;

declare_keys! {
    /// The keys of channels.
    pub struct ChannelKeys;

    /// The channels of messages, each a table with a name and a type: terminal, file, webhook, email or another linked one
    pub channels: Vec<Setting<ConfiguredChannel>> = Key::new(
        "channels",
        named_tables(ConfiguredChannel::from_table),
        Vec::new(),
        r#"{ log = { type = "file", path = "messages.jsonl" } }"#,
    )
    .with_project(ProjectRule::never(REACHES));
}

/// Returns the files with secrets that the channels name.
pub(crate) fn secret_files(values: &Values) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for channel in &values.of::<ChannelKeys>().channels {
        for place in channel.value.secrets.values() {
            if let KeySource::File(path) = place {
                files.push(path.clone());
            }
        }
        files.extend_from_slice(&channel.value.files);
    }
    files
}
