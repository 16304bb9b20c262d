//! The settings of speech, and the service that they describe.

mod report;
mod speech;

use std::path::PathBuf;

use host::settings::{
    Key, ProjectRule, REACHES, SPENDS, Setting, file, filled, text, url, variable,
};
use host::{Extension, Finding, declare_keys, inventory};
use tools::source;
use tools_text::KeySource;

use crate::SpeechBackend;

inventory::submit! {
    Extension::new("tts", source!())
        .with_default_grants(&["speech:read:**"])
        .with_keys(|| vec![Box::new(SpeechKeys::default())])
        .with_services(&["exec", "http"], speech::insert)
        .with_access(speech::access)
        .with_report(|settings, services| Box::pin(report::report(settings, services)))
        .with_faults(Finding::of_linked::<SpeechBackend>)
}

declare_keys! {
    /// The keys of speech.
    pub struct SpeechKeys;

    /// The backend of tts.speak: espeak-ng, a program on this machine, or openai, a service with that interface; doctor lists those that are linked
    pub backend: Option<Setting<String>> = Key::new("tts.backend", text(filled), None, "\"openai\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the speech service, if it is another one than the backend's own, such as http://localhost:8880/v1
    pub service_url: Option<Setting<String>> = Key::new("tts.url", text(url), None, "\"http://localhost:8880/v1\"")
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(REACHES));

    /// The model of the speech service
    pub model: Option<Setting<String>> = Key::new("tts.model", text(filled), None, "\"tts-1\"")
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(SPENDS));

    /// The voice of calls that name no other
    pub voice: Option<Setting<String>> = Key::new("tts.voice", text(filled), None, "\"en-gb\"")
        .owned_by("tts.backend");

    /// The environment variable that holds the key of the speech service, instead of its usual one; never the key itself
    pub key_env: Option<Setting<String>> = Key::new("tts.key_env", text(variable), None, "\"MY_SPEECH_KEY\"")
        .instead_of("tts.key_file")
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(REACHES));

    /// The file that holds the key of the speech service, instead of a variable
    pub key_file: Option<Setting<PathBuf>> = Key::new("tts.key_file", text(file), None, "")
        .instead_of("tts.key_env")
        .of_secret_file()
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(REACHES));
}

impl SpeechKeys {
    /// Returns the source of the service's key. Returns `None` if it is the service's usual one.
    pub fn key(&self) -> Option<Setting<KeySource>> {
        host::settings::key_source(&self.key_env, &self.key_file)
    }
}
