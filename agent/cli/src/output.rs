//! Results on standard output.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use serde::Serialize;
use tools::protocol::ResourceContents;
use tools::{Content, ToolResult};

use crate::error::Error;
use crate::fit;
use crate::notice::note;
use crate::own_path;
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

/// Writes the content of a result: texts, the texts of resources, and a line for each other piece.
pub(crate) fn result(result: &ToolResult) -> Result<(), Error> {
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => json(value)?,
        _ => {
            for content in &result.content {
                match content {
                    Content::Text { text } => untrusted(text)?,
                    Content::Resource { resource: ResourceContents::Text { uri, text, .. } } => {
                        note(&format!("the resource {uri}:"));
                        untrusted(text)?;
                    }
                    other => untrusted(&described(other))?,
                }
            }
        }
    }
    Ok(())
}

/// Returns the line for content that is no text.
fn described(content: &Content) -> String {
    match content {
        Content::Image { data, mime_type } => format!("[an image ({mime_type}, {})]", size(data)),
        Content::Audio { data, mime_type } => format!("[audio ({mime_type}, {})]", size(data)),
        Content::ResourceLink { uri, name, description, .. } => {
            let name = if name == uri { String::new() } else { format!(" {name}") };
            let description = description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("[a link{name} to {uri}{description}]")
        }
        Content::Resource { resource: ResourceContents::Blob { uri, mime_type, blob } } => {
            let kind = mime_type.as_deref().unwrap_or("of an unknown type");
            format!("[the resource {uri} ({kind}, {})]", size(blob))
        }
        other => other.described(),
    }
}

/// Returns the size of base64 in words.
fn size(data: &str) -> String {
    format!("{} bytes; --output-file saves it", data.trim_end_matches('=').len() * 3 / 4)
}

/// Saves the binary content of a result: the first piece in the file, and further ones beside it with a number. Without binary content, the
/// file gets the text.
pub(crate) fn save(result: &ToolResult, file: &Path) -> Result<(), Error> {
    let failed = |path: &Path, source| Error::OutputFile { path: path.to_owned(), source };
    let pieces = result.content.iter().filter_map(|content| match content {
        Content::Image { data, .. }
        | Content::Audio { data, .. }
        | Content::Resource { resource: ResourceContents::Blob { blob: data, .. } } => Some(data),
        _ => None,
    });
    let mut count = 0;
    for data in pieces {
        count += 1;
        let path = if count == 1 { file.to_owned() } else { numbered(file, count) };
        let compact: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(&compact).map_err(|error| failed(&path, io::Error::other(error)))?;
        own_path::write(&path, bytes).map_err(|source| failed(&path, source))?;
        note(&format!("saved {}", path.display()));
    }
    if count == 0 {
        let texts = result.content.iter().filter_map(|content| match content {
            Content::Text { text } | Content::Resource { resource: ResourceContents::Text { text, .. } } => {
                Some(text.as_str())
            }
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        own_path::write(file, text).map_err(|source| failed(file, source))?;
        note(&format!("saved {}", file.display()));
    }
    Ok(())
}

/// Returns the path of a further piece: `picture-2.png` beside `picture.png`.
fn numbered(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default();
    file.with_file_name(format!("{stem}-{number}{extension}"))
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
