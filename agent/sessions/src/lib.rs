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

use host::{Extension, Parts, RetentionKeys, inventory};
use tools::source;

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
