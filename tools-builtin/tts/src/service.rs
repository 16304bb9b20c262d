//! [`Speech`]: the service of `tts.speak`.

use tools::{Access, Target, ToolContext, is_plain_url};
use tools_http::{BoundSecret, HttpClient, HttpError, Url, net_host};

use crate::backend::{SpeechBackend, Utterance};
use crate::error::SpeechError;
use crate::format::SoundFormat;

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
        let text = base_url.or(backend.base_url);
        let base_url = text.and_then(|text| Url::parse(text).ok());
        let base_url = base_url.filter(|url| is_plain_url(url.as_str()));
        if text.is_some() && base_url.is_none() {
            let reason = "it is not http(s)://host/path, without a user, a query or a fragment";
            return Err(SpeechError::BaseUrl {
                backend: backend.name,
                reason: reason.to_owned(),
            });
        }
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
            let formats: Vec<_> = formats.iter().map(|format| format!(".{format}")).collect();
            SpeechError::Format {
                backend: self.backend.name,
                formats: formats.join(", "),
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
        let utterance = Utterance {
            text,
            voice: voice.or(self.voice.as_deref()),
            format,
            model: self.model.as_deref(),
            base_url: self.base_url.as_ref(),
            client: self.client.as_ref().or(of_context.as_deref()),
            max_bytes: Self::MAX_BYTES,
        };
        if self.base_url.is_some() {
            // The sounds and the errors of a service are text from outside; those of a program on this machine are not.
            cx.record_exposure();
        }
        let bytes = (self.backend.speak)(cx, &utterance).await?;
        let checked = match format {
            SoundFormat::Wav => with_lengths(bytes),
            _ if bytes.is_empty() => Err("it is empty"),
            _ => Ok(bytes),
        };
        checked.map_err(|reason| SpeechError::Sound {
            backend: self.backend.name,
            reason: reason.to_owned(),
        })
    }
}

/// The bytes of a header of RIFF, and of a chunk.
const RIFF: usize = 12;
const CHUNK: usize = 8;

/// Returns the file with the real lengths of the file and of its samples.
///
/// # Errors
/// Returns the reason if the file is no WAV file, or has no samples.
fn with_lengths(mut bytes: Vec<u8>) -> Result<Vec<u8>, &'static str> {
    if bytes.is_empty() {
        return Err("it is empty");
    }
    if bytes.len() < RIFF || &bytes[..4] != b"RIFF" || &bytes[8..RIFF] != b"WAVE" {
        return Err("it is no WAV file");
    }
    let mut at = RIFF;
    let mut has_format = false;
    while let Some(header) = bytes.get(at..at + CHUNK) {
        let name = &header[..4];
        let declared = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        let left = bytes.len() - at - CHUNK;
        let declared = declared as usize;
        if name == b"data" {
            if !has_format {
                return Err("it has samples before their format");
            }
            // A dummy is 0 or more than there is.
            let length = if declared == 0 {
                left
            } else {
                declared.min(left)
            };
            if length == 0 {
                return Err("it has no samples");
            }
            let end = at + CHUNK + length;
            bytes[at + 4..at + CHUNK].copy_from_slice(&length_field(length)?);
            if length % 2 == 1 && end == bytes.len() {
                bytes.push(0);
            }
            let whole = bytes.len() - CHUNK;
            bytes[4..CHUNK].copy_from_slice(&length_field(whole)?);
            return Ok(bytes);
        }
        has_format |= name == b"fmt ";
        // A chunk has an even length.
        at = at
            .saturating_add(CHUNK)
            .saturating_add(declared)
            .saturating_add(declared % 2);
    }
    Err("it has no samples")
}

fn length_field(length: usize) -> Result<[u8; 4], &'static str> {
    u32::try_from(length)
        .map(u32::to_le_bytes)
        .map_err(|_| "it is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a WAV file of 16-bit samples with these lengths in the header.
    fn file(riff: u32, data: u32, samples: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF".to_vec();
        bytes.extend(riff.to_le_bytes());
        bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x22\x56\0\0\x44\xac\0\0\x02\0\x10\0data");
        bytes.extend(data.to_le_bytes());
        bytes.extend(samples);
        bytes
    }

    #[test]
    fn dummies_become_the_real_lengths() {
        let expected = file(40, 4, b"abcd");
        for (riff, data) in [
            (0x7fff_f024, 0x7fff_f000),
            (u32::MAX, u32::MAX),
            (0, 0),
            (40, 4),
            (3, 5),
        ] {
            assert_eq!(
                with_lengths(file(riff, data, b"abcd")).as_ref(),
                Ok(&expected),
                "{riff} {data}"
            );
        }
    }

    #[test]
    fn other_chunks_stay() {
        let mut with_list = file(0, 4, b"abcd");
        with_list.extend(b"LIST\x02\0\0\0xy");
        let corrected = with_lengths(with_list.clone()).unwrap();
        assert_eq!(
            (&corrected[40..44], corrected.len()),
            (&4_u32.to_le_bytes()[..], with_list.len())
        );
        assert_eq!(corrected[4..8], 50_u32.to_le_bytes());
    }

    #[test]
    fn an_odd_length_is_padded() {
        let corrected = with_lengths(file(0, 0, b"abc")).unwrap();
        assert_eq!(
            (corrected[40..44].to_vec(), corrected.len() % 2),
            (3_u32.to_le_bytes().to_vec(), 0)
        );
        assert_eq!(corrected[4..8], (corrected.len() as u32 - 8).to_le_bytes());
    }

    #[test]
    fn another_file_is_refused() {
        for bytes in [
            &b""[..],
            b"RIFF",
            b"<html>not a sound</html>",
            b"RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd",
        ] {
            assert!(with_lengths(bytes.to_vec()).is_err(), "{bytes:?}");
        }
        assert_eq!(with_lengths(file(0, 0, b"")), Err("it has no samples"));
        let huge_chunk = [&file(0, 0, b"")[..12], b"junk\xff\xff\xff\xff".as_slice()].concat();
        assert_eq!(with_lengths(huge_chunk), Err("it has no samples"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            let _ = with_lengths(bytes.clone());
            let _ = with_lengths([&b"RIFF\0\0\0\0WAVE"[..], &bytes].concat());
        }
    }
}
