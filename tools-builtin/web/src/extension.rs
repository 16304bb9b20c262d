//! The settings of searches, and the service that they describe: how the family joins a program.

mod keys;
mod report;
mod search;

use host::{Extension, Finding, inventory};
use tools::source;

use crate::search::SearchBackend;

pub use keys::SearchKeys;

inventory::submit! {
    Extension::new("web", source!())
        .with_keys(|| vec![Box::new(SearchKeys::default())])
        .with_services(&["http"], search::insert)
        .with_access(search::access)
        .with_notices(report::notices)
        .with_report(|settings, _| Box::pin(async { report::report(settings) }))
        .with_faults(Finding::of_linked::<SearchBackend>)
}
