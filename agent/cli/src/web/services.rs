//! The services of a session's tools, from the settings.

use tools::Services;
use tools_builtin::web::search::WebSearch;
use tools_http::HttpClient;

use super::search::{self, Search};
use super::{channels, client};
use crate::config::{Settings, SettingsError};

/// Adds the client, the search and the channels of a session. A service that the program adds itself stays; a client gets a cache for this session.
pub(crate) fn insert(services: &mut Services, settings: &Settings) -> Result<(), SettingsError> {
    let client = match services.get::<HttpClient>() {
        Some(client) => client.new_session(),
        None => client::from_settings(settings)?,
    };
    services.insert(client.clone());
    match search::from_settings(settings)? {
        _ if services.get::<WebSearch>().is_some() => {}
        Search::Ready(search) => {
            let client = client::of_search(&client, settings, &search)?;
            services.insert(search.service.with_client(client));
        }
        Search::Absent(reason) => services.insert_absent::<WebSearch>(reason),
    }
    channels::insert(services, settings, &client)
}

/// Adds the grants and rules that the configured search and channels need, with the origins of their settings.
pub(crate) fn access(settings: Settings) -> Result<Settings, SettingsError> {
    channels::access(search::access(settings)?)
}
