//! The services of a session's tools, from the settings.

use tools::Services;
use tools_builtin::web::search::WebSearch;
use tools_http::HttpClient;

use super::client;
use super::search::{self, Search};
use crate::config::{ConfigError, Settings};

/// Adds the client and the search of a session. A service that the program adds itself stays; a client gets a cache for this session.
pub(crate) fn insert(services: &mut Services, settings: &Settings) -> Result<(), ConfigError> {
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
    Ok(())
}
