//! The settings of speech, and the service that they describe: how the family joins a program.

mod keys;
mod report;
mod speech;

use host::{Extension, Finding, inventory};
use tools::source;

use crate::SpeechBackend;

pub use keys::SpeechKeys;

inventory::submit! {
    Extension::new("tts", source!())
        .with_default_grants(&["speech:read:**"])
        .with_keys(|| vec![Box::new(SpeechKeys::default())])
        .with_services(&["exec", "http"], speech::insert)
        .with_access(speech::access)
        .with_report(|settings, services| Box::pin(report::report(settings, services)))
        .with_faults(Finding::of_linked::<SpeechBackend>)
}
