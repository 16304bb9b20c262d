//! The channels of the user: how the family joins a program.

use host::settings::Settings;
use host::{Extension, FamilyReport, Finding, Parts, inventory};
use tools::{Clause, source};

use crate::command::LISTEN;
use crate::kind::ChannelKind;
use crate::settings::{self, ChannelKeys, channels};

inventory::submit! {
    Extension::new("message", source!(), Parts {
        keys: || vec![Box::new(ChannelKeys::default())],
        secret_files: settings::secret_files,
        after: &["http"],
        services: channels::insert,
        section: Some(("channels", |cx, _| Ok(channels::section(cx)))),
        access: channels::access,
        notices: |settings| Ok(channels::missing(settings)),
        clause_fault,
        report: Some(|settings, _| Box::pin(async { Ok(report(settings)) })),
        commands: &[LISTEN],
        faults: Finding::of_linked::<ChannelKind>,
        ..Parts::NONE
    })
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
