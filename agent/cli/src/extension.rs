//! The keys and the default grants of the program itself.

use host::{Extension, Parts, inventory};
use tools::source;

use crate::config::ProgramKeys;

inventory::submit! {
    // Asking the user, and using the tasks of the session. A session adds asking its model.
    Extension::new("program", source!(), Parts {
        default_grants: &["user:read:**", "task:read:**", "task:write:**"],
        keys: || vec![Box::new(ProgramKeys::default())],
        ..Parts::NONE
    })
}
