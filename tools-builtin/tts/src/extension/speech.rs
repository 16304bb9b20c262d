//! The service of `tts.speak`, from the settings.

use host::settings::{Setting, Settings, SettingsError};
use tools::Services;
use tools_http::settings::{backend_client, service_key};
use tools_http::{BoundSecret, HttpClient};

use super::SpeechKeys;
use crate::service::Speech;

/// Stands in errors for the two settings of the key.
const KEY: &str = "tts.key";

/// The backend without a setting: it needs no key and no network.
const DEFAULT: &str = "espeak-ng";

/// The tool that speaks.
pub(super) const SPEAK: &str = "tts.speak";

/// Adds the speech of a session, which has the key of its service. A service that the program adds itself stays.
pub(super) fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    if services.get::<Speech>().is_some() {
        return Ok(());
    }
    let speech = build_speech(settings)?;
    // A mistake in the settings is one also where the backend is not installed.
    let key = key(settings, &speech)?;
    let missing = (speech.backend().missing)(services);
    let key = match missing.map_or(key, Err) {
        Ok(key) => key,
        Err(reason) => {
            services.insert_absent::<Speech>(reason);
            return Ok(());
        }
    };
    let speech = match (services.get::<HttpClient>(), speech.base_url()) {
        (Some(client), Some(url)) => {
            let is_set = settings.of::<SpeechKeys>().service_url.is_some();
            let private = is_set.then_some(url);

            let client = backend_client(&client, settings, (key, KEY), private)?;
            speech.with_client(client)
        }
        _ => speech,
    };
    services.insert(speech);
    Ok(())
}

/// Adds the grant and the rule for the host of the configured service. Speaking itself is among the default grants.
pub(super) fn access(settings: Settings) -> Result<Settings, SettingsError> {
    let speech = build_speech(&settings)?;
    let origin = backend(&settings).origin;
    let mut hosts = speech.targets();
    hosts.retain(|target| target.scheme() == "net");
    settings.with_targets(&hosts, SPEAK, "tts.backend", &Setting { value: (), origin })
}

/// Returns the configured backend, or the usual one.
fn backend(settings: &Settings) -> Setting<String> {
    let named = settings.of::<SpeechKeys>().backend.clone();
    named.unwrap_or_else(|| Setting::from_default(DEFAULT.to_owned()))
}

/// Returns the speech that the settings describe, without its key.
pub(super) fn build_speech(settings: &Settings) -> Result<Speech, SettingsError> {
    let named = backend(settings);
    let found = crate::get(&named.value)
        .map_err(|error| SettingsError::unusable("tts.backend", &named, error))?;
    let mut speech = match &settings.of::<SpeechKeys>().service_url {
        Some(url) => Speech::new(found, Some(&url.value))
            .map_err(|error| SettingsError::unusable("tts.url", url, error))?,
        None => Speech::new(found, None)
            .map_err(|error| SettingsError::unusable("tts.backend", &named, error))?,
    };
    if let Some(model) = &settings.of::<SpeechKeys>().model {
        speech = speech
            .with_model(&model.value)
            .map_err(|error| SettingsError::unusable("tts.model", model, error))?;
    }
    if let Some(voice) = &settings.of::<SpeechKeys>().voice {
        speech = speech.with_voice(&voice.value);
    }
    Ok(speech)
}

/// Returns the key of the service, or nothing if it needs none. The inner error is the reason why there is no speech.
fn key(
    settings: &Settings,
    speech: &Speech,
) -> Result<Result<Option<BoundSecret>, String>, SettingsError> {
    let keys = settings.of::<SpeechKeys>();
    let key = speech.backend().key;
    // A service at another address, such as one on this machine, may need no key, and does not get that of the usual variable.
    let usual = key.filter(|_| keys.service_url.is_none());
    let place = keys.key().or_else(|| usual.map(|key| key.usual_place()));
    let name = format!("the speech backend {}", speech.backend().name);
    service_key(KEY, &name, (key, place), |text| speech.bind_key(text))
}
