//! The settings of searches, and the service that they describe: how the family joins a program.

mod keys;
mod report;
mod search;

use host::{Extension, Finding, Parts, inventory};
use tools::source;

use crate::search::SearchBackend;

pub use keys::SearchKeys;

inventory::submit! {
    Extension::new("web", source!(), Parts {
        keys: || vec![Box::new(SearchKeys::default())],
        after: &["http"],
        services: search::insert,
        access: search::access,
        notices: report::notices,
        report: Some(|settings, _| Box::pin(async { report::report(settings) })),
        faults: Finding::of_linked::<SearchBackend>,
        ..Parts::NONE
    })
}
