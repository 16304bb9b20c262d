//! The HTTP client of tools, from the settings.

use std::fs::File;
use std::path::PathBuf;
use url::Url;

use host::settings::{Setting, Settings, SettingsError};
use tools_text::{KeySource, read_input};

use super::keys::HttpKeys;
use super::place::SecretPlace;
use crate::address::private_host;
use crate::client::HttpClient;
use crate::error::HttpError;
use crate::options::HttpOptions;
use crate::secret::BoundSecret;
use crate::service_key::ServiceKey;

/// The most bytes of a file of certificates.
const MAX_CERTIFICATES: u64 = 16 * 1024 * 1024;

/// Returns the client that the settings describe.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn client(settings: &Settings) -> Result<HttpClient, SettingsError> {
    HttpClient::from_options(options(settings)?)
        .map_err(|error| refuse(settings, &error, "secrets"))
}

/// Returns the client for a backend: it alone has the key, whose setting stands in errors, and reaches the private host.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn backend_client(
    tools: &HttpClient,
    settings: &Settings,
    (key, key_setting): (Option<BoundSecret>, &str),
    private: Option<&Url>,
) -> Result<HttpClient, SettingsError> {
    let mut options = options(settings)?;
    options.secrets.extend(key);
    options.private_hosts.extend(private.and_then(private_host));
    tools
        .new_sibling(options)
        .map_err(|error| refuse(settings, &error, key_setting))
}

/// Reads a key and binds it. Returns `None` if its place is empty or missing. Errors name the setting.
///
/// # Errors
/// Returns an error if the key cannot be read or bound.
pub fn bound_key<T>(
    source: &KeySource,
    (key, setting): (&str, &Setting<T>),
    bind: impl FnOnce(&str) -> Result<Option<BoundSecret>, HttpError>,
) -> Result<Option<BoundSecret>, SettingsError> {
    if !source.is_found() {
        return Ok(None);
    }
    let text = source
        .read()
        .map_err(|error| SettingsError::unusable(key, setting, error))?;
    text.map_or(Ok(None), |text| bind(&text))
        .map_err(|error| SettingsError::unusable(key, setting, error))
}

/// Returns the key of a service for its origin, or `None` if it needs none. `place` is the configured place or else the usual one. The inner
/// error is the reason for which the service cannot be used. `setting` is the name that `_env` and `_file` follow in the settings.
///
/// # Errors
/// Returns an error if the key cannot be read or used, or if a service that takes none has a place of a key.
pub fn service_key(
    setting: &str,
    service: &str,
    (key, place): (Option<ServiceKey>, Option<Setting<KeySource>>),
    bind: impl FnOnce(&str) -> Result<Option<BoundSecret>, HttpError>,
) -> Result<Result<Option<BoundSecret>, String>, SettingsError> {
    let Some(source) = place else {
        return Ok(Ok(None));
    };
    let Some(key) = key else {
        let reason = format!("has no effect, because {service} takes no key; remove it");
        return Err(SettingsError::value(&source.origin, setting, reason));
    };
    let bound = bound_key(&source.value, (setting, &source), bind)?;
    if bound.is_none() && key.is_required {
        return Ok(Err(format!(
            "{service} needs a key, and {} is empty or missing; write the key there, or name another place with {setting}_env or \
             {setting}_file",
            source.value.place()
        )));
    }
    Ok(Ok(bound))
}

/// Returns the client for a channel, which has no secrets of tools and reaches the server of the channel. A redirect is an error: the
/// message would go elsewhere. It shares the limits of connections with the client of the tools.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn channel_client(
    tools: &HttpClient,
    settings: &Settings,
    server: Option<&Url>,
) -> Result<HttpClient, SettingsError> {
    let mut options = options(settings)?;
    options.secrets.clear();
    options.limits.max_redirects = 0;
    options.private_hosts.extend(server.and_then(private_host));
    tools
        .new_sibling(options)
        .map_err(|error| refuse(settings, &error, "secrets"))
}

/// Returns the options of requests to an MCP server, which has headers of its own instead of the secrets of tools.
///
/// # Errors
/// Returns the first mistake in the settings.
pub fn server_options(settings: &Settings) -> Result<HttpOptions, SettingsError> {
    let mut options = options(settings)?;
    options.secrets.clear();
    Ok(options)
}

/// Returns the options that the settings describe. A secret that is not found is not sent.
fn options(settings: &Settings) -> Result<HttpOptions, SettingsError> {
    let keys = keys(settings);
    let hosts = keys.private_hosts.iter();
    let proxy = keys.tool_proxy.as_ref();
    let mut options = HttpOptions {
        private_hosts: hosts.map(|host| host.value.clone()).collect(),
        proxy: proxy.map(|proxy| proxy.value.clone()),
        ..HttpOptions::default()
    };
    if let Some(file) = &keys.ca_file {
        options.root_certificates.push(certificates(file)?);
    }
    for secret in &keys.secrets {
        let place = &secret.value;
        let bound = bound_key(&place.source, (&setting_of(place), secret), |text| {
            BoundSecret::new(
                &place.name,
                &place.origin,
                &place.header,
                &place.prefix,
                text,
            )
            .map(Some)
        });
        options.secrets.extend(bound?);
    }
    Ok(options)
}

fn keys(settings: &Settings) -> &HttpKeys {
    settings.of()
}

fn certificates(file: &Setting<PathBuf>) -> Result<Vec<u8>, SettingsError> {
    let text = File::open(&file.value).and_then(|file| read_input(file, MAX_CERTIFICATES));
    text.map(String::into_bytes).map_err(|error| {
        let path = file.value.display();
        let reason = format!("{path} cannot be read: {error}; name a readable file in PEM");
        SettingsError::value(&file.origin, "http.ca_file", reason)
    })
}

/// Returns the error of an option, with the setting that it comes from. A secret that is not among the settings is that of `key_setting`.
fn refuse(settings: &Settings, error: &HttpError, key_setting: &str) -> SettingsError {
    let mut secrets = keys(settings).secrets.iter();
    let key = match error {
        HttpError::Secret { name, .. } => match secrets.find(|secret| secret.value.name == *name) {
            Some(secret) => {
                return SettingsError::unusable(&setting_of(&secret.value), secret, error);
            }
            None => key_setting,
        },
        HttpError::Option { option, .. } => match *option {
            "private_hosts" => "http.private_hosts",
            "root_certificates" => "http.ca_file",
            "proxy" => "http.proxy",
            "secrets" => "secrets",
            _ => "http",
        },
        _ => "http",
    };
    let mut rows = settings.values().rows();
    let row = rows.find(|(about, ..)| about.name == key);
    let origin = row.map(|(_, _, origin)| origin).unwrap_or_default();
    SettingsError::unusable(key, &Setting { value: (), origin }, error)
}

/// Returns the name of a secret's setting in errors.
fn setting_of(secret: &SecretPlace) -> String {
    format!("secrets: {}", secret.name)
}
