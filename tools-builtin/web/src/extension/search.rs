//! The service of `web.search`, from the settings.

use host::settings::{Setting, Settings, SettingsError};
use tools::Services;
use tools_http::settings::{backend_client, service_key};
use tools_http::{BoundSecret, HttpClient};
use tools_text::KeySource;

use super::SearchKeys;
use crate::search::{self, WebSearch};

/// Stands in errors for the two settings of the key.
const KEY: &str = "web.search_key";

/// A search, with the key of its backend if there is one.
pub(super) type ReadySearch = (WebSearch, Option<BoundSecret>);

/// Returns the search by the backend that the settings name, with its key. The inner error is the reason that there is none.
pub(super) fn from_settings(
    settings: &Settings,
) -> Result<Result<ReadySearch, String>, SettingsError> {
    let Some(service) = service(settings)? else {
        let advice = "no search backend is configured; write search = \"duckduckgo\" below [web] in the settings";
        return Ok(Err(advice.to_owned()));
    };
    let name = format!("the search backend {}", service.backend().name);
    let key = (service.backend().key, key_source(settings, &service));
    let bound = service_key(KEY, &name, key, |text| service.bind_key(text))?;
    Ok(bound.map(|key| (service, key)))
}

/// Adds the search of a session, which has a client of its own: it alone has the key, and reaches a backend on this machine or in a private
/// network. A search that the program brings itself stays.
pub(super) fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let found = from_settings(settings)?;
    let client = services.get::<HttpClient>();
    if services.get::<WebSearch>().is_some() {
        return Ok(());
    }
    match (found, client) {
        (Ok(search), Some(client)) => {
            let client = search_client(&client, settings, &search)?;
            services.insert(search.0.with_client(client));
        }
        (Ok(_), None) => {}
        (Err(reason), _) => services.insert_absent::<WebSearch>(reason),
    }
    Ok(())
}

/// Returns the client of a search. It shares the limits of connections with the client of the tools.
pub(super) fn search_client(
    tools: &HttpClient,
    settings: &Settings,
    (service, key): &ReadySearch,
) -> Result<HttpClient, SettingsError> {
    let is_named = keys(settings).service_url.is_some();
    let private = is_named.then_some(service.base_url());
    backend_client(tools, settings, (key.clone(), KEY), private)
}

/// Adds the grants and rules that a search with the configured backend needs, with the origin of the setting that names it. The backend's
/// host is for `web.search` alone.
pub(super) fn access(settings: Settings) -> Result<Settings, SettingsError> {
    let (Some(service), Some(named)) = (service(&settings)?, keys(&settings).backend.clone())
    else {
        return Ok(settings);
    };
    settings.with_targets(&service.targets(), "web.search", "web.search", &named)
}

/// Returns the search by the configured backend without its key, or `None` if there is no backend.
pub(super) fn service(settings: &Settings) -> Result<Option<WebSearch>, SettingsError> {
    let Some(named) = &keys(settings).backend else {
        return Ok(None);
    };
    let backend = search::get(&named.value)
        .map_err(|error| SettingsError::unusable("web.search", named, error))?;
    let mut service = match &keys(settings).service_url {
        Some(url) => WebSearch::new(backend, Some(&url.value))
            .map_err(|error| SettingsError::unusable("web.search_url", url, error))?,
        None => WebSearch::new(backend, None)
            .map_err(|error| SettingsError::unusable("web.search", named, error))?,
    };
    if let Some(language) = &keys(settings).language {
        let set = service.with_language(&language.value);
        service =
            set.map_err(|error| SettingsError::unusable("web.search_language", language, error))?;
    }
    Ok(Some(service))
}

/// Returns the place of the backend's key: the configured one, or else its usual variable.
pub(super) fn key_source(settings: &Settings, service: &WebSearch) -> Option<Setting<KeySource>> {
    let key = keys(settings).key();
    key.or_else(|| service.backend().key.map(|key| key.usual_place()))
}

fn keys(settings: &Settings) -> &SearchKeys {
    settings.of()
}
