//! Results on standard output.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use clap::{Args, ValueEnum};
use serde::Serialize;
use terminal::stdout::{self, OutputError};
use tools::protocol::ResourceContents;
use tools::{Content, ToolResult, join};

use crate::error::Error;
use crate::notice::note;
use tools::visible::{harmless_json, visible_json};

/// Writes one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    Ok(stdout::line(&json_text(document)?)?)
}

/// Returns a JSON document as one line without control characters. On a terminal other invisible characters are escaped, too.
pub(crate) fn json_text(document: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(document).map_err(|error| OutputError(error.into()))?;
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
pub(crate) fn json_as_sent(text: &str) -> Result<(), OutputError> {
    if io::stdout().is_terminal() {
        // Line breaks between values are no part of a string.
        stdout::line(&join(text.split('\n').map(visible_json), "\n"))
    } else {
        stdout::line(text)
    }
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
        stdout::write_untrusted(&content_text(content))?;
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
        stdout::set_plain(self.plain);
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
