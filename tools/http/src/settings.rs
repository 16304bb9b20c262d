//! The settings of requests of tools, and the clients that they describe.

mod client;
mod keys;
mod place;
mod report;

use host::settings::{Settings, SettingsError, Values};
use host::{Extension, Parts, inventory};
use tools::{Services, source};
use tools_text::KeySource;

use crate::HttpClient;

pub use client::{
    backend_client, bound_key, channel_client, client, limits, server_options, service_key,
};
pub use keys::HttpKeys;
pub use place::SecretPlace;

inventory::submit! {
    Extension::new("http", source!(), Parts {
        keys: || vec![Box::new(HttpKeys::default())],
        secret_files,
        services: insert,
        notices: |settings| Ok(report::notices(settings)),
        report: Some(|settings, _| Box::pin(async { report::report(settings) })),
        ..Parts::NONE
    })
}

/// Adds the client of a session. One that the program brings itself stays, with a cache for this session.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let client = match services.get::<HttpClient>() {
        Some(client) => client.new_session(),
        None => client(settings)?,
    };
    services.insert(client);
    Ok(())
}

fn secret_files(values: &Values) -> Vec<std::path::PathBuf> {
    let places = values
        .of::<HttpKeys>()
        .secrets
        .iter()
        .map(|secret| &secret.value.source);
    places
        .filter_map(|source| match source {
            KeySource::File(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
}
