//! The settings of speech, and the service that they describe: how the family joins a program.

mod keys;
mod report;
mod speech;

use host::{Extension, Finding, Parts, inventory};
use tools::source;

use crate::backend::SpeechBackend;

pub use keys::SpeechKeys;

inventory::submit! {
    Extension::new("tts", source!(), Parts {
        default_grants: &["speech:read:**"],
        keys: || vec![Box::new(SpeechKeys::default())],
        after: &["exec", "http"],
        services: speech::insert,
        access: speech::access,
        report: Some(|settings, services| Box::pin(report::report(settings, services))),
        faults: Finding::of_linked::<SpeechBackend>,
        ..Parts::NONE
    })
}
