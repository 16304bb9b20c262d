//! The channels of the user: how the family joins a program.

use host::settings::Settings;
use host::{Extension, FamilyReport, Finding, inventory};
use tools::{Clause, source};

use crate::ChannelKind;
use crate::command::LISTEN;
use crate::settings::{self, ChannelKeys, channels};

inventory::submit! {
    Extension::new("message", source!())
        .with_keys(|| vec![Box::new(ChannelKeys::default())])
        .with_secret_files(settings::secret_files)
        .with_services(&["http"], channels::insert)
        .with_section("channels", |cx, _| Ok(channels::section(cx)))
        .with_access(channels::access)
        .with_notices(|settings| Ok(channels::missing(settings)))
        .with_clause_fault(clause_fault)
        .with_report(|settings, _| Box::pin(async { Ok(report(settings)) }))
        .with_commands(&[LISTEN])
        .with_faults(Finding::of_linked::<ChannelKind>)
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
