//! The client of requests of tools: how the family joins a program.

use std::path::PathBuf;

use host::settings::{Settings, SettingsError, Values};
use host::{Extension, Parts, inventory};
use tools::{Services, source};
use tools_text::KeySource;

use crate::client::HttpClient;
use crate::settings::{HttpKeys, client, report};

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

fn secret_files(values: &Values) -> Vec<PathBuf> {
    let secrets = values.of::<HttpKeys>().secrets.iter();
    secrets
        .filter_map(|secret| match &secret.value.source {
            KeySource::File(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
}
