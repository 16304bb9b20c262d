//! [`SoundFormat`]: the format of a sound file.

use std::fmt;

/// The format of a sound file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SoundFormat {
    /// WAV, not compressed.
    Wav,
    /// MP3.
    Mp3,
    /// FLAC.
    Flac,
    /// Opus in Ogg.
    Opus,
}

impl SoundFormat {
    const ALL: [Self; 4] = [Self::Wav, Self::Mp3, Self::Flac, Self::Opus];

    /// Returns the format of a path by its extension.
    pub fn from_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        let extension = if extension.eq_ignore_ascii_case("ogg") {
            "opus"
        } else {
            extension
        };
        Self::ALL
            .into_iter()
            .find(|format| format.name().eq_ignore_ascii_case(extension))
    }

    /// Returns the name, which is the usual extension too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wav => "wav",
            Self::Mp3 => "mp3",
            Self::Flac => "flac",
            Self::Opus => "opus",
        }
    }

    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Wav => "audio/wav",
            Self::Mp3 => "audio/mpeg",
            Self::Flac => "audio/flac",
            Self::Opus => "audio/ogg",
        }
    }
}

impl fmt::Display for SoundFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
