//! [`SpeechBackend`]: the link-time record of a way to speak.

mod espeak;
mod openai;

use std::future::Future;
use std::pin::Pin;

use tools::{Services, Source, ToolContext};
use tools_http::{HttpClient, ServiceKey, Url};

use crate::error::SpeechError;
use crate::format::SoundFormat;

/// The link-time record of a way to speak: a program or a service. Every program that links its crate finds it by name. Register it with
/// [`inventory::submit!`](crate::inventory::submit).
#[derive(Clone, Debug)]
pub struct SpeechBackend {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A one-line description for people.
    pub description: &'static str,
    /// The place that declares it.
    pub source: Source,
    /// The usual base URL. `None` if the backend is no service.
    pub base_url: Option<&'static str>,
    /// The header of the key. `None` if the backend takes no key. The program binds the key to it; a backend never sees the key.
    pub key: Option<ServiceKey>,
    /// The usual model. `None` if the backend has no choice of models.
    pub model: Option<&'static str>,
    /// True if the backend was run against its real program or service at least once.
    pub is_proven: bool,
    /// The formats that the backend makes, the usual one first.
    pub formats: &'static [SoundFormat],
    /// Returns what is missing on this machine, with the next step, for a host with these services.
    pub missing: fn(&Services) -> Option<String>,
    /// Speaks a text, and returns the file.
    pub speak: for<'a> fn(&'a ToolContext, &'a Utterance<'a>) -> SpeechFuture<'a>,
}

/// The future of a sound file.
pub type SpeechFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, SpeechError>> + Send + 'a>>;

/// A text to speak.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Utterance<'a> {
    /// The text, which is never an option or the name of a file.
    pub text: &'a str,
    /// The voice. `None` means that of the backend.
    pub voice: Option<&'a str>,
    /// The format of the file.
    pub format: SoundFormat,
    /// The model.
    pub model: Option<&'a str>,
    /// The address of a service.
    pub base_url: Option<&'a Url>,
    /// The client of requests.
    pub client: Option<&'a HttpClient>,
    /// The maximum size of the file, in bytes.
    pub max_bytes: usize,
}

inventory::collect!(SpeechBackend);

tools::named_submission!(SpeechBackend, "speech backend");
