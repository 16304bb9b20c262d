//! The records of sessions: how the family joins a program.

use host::{Extension, Parts, RetentionKeys, inventory};
use tools::source;

use crate::{audit, command, records, window};

inventory::submit! {
    Extension::new("sessions", source!(), Parts {
        keys: || vec![Box::new(RetentionKeys::default())],
        services: |_, services| {
            services.insert(window::SHARED);
            Ok(())
        },
        session_records: Some(records::RECORDS),
        commands: &[command::SESSIONS, audit::AUDIT],
        ..Parts::NONE
    })
}
