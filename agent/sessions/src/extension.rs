//! The records of sessions: how the family joins a program.

use host::{Extension, RetentionKeys, inventory};
use tools::source;

use crate::{audit, command, records, window};

inventory::submit! {
    Extension::new("sessions", source!())
        .with_keys(|| vec![Box::new(RetentionKeys::default())])
        .with_services(&[], |_, services| {
            services.insert(window::SHARED);
            Ok(())
        })
        .with_session_records(records::RECORDS)
        .with_commands(&[command::SESSIONS, audit::AUDIT])
}
