//! [`SpeechError`]: the errors of speech.

use std::time::Duration;

use tools::{ToolError, ToolErrorKind, quote_after_colon};
use tools_http::HttpError;

/// The error of speech or of its configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpeechError {
    /// The program of the backend is not installed.
    #[error("the program {program} is not installed; ask the user to install it: {install}")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// The commands that install it.
        install: &'static str,
    },
    /// The program failed.
    #[error("{program} failed ({how}){}{}", quote_after_colon(message), next(*advice))]
    Program {
        /// The program.
        program: &'static str,
        /// The end of the program.
        how: String,
        /// The message of the program, cleaned and cut.
        message: String,
        /// The next step, if the call named a voice.
        advice: Option<&'static str>,
    },
    /// The backend took too long.
    #[error("{backend} took longer than {} s; speak a shorter text", limit.as_secs())]
    Time {
        /// The backend.
        backend: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// The sound is too large.
    #[error("the sound has more than {most} bytes; {advice}")]
    Large {
        /// The limit.
        most: usize,
        /// The next step.
        advice: &'static str,
    },
    /// The text has nothing to speak.
    #[error("the text has no letter or digit; write words")]
    Blank,
    /// The voice cannot be used.
    #[error("{voice:?} is no name of a voice of {backend}; {advice}")]
    Voice {
        /// The backend.
        backend: &'static str,
        /// The voice, cut and with visible characters.
        voice: String,
        /// The next step.
        advice: &'static str,
    },
    /// The backend does not make sounds of this format.
    #[error("{backend} makes {formats}; name the file with one of these extensions")]
    Format {
        /// The backend.
        backend: &'static str,
        /// The extensions.
        formats: String,
    },
    /// The sound cannot be read.
    #[error("{backend} returned no usable sound: {reason}; tell the user")]
    Sound {
        /// The backend.
        backend: &'static str,
        /// The fault.
        reason: String,
    },
    /// The backend is a service, and its address is missing or cannot be used.
    #[error(
        "the speech backend {backend} cannot use its address: {reason}; write for example https://api.openai.com/v1"
    )]
    BaseUrl {
        /// The backend.
        backend: &'static str,
        /// The fault.
        reason: String,
    },
    /// The backend has no such option.
    #[error(
        "the speech backend {backend} has no {option}; remove the setting, or choose another backend"
    )]
    Option {
        /// The backend.
        backend: &'static str,
        /// The option.
        option: &'static str,
    },
    /// The service answered with an error status.
    #[error(
        "{host} refused to speak with status {status}{}; {advice}",
        quote_after_colon(message)
    )]
    Status {
        /// The host of the service.
        host: String,
        /// The status.
        status: u16,
        /// The message of the service, cleaned and cut.
        message: String,
        /// The next step.
        advice: &'static str,
        /// The time until a retry that the service asks for.
        retry_after: Option<Duration>,
    },
    /// The request failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// A service of the host is missing, or the walls of the program cannot be made.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl From<SpeechError> for ToolError {
    fn from(error: SpeechError) -> Self {
        match error {
            SpeechError::Http(error) => error.into(),
            SpeechError::Tool(error) => error,
            SpeechError::NotInstalled { .. } => ToolErrorKind::unavailable(error).into(),
            SpeechError::Status {
                status: 408 | 429 | 500..=599,
                retry_after,
                ..
            } => {
                let transient = Self::transient(error.to_string());
                retry_after
                    .into_iter()
                    .fold(transient, Self::with_retry_after)
            }
            error => Self::execution_failed(error.to_string()),
        }
    }
}

/// Returns the next step after a semicolon, or nothing without one.
fn next(advice: Option<&str>) -> String {
    advice
        .map(|advice| format!("; for the voice, {advice}"))
        .unwrap_or_default()
}
