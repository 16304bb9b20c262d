//! The keys of speech: the table `[tts]`.

use std::path::PathBuf;

use serde_json::Value;

use super::super::declarations::declare_keys;
use super::super::error::ConfigError;
use super::super::key::{Key, KeyAbout};
use super::super::kind::text;
use super::super::origin::{Origin, Setting};
use super::super::parser::{file, filled, url, variable};
use super::super::project::{ProjectRule, REACHES, SPENDS};
use super::super::section::Section;
use super::super::slot::Slot;

declare_keys! {
    /// The values of the keys about speech.
    SpeechValues {}

    /// The backend of tts.speak: espeak-ng, a program on this machine, or openai, a service with that interface; doctor lists those that are linked
    backend: Option<Setting<String>> = Key::new("tts.backend", text(filled), None, "\"openai\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the speech service, if it is another one than the backend's own, such as http://localhost:8880/v1
    service_url: Option<Setting<String>> = Key::new("tts.url", text(url), None, "\"http://localhost:8880/v1\"")
        .with_project(ProjectRule::never(REACHES));

    /// The model of the speech service
    model: Option<Setting<String>> = Key::new("tts.model", text(filled), None, "\"tts-1\"")
        .with_project(ProjectRule::never(SPENDS));

    /// The voice of calls that name no other
    voice: Option<Setting<String>> = Key::new("tts.voice", text(filled), None, "\"en-gb\"");

    /// The environment variable that holds the key of the speech service, instead of its usual one; never the key itself
    key_env: Option<Setting<String>> = Key::new("tts.key_env", text(variable), None, "\"MY_SPEECH_KEY\"")
        .with_project(ProjectRule::never(REACHES));

    /// The file that holds the key of the speech service, instead of a variable
    key_file: Option<Setting<PathBuf>> = Key::new("tts.key_file", text(file), None, "")
        .with_project(ProjectRule::never(REACHES));
}
