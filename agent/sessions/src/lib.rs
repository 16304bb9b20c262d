#![doc = include_str!("../README.md")]

mod audit;
mod change;
mod command;
mod error;
mod folder;
mod id;
mod list;
mod lock;
mod records;
mod stored;
mod summary;
mod tasks;
mod window;

use host::{Extension, RetentionKeys, inventory};
use tools::source;

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
