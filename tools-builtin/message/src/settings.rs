//! The settings of channels, and the service that they describe.

mod channels;
mod table;

use std::path::PathBuf;

use host::settings::{Key, ProjectRule, REACHES, Setting, Settings, Values, named_tables};
use host::{Extension, FamilyReport, Finding, declare_keys, inventory};
use tools::{Clause, source};
use tools_text::KeySource;

pub use channels::Found;
pub(crate) use channels::{configured, find, with_replies};
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

inventory::submit! {
    Extension::new("message", source!())
        .with_keys(|| vec![Box::new(ChannelKeys::default())])
        .with_secret_files(secret_files)
        .with_services(&["http"], channels::insert)
        .with_section("channels", |cx, _| Ok(channels::section(cx)))
        .with_access(channels::access)
        .with_notices(|settings| Ok(channels::missing(settings)))
        .with_clause_fault(clause_fault)
        .with_report(|settings, _| Box::pin(async { Ok(report(settings)) }))
        .with_commands(&[crate::command::LISTEN])
        .with_faults(|| Finding::of_linked(crate::conflicts(), crate::problems()))
}

/// Returns the reason if the clause names a channel that there is not.
fn clause_fault(clause: &Clause, settings: &Settings) -> Option<String> {
    let names = channels::names(settings)?;
    let is_unknown = clause.scheme() == Some("message") && !names.contains(&clause.pattern());
    is_unknown.then(|| format!("the channels are {}", names.join(", ")))
}

fn report(settings: &Settings) -> FamilyReport {
    let mut report = FamilyReport::default();
    report.lines = channels::report(settings);
    let missing = channels::missing(settings).into_iter();
    report.findings = missing
        .map(|fault| Finding::new("channel", fault))
        .collect();
    report
}

fn secret_files(values: &Values) -> Vec<PathBuf> {
    let channels = values
        .of::<ChannelKeys>()
        .channels
        .iter()
        .map(|channel| &channel.value);
    channels
        .flat_map(|channel| {
            let secrets = channel.secrets.values().filter_map(|place| match place {
                KeySource::File(path) => Some(path.clone()),
                _ => None,
            });
            secrets
                .chain(channel.files.iter().cloned())
                .collect::<Vec<_>>()
        })
        .collect()
}
