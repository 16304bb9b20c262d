//! The keys of speech: the table `[tts]`.

use std::path::PathBuf;

use host::declare_keys;
use host::settings::{
    Key, ProjectRule, REACHES, SPENDS, Setting, file, non_blank, text, url, variable,
};
use tools_text::KeySource;

declare_keys! {
    /// The keys of speech.
    pub struct SpeechKeys;

    /// The backend of tts.speak: espeak-ng, a program on this machine, or openai, a service with that interface; doctor lists those that are linked
    pub backend: Option<Setting<String>> = Key::new("tts.backend", text(non_blank), None, "\"openai\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the speech service, if it is another one than the backend's own, such as http://localhost:8880/v1
    pub service_url: Option<Setting<String>> = Key::new("tts.url", text(url), None, "\"http://localhost:8880/v1\"")
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(REACHES));

    /// The model of the speech service
    pub model: Option<Setting<String>> = Key::new("tts.model", text(non_blank), None, "\"tts-1\"")
        .owned_by("tts.backend")
        .with_project(ProjectRule::never(SPENDS));

    /// The voice of calls that name no other
    pub voice: Option<Setting<String>> = Key::new("tts.voice", text(non_blank), None, "\"en-gb\"")
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
