//! Results on standard output.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tools::protocol::ResourceContents;
use tools::{Content, ToolResult, join};

use crate::error::Error;
use crate::markdown;
use crate::notice::note;
use host::fit;
use tools::visible::{harmless, harmless_json, visible_json};

/// Writes text composed by this program. Its styles are kept on terminals only.
pub(crate) fn page(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

/// Writes one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    line(&json_text(document)?)
}

/// Returns a JSON document as one line without control characters. On a terminal other invisible characters are escaped, too.
pub(crate) fn json_text(document: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(document).map_err(|error| Error::Output(error.into()))?;
    Ok(escaped_json(&text).into_owned())
}

/// Returns a JSON text without control characters. On a terminal other invisible characters are escaped, too.
pub(crate) fn escaped_json(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() {
        visible_json(text)
    } else {
        harmless_json(text)
    }
}

/// Writes a JSON text byte by byte, and ends its line. On a terminal its invisible characters are escaped.
pub(crate) fn json_as_sent(text: &str) -> Result<(), Error> {
    if io::stdout().is_terminal() {
        // Line breaks between values are no part of a string.
        line(&join(text.split('\n').map(visible_json), "\n"))
    } else {
        line(text)
    }
}

/// Writes untrusted text and ends its last line. On a terminal the text is made harmless.
pub(crate) fn write_untrusted(text: &str) -> Result<(), Error> {
    line(&untrusted(text))
}

/// Writes untrusted text like [`write_untrusted`], but without ending its last line.
pub(crate) fn untrusted_piece(text: &str) -> Result<(), Error> {
    write(&[&untrusted(text)])
}

/// Returns untrusted text without the characters that would command the terminal.
fn untrusted(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() {
        harmless(text)
    } else {
        text.into()
    }
}

/// Writes the whole text of a model and ends its last line. On a terminal it is rendered.
pub(crate) fn answer(text: &str) -> Result<(), Error> {
    if !is_rendered() {
        return write_untrusted(text);
    }
    line(&markdown::lines(text, width()).join("\n"))
}

/// Writes the content of a result: texts, the texts of resources, and a line for each other piece.
pub(crate) fn result(result: &ToolResult) -> Result<(), Error> {
    if let ([], Some(value)) = (&result.content[..], &result.structured) {
        return json(value);
    }
    for content in &result.content {
        if let Content::Resource {
            resource: ResourceContents::Text { uri, .. },
        } = content
        {
            // On standard error, so that standard output has the text alone.
            note(&format!("the resource {uri}:"));
        }
        write_untrusted(&content_text(content))?;
    }
    Ok(())
}

/// Returns the content of a result as [`result`] writes it.
pub(crate) fn result_text(result: &ToolResult) -> Result<String, Error> {
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => json_text(value),
        (content, _) => Ok(join(content.iter().map(content_text), "\n")),
    }
}

/// Returns a text, the text of a resource, or the line for another piece.
fn content_text(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Text { text }
        | Content::Resource {
            resource: ResourceContents::Text { text, .. },
        } => text.into(),
        other => describe(other).replace(['\n', '\r'], " ").into(),
    }
}

/// Returns the line for content that is no text.
fn describe(content: &Content) -> String {
    match content {
        Content::Image { data, mime_type } => format!("[an image ({mime_type}, {})]", size(data)),
        Content::Audio { data, mime_type } => format!("[audio ({mime_type}, {})]", size(data)),
        Content::ResourceLink {
            uri,
            name,
            description,
            ..
        } => {
            let name = Some(format!(" {name}")).filter(|_| name != uri);
            let name = name.unwrap_or_default();
            let description = description.as_ref().map(|text| format!(": {text}"));
            format!("[a link{name} to {uri}{}]", description.unwrap_or_default())
        }
        Content::Resource {
            resource:
                ResourceContents::Blob {
                    uri,
                    mime_type,
                    blob,
                },
        } => {
            let kind = mime_type.as_deref().unwrap_or("of an unknown type");
            format!("[the resource {uri} ({kind}, {})]", size(blob))
        }
        other => other.describe(),
    }
}

/// Returns the size of base64 in words.
fn size(data: &str) -> String {
    format!(
        "{} bytes; --output-file saves it",
        data.bytes().filter(|byte| is_digit(*byte)).count() * 3 / 4
    )
}

/// Returns true for a digit of base64, unlike line breaks and padding.
pub(crate) fn is_digit(byte: u8) -> bool {
    byte != b'=' && !byte.is_ascii_whitespace()
}

/// Returns the width of standard output in columns. Without a terminal it is `COLUMNS`, or else 80.
pub(crate) fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or_else(fit::default_columns, |(width, _)| usize::from(width.0))
}

/// Writes a harmless text and ends its last line.
pub(crate) fn line(text: &str) -> Result<(), Error> {
    write(&[text, if text.ends_with('\n') { "" } else { "\n" }])
}

/// Writes text with control sequences.
pub(crate) fn raw(text: &str) -> Result<(), Error> {
    write(&[text])
}

/// Returns true if the text of a model is rendered: if standard output is a terminal that takes more than plain text, unless `--plain`.
pub(crate) fn is_rendered() -> bool {
    !IS_PLAIN.load(Ordering::Relaxed)
        && io::stdout().is_terminal()
        && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// True if the text of a model is written as it is.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

fn write(parts: &[&str]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let mut parts = parts.iter();
    let written = parts.try_for_each(|part| out.write_all(part.as_bytes()));
    written.and_then(|()| out.flush()).map_err(Error::Output)
}

/// The option of commands that run a session.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputOption {
    /// The form of standard output
    #[arg(long = "output", value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,

    /// Show the Markdown of the model as it is, also on a terminal
    #[arg(long)]
    plain: bool,
}

impl OutputOption {
    /// Sets whether the text of a model is rendered.
    pub(crate) fn apply(self) {
        IS_PLAIN.store(self.plain, Ordering::Relaxed);
    }
}

/// The form of a run's standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer; calls, progress and a summary go to standard error
    #[default]
    Text,
    /// The outcome as one JSON document, at the end
    Json,
    /// Session, events and outcome as JSON, one document per line
    StreamJson,
}
