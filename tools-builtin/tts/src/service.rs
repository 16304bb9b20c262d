//! [`Speech`]: the service of `tts.speak`.

use tools::{Access, Target, ToolContext, is_plain_url};
use tools_http::{BoundSecret, HttpClient, HttpError, Url, net_host};

use crate::wav;
use crate::{SoundFormat, SpeechBackend, SpeechError, Utterance};

/// The way to speak that the user chose: a backend with its options. A host puts it into the services of a context.
///
/// ```
/// use tools::Host;
/// use tools_tts::Speech;
///
/// let speech = Speech::new(tools_tts::get("espeak-ng")?, None)?.with_voice("de");
/// let cx = Host::new().with_service(speech);
/// # let _ = cx;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Speech {
    backend: &'static SpeechBackend,
    base_url: Option<Url>,
    model: Option<String>,
    voice: Option<String>,
    client: Option<HttpClient>,
}

impl Speech {
    /// The maximum length of a text, in characters. OpenAI's service takes as many.
    pub const MAX_TEXT: usize = 4096;

    /// The maximum size of a sound file, in bytes: about ten minutes of WAV.
    pub const MAX_BYTES: usize = 32 * 1024 * 1024;

    /// Creates the service of a backend, at its usual address or another one.
    ///
    /// # Errors
    /// - Returns [`SpeechError::Option`] if the backend is no service, and an address is given.
    /// - Returns [`SpeechError::BaseUrl`] if the address is not an `http` or `https` URL without credentials, query and fragment.
    pub fn new(
        backend: &'static SpeechBackend,
        base_url: Option<&str>,
    ) -> Result<Self, SpeechError> {
        if base_url.is_some() && backend.base_url.is_none() {
            return Err(SpeechError::Option {
                backend: backend.name,
                option: "address",
            });
        }
        let parse = |text: &str| {
            let url = Url::parse(text).ok();
            url.filter(|url| is_plain_url(url.as_str()))
                .ok_or_else(|| SpeechError::BaseUrl {
                    backend: backend.name,
                    reason: "it is not http(s)://host/path, without a user, a query or a fragment"
                        .to_owned(),
                })
        };
        let base_url = base_url.or(backend.base_url).map(parse).transpose()?;
        Ok(Self {
            backend,
            base_url,
            model: backend.model.map(str::to_owned),
            voice: None,
            client: None,
        })
    }

    /// Sets the model.
    ///
    /// # Errors
    /// Returns [`SpeechError::Option`] if the backend has no choice of models.
    pub fn with_model(self, model: impl Into<String>) -> Result<Self, SpeechError> {
        match self.backend.model {
            Some(_) => Ok(Self {
                model: Some(model.into()),
                ..self
            }),
            None => Err(SpeechError::Option {
                backend: self.backend.name,
                option: "choice of models",
            }),
        }
    }

    /// Sets the voice of calls that want no other.
    #[must_use]
    pub fn with_voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = Some(voice.into());
        self
    }

    /// Sets the client of requests, in place of the context's. Its private hosts and secrets are then for speech alone.
    #[must_use]
    pub fn with_client(mut self, client: HttpClient) -> Self {
        self.client = Some(client);
        self
    }

    /// Returns the backend.
    pub fn backend(&self) -> &'static SpeechBackend {
        self.backend
    }

    /// Returns the address of a service.
    pub fn base_url(&self) -> Option<&Url> {
        self.base_url.as_ref()
    }

    /// Returns the targets of every call: `speech:read:text`, and the host of a service, which is written to.
    pub fn targets(&self) -> Vec<Target> {
        let own = Target::new(Access::Read, "speech", "text").ok();
        let host = self.base_url.as_ref().map(net_host);
        let net = host.and_then(|host| Target::new(Access::Write, "net", host).ok());
        own.into_iter().chain(net).collect()
    }

    /// Binds a key of the user to the origin of the service and its header, for [`HttpOptions`](tools_http::HttpOptions). Returns
    /// `None` if the backend takes no key.
    ///
    /// # Errors
    /// Returns the errors of [`BoundSecret::new`].
    pub fn bind_key(&self, key: &str) -> Result<Option<BoundSecret>, HttpError> {
        let name = format!("{}-speech-key", self.backend.name);
        let bound = self.backend.key.zip(self.base_url.as_ref());
        bound
            .map(|(place, url)| place.bind(&name, url, key))
            .transpose()
    }

    /// Returns the format of a file, or the usual one without a path.
    pub(crate) fn format(&self, path: Option<&str>) -> Result<SoundFormat, SpeechError> {
        let formats = self.backend.formats;
        let named = match path {
            None => formats.first().copied(),
            Some(path) => SoundFormat::from_path(path).filter(|format| formats.contains(format)),
        };
        named.ok_or_else(|| {
            let formats = formats
                .iter()
                .map(|format| format!(".{format}"))
                .collect::<Vec<_>>()
                .join(", ");
            SpeechError::Format {
                backend: self.backend.name,
                formats,
            }
        })
    }

    /// Speaks a text, and returns the file.
    pub(crate) async fn speak(
        &self,
        cx: &ToolContext,
        text: &str,
        voice: Option<&str>,
        format: SoundFormat,
    ) -> Result<Vec<u8>, SpeechError> {
        if !text.chars().any(char::is_alphanumeric) {
            return Err(SpeechError::Blank);
        }
        let of_context = cx.service::<HttpClient>();
        let mut utterance = Utterance::new(text, format, Self::MAX_BYTES);
        utterance.voice = voice.or(self.voice.as_deref());
        utterance.model = self.model.as_deref();
        utterance.base_url = self.base_url.as_ref();
        utterance.client = self.client.as_ref().or(of_context.as_deref());
        if self.base_url.is_some() {
            // The sounds and the errors of a service are text from outside; those of a program on this machine are not.
            cx.record_exposure();
        }
        let bytes = (self.backend.speak)(cx, &utterance).await?;
        let unusable = |reason: &str| SpeechError::Sound {
            backend: self.backend.name,
            reason: reason.to_owned(),
        };
        match format {
            SoundFormat::Wav => wav::with_lengths(bytes).map_err(unusable),
            _ if bytes.is_empty() => Err(unusable("it is empty")),
            _ => Ok(bytes),
        }
    }
}
