//! The text of PDFs.

mod layout;
mod page;

use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Dictionary, LoadOptions, decode_text_string};
use tools::visible_line;

use self::layout::Layout;
use self::page::PageReader;
use crate::stop::Stop;

/// The maximum size of a document.
const MAX_BYTES: usize = 10 * 1024 * 1024;

/// The maximum size of a stream after decompression.
const MAX_STREAM_BYTES: usize = 4 * 1024 * 1024;

/// The maximum size of the text.
const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// The text of a document.
#[derive(Debug)]
pub(crate) struct PdfText {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

/// Returns the text of a document, with a mark before each page but the first. The error says why there is none.
pub(crate) fn read(bytes: &[u8], stop: Stop<'_>) -> Result<PdfText, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("PDFs of at most {MAX_BYTES} bytes are read"));
    }
    catch_unwind(AssertUnwindSafe(|| read_pages(bytes, stop)))
        .unwrap_or_else(|_| Err("it is damaged, and its reader panicked".to_owned()))
}

fn read_pages(bytes: &[u8], stop: Stop<'_>) -> Result<PdfText, String> {
    let damaged =
        |error: lopdf::Error| format!("it is damaged ({})", visible_line(&error.to_string(), 200));
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM_BYTES);
    let document =
        lopdf::Document::load_mem_with_options(bytes, options).map_err(|error| match error {
            lopdf::Error::InvalidPassword => "it needs a password".to_owned(),
            error => damaged(error),
        })?;
    let pages = document.get_pages();
    let mut reader = PageReader::new(&document, stop);
    let (mut text, mut has_text) = (String::new(), false);
    let (mut unread, mut is_cut) = (Vec::new(), false);
    for (&number, &id) in &pages {
        if text.len() >= MAX_TEXT_BYTES || reader.is_exhausted() || reader.is_over() {
            is_cut = true;
            break;
        }
        let mut layout = Layout::new(MAX_TEXT_BYTES - text.len());
        // The text before a fault is kept.
        if reader.read(id, &mut layout).is_err() {
            unread.push(number.to_string());
        }
        if number > 1 {
            text += &format!("\n\n[page {number}]\n\n");
        }
        let page = layout.finish();
        has_text |= !page.trim().is_empty();
        text += page.trim();
    }
    if !has_text {
        let reason = if reader.is_stopped() {
            "its conversion took too long"
        } else if !unread.is_empty() {
            "the content of its pages is damaged or too large"
        } else if reader.has_unknown_fonts() {
            "its fonts do not name their characters"
        } else {
            "it has no text, as one of scanned pages"
        };
        return Err(reason.to_owned());
    }
    let mut notes = vec![if pages.len() == 1 {
        "1 page".to_owned()
    } else {
        format!("{} pages", pages.len())
    }];
    if !unread.is_empty() {
        notes.push(format!(
            "pages that are damaged or too large: {}",
            visible_line(&unread.join(", "), 200)
        ));
    }
    if reader.is_stopped() {
        notes.push("the text is cut, because its conversion took too long".to_owned());
    } else if is_cut {
        notes.push("the text is cut, because the document is too large".to_owned());
    }
    if reader.has_unknown_fonts() {
        notes.push("text in fonts without known characters is missing".to_owned());
    }
    Ok(PdfText {
        title: title(&document),
        text,
        notes,
    })
}

fn title(document: &lopdf::Document) -> Option<String> {
    let information = document
        .trailer
        .get_deref(b"Info", document)
        .and_then(lopdf::Object::as_dict);
    let title = |dictionary: &Dictionary| {
        decode_text_string(dictionary.get_deref(b"Title", document).ok()?).ok()
    };
    let title = title(information.ok()?)?;
    Some(visible_line(&title, 300)).filter(|title| !title.is_empty())
}
