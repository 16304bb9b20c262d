//! espeak-ng: a program on this machine, without a key and without a network.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;
use tools::{Grant, Host, Services, ToolContext, ToolError, ToolErrorKind, source, visible_line};
use tools_exec::supervise::{self, Collect, Exit};
use tools_exec::{Prepared, Sandbox};
use tools_fs::Workspace;

use super::{SpeechBackend, SpeechFuture, Utterance};
use crate::error::SpeechError;
use crate::format::SoundFormat;

const PROGRAM: &str = "espeak-ng";

const INSTALL: &str = "apt-get install espeak-ng (Debian, Ubuntu), dnf install espeak-ng (Fedora), or pacman -S espeak-ng (Arch)";

const VOICES: &str =
    "write a language such as en-gb or de, with a variant such as en-us+f3, or omit it";

/// The time limit of the program. It needs about a second for a long text.
const LIMIT: Duration = Duration::from_secs(60);

/// The bytes of messages that are kept.
const KEPT: usize = 2_000;

inventory::submit! {
    SpeechBackend {
        name: "espeak-ng",
        description: "a small program on this machine, with many languages",
        source: source!(),
        base_url: None,
        key: None,
        model: None,
        is_proven: true,
        formats: &[SoundFormat::Wav],
        missing,
        speak,
    }
}

fn missing(services: &Services) -> Option<String> {
    let Some((_, workspace)) = services.get::<Sandbox>().zip(services.get::<Workspace>()) else {
        return Some("this program has no sandbox and workspace for programs".to_owned());
    };
    check_installed(&workspace)
        .err()
        .map(|error| error.to_string())
}

fn check_installed(workspace: &Workspace) -> Result<(), SpeechError> {
    match Sandbox::default().find_program(workspace, PROGRAM) {
        Some(_) => Ok(()),
        None => Err(SpeechError::NotInstalled {
            program: PROGRAM,
            install: INSTALL,
        }),
    }
}

fn speak<'a>(cx: &'a ToolContext, utterance: &'a Utterance<'a>) -> SpeechFuture<'a> {
    Box::pin(run(cx, utterance))
}

/// Runs the program behind walls: it reads the files of the system, an empty folder and the text on its standard input.
async fn run(cx: &ToolContext, utterance: &Utterance<'_>) -> Result<Vec<u8>, SpeechError> {
    // By standard input, where no text is an option or the name of a file.
    let mut args = vec!["--stdin".to_owned(), "--stdout".to_owned()];
    if let Some(voice) = utterance.voice {
        if !is_voice(voice) {
            return Err(SpeechError::Voice {
                backend: PROGRAM,
                voice: visible_line(voice, 64),
                advice: VOICES,
            });
        }
        args.extend(["-v".to_owned(), voice.to_owned()]);
    }
    let sandbox = cx.need::<Sandbox>()?;
    let workspace = cx.need::<Workspace>()?;
    check_installed(&workspace)?;
    let empty = tempfile::tempdir().map_err(|error| fail(&error))?;
    let workspace =
        Workspace::open(empty.path()).and_then(|empty| empty.with_hidden(workspace.hidden_paths()));
    let mut services = Services::new();
    services.insert(workspace.map_err(|error| fail(&error))?);
    // The first look at the layers blocks. Nothing else is the session's: the program needs none of its toolchains, and walls always.
    let layers = tokio::task::spawn_blocking(move || sandbox.layers().clone()).await;
    services.insert(Sandbox {
        layers: layers.map_err(|error| fail(&error))?.into(),
        ..Sandbox::default()
    });
    let grant = Grant::parse(["fs:read:**"]).map_err(|error| fail(&error))?;
    let walls = Host::new()
        .with_services(services)
        .with_grant(grant)
        .with_cancellation(cx.cancellation().clone());
    let prepared = Prepared::new(&walls, PROGRAM, &args, &[], ".").await?;

    let most = utterance.max_bytes;
    let (sound, full) = Output::stopping(most);
    let running = supervise::start(prepared.launch(), sound, Output::dropping(KEPT));
    let running = running.await.map_err(|error| fail(&error))?;
    running.feed(plain(utterance.text).into_bytes());
    let ended = tokio::select! {
        ended = tokio::time::timeout(LIMIT, running.wait()) => ended,
        () = full.notified() => {
            running.stop();
            return Err(SpeechError::Large { most, advice: "speak a shorter text" });
        }
        () = cx.cancellation().cancelled() => {
            running.stop();
            return Err(ToolError::from(ToolErrorKind::Cancelled).into());
        }
    };
    let Ok(ended) = ended else {
        running.stop();
        return Err(SpeechError::Time {
            backend: PROGRAM,
            limit: LIMIT,
        });
    };
    let ended = ended.map_err(|error| fail(&error))?;
    let message = running
        .with_stderr(|messages| visible_line(&String::from_utf8_lossy(&messages.bytes), 300));
    let advice = utterance.voice.map(|_| VOICES);
    let ended_with = |how: String| SpeechError::Program {
        program: PROGRAM,
        how,
        message: message.clone(),
        advice,
    };
    match ended.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => return Err(ended_with(format!("exit code {code}"))),
        exit => return Err(ended_with(format!("{exit:?}"))),
    }
    let bytes = running.with_stdout(|sound| std::mem::take(&mut sound.bytes));
    // The end of the program can be known before the limit is.
    if bytes.len() > most {
        return Err(SpeechError::Large {
            most,
            advice: "speak a shorter text",
        });
    }
    // An unknown voice is a message and no sound.
    if bytes.is_empty() && !message.is_empty() {
        return Err(ended_with("no sound".to_owned()));
    }
    Ok(bytes)
}

