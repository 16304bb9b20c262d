//! Tools that need a session or its user. They are linked with this crate. A session has them if it selects them and its host
//! offers their services.

mod ask;
mod generate;
mod output;
mod search;
mod spawn;
mod task;
mod todo;

use tools::{Catalog, RegisterError};

/// Adds the tools to a catalog without link-time registration, for example in tests.
///
/// # Errors
/// Returns a [`RegisterError`] if one of the names is taken.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[
        &ask::ASK_TOOL,
        &search::CALL_TOOL,
        &generate::GENERATE_TOOL,
        &output::OUTPUT_TOOL,
        &search::SEARCH_TOOL,
        &spawn::SPAWN_TOOL,
        &task::CANCEL_TOOL,
        &task::LIST_TOOL,
        &task::RESULT_TOOL,
        &todo::READ_TOOL,
        &todo::WRITE_TOOL,
    ])
}
