//! The keys and the default grants of the program itself.

use host::{Extension, inventory};
use tools::source;

use crate::config::{DisclosureKeys, ProgramKeys, RequestKeys};

inventory::submit! {
    // Asking the user, and using the tasks of the session. A session adds asking its model.
    Extension::new("program", source!())
        .with_default_grants(&["user:read:**", "task:read:**", "task:write:**"])
        .with_keys(|| {
            vec![
                Box::new(ProgramKeys::default()),
                Box::new(RequestKeys::default()),
                Box::new(DisclosureKeys::default()),
            ]
        })
}