/// Returns true for the name of a voice. Another text could be an option or a path.
fn is_voice(voice: &str) -> bool {
    voice.starts_with(|c: char| c.is_ascii_alphanumeric())
        && voice.len() <= 64
        && voice
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+'))
}

fn fail(error: &impl std::fmt::Display) -> SpeechError {
    ToolError::execution_failed(error.to_string()).into()
}

/// Returns a text that the program speaks as it is: it takes `[[` for the beginning of phonemes, also with a character between that it
/// skips, and control characters for commands or for the end. The sounds of `[` and `(` are the same pause.
fn plain(text: &str) -> String {
    let spoken = text.chars().map(|c| match c {
        '[' => '(',
        '\n' | '\t' => c,
        c if c.is_control() => ' ',
        c => c,
    });
    spoken.collect()
}

/// Keeps the first bytes of a stream.
struct Output {
    bytes: Vec<u8>,
    most: usize,
    /// Notified when the limit is exceeded. The program then waits until it is stopped. `None` if other bytes are dropped.
    full: Option<Arc<Notify>>,
}

impl Output {
    fn dropping(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
            full: None,
        }
    }

    fn stopping(most: usize) -> (Self, Arc<Notify>) {
        let full = Arc::new(Notify::new());
        let output = Self {
            full: Some(full.clone()),
            ..Self::dropping(most)
        };
        (output, full)
    }
}

impl Collect for Output {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        // The drop of the program wakes its reader.
        if self.full.is_some() && self.bytes.len() > self.most {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        // One more byte than are kept tells that there are more.
        let room = (self.most + 1)
            .saturating_sub(self.bytes.len())
            .min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        if let Some(full) = self.full.as_ref().filter(|_| self.bytes.len() > self.most) {
            full.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_phonemes_or_commands() {
        assert_eq!(
            plain("a [[w'Vn]] [\u{ad}[x]] b[0]\u{1}50S\u{1b}\0c\u{9b}\n\td"),
            "a ((w'Vn]] (\u{ad}(x]] b(0] 50S  c \n\td"
        );
        assert_eq!(plain("Grüße, 世界 🕴 \"x\" <b>"), "Grüße, 世界 🕴 \"x\" <b>");
    }
}
