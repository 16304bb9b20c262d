//! Results on standard output.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use tools::{Content, ToolResult};

use crate::error::Error;
use crate::fit;
use crate::notice::note;
use crate::visible::{harmless, harmless_json, visible_json};

/// Writes text composed by this program. Its styles are kept on terminals only.
pub(crate) fn page(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Writes one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    line(&json_text(document)?)
}

/// Returns a JSON document as one line without control characters. On a terminal other invisible characters are escaped, too.
pub(crate) fn json_text(document: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(document).map_err(|error| Error::Output(error.into()))?;
    let is_terminal = io::stdout().is_terminal();
    Ok(if is_terminal { visible_json(&text) } else { harmless_json(&text) }.into_owned())
}

/// Writes a JSON text byte by byte, and ends its line. On a terminal its invisible characters are escaped.
pub(crate) fn json_as_sent(text: &str) -> Result<(), Error> {
    // Line breaks between values are no part of a string.
    let shown = |text: &str| text.split('\n').map(visible_json).collect::<Vec<_>>().join("\n");
    if io::stdout().is_terminal() { line(&shown(text)) } else { line(text) }
}

/// Writes untrusted text and ends its last line. On a terminal the text is made harmless.
pub(crate) fn untrusted(text: &str) -> Result<(), Error> {
    if io::stdout().is_terminal() { line(&harmless(text)) } else { line(text) }
}

/// Writes untrusted text like [`untrusted`], but without ending its last line.
pub(crate) fn untrusted_piece(text: &str) -> Result<(), Error> {
    let text = if io::stdout().is_terminal() { harmless(text) } else { text.into() };
    write(&[&text])
}

/// Writes the text of a result, and notes other content on standard error.
pub(crate) fn result(result: &ToolResult) -> Result<(), Error> {
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => json(value)?,
        _ => {
            for content in &result.content {
                match content.as_text() {
                    Some(text) => untrusted(text)?,
                    None => note(&format!("the result contains {}, which only --json prints", kind(content))),
                }
            }
        }
    }
    Ok(())
}

fn kind(content: &Content) -> String {
    match content {
        Content::Image { mime_type, .. } => format!("an image ({mime_type})"),
        Content::Audio { mime_type, .. } => format!("audio ({mime_type})"),
        Content::ResourceLink { uri, .. } => format!("a link to {uri}"),
        _ => "binary content".to_owned(),
    }
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

fn write(parts: &[&str]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = parts.iter().try_for_each(|part| out.write_all(part.as_bytes()));
    written.and_then(|()| out.flush()).map_err(Error::Output)
}
