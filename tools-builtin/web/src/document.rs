//! [`Document`]: a document of the web in a form that a model reads.

use serde::{Deserialize, Serialize};
use tools::JsonSchema;
use tools::image::MAX_IMAGE_BYTES;
use tools_text::decode_document;
use url::Url;

use crate::feed::{self, Feed};
use crate::html::Stop;
use crate::markdown::Notation;
use crate::media::Media;
use crate::{html, json, xml};

/// The note on a page that only leads on.
pub(crate) const LEADS_ON: &str =
    "the page only leads on to the address at its end; call this tool with it";

/// A document as a server sent it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The media type without parameters, such as `text/html`.
    pub media_type: Option<&'a str>,
    /// The charset that the server names.
    pub charset: Option<&'a str>,
    /// The address, against which those in the document are resolved.
    pub url: &'a Url,
}

/// The form of a document's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(crate = "tools::schemars", inline)]
pub enum Format {
    /// Markdown, with absolute links.
    #[default]
    Markdown,
    /// Text without marks and links.
    Text,
    /// The text as the server sent it.
    Raw,
}

/// A document in a form that a model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Document {
    /// Text.
    Text {
        /// The title, if it has one.
        title: Option<String>,
        /// The text.
        text: String,
        /// Facts about the conversion, such as the parts that were left out.
        notes: Vec<String>,
    },
    /// An image that models accept.
    Image {
        /// The media type, by the bytes.
        mime_type: &'static str,
    },
}

/// The error of a document that no model reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The document is binary.
    #[error("it is {media_type} of {size} bytes, which has no text; fetch a page about it instead")]
    Binary {
        /// The media type.
        media_type: String,
        /// The size in bytes.
        size: usize,
    },
    /// The image is too large.
    #[error(
        "it is an image of {size} bytes, and at most {MAX_IMAGE_BYTES} bytes can be read; fetch a smaller version of it"
    )]
    Image {
        /// The size in bytes.
        size: usize,
    },
    /// The document is a PDF.
    #[error(
        "it is a PDF of {size} bytes, and PDFs are not read; fetch a version of it in HTML or plain text, or ask the user to convert it"
    )]
    Pdf {
        /// The size in bytes.
        size: usize,
    },
}

impl Document {
    /// Converts a document. Unless `whole`, parts of a page beside its content are left out, such as navigation.
    ///
    /// Time and memory are linear in the length, and nesting does not matter.
    ///
    /// # Errors
    /// Returns [`DocumentError`] if the document has no text.
    ///
    /// ```
    /// use tools_web::{Document, Format, Source};
    ///
    /// let url = "https://example.org/docs/".parse()?;
    /// let source = Source { bytes: b"<h1>Hi</h1><a href=more>More</a>", media_type: Some("text/html"), charset: None, url: &url };
    /// let Document::Text { text, .. } = Document::from_source(source, Format::Markdown, false)? else { unreachable!() };
    /// assert_eq!(text, "# Hi\n\n[More](https://example.org/docs/more)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_source(
        source: Source<'_>,
        format: Format,
        whole: bool,
    ) -> Result<Self, DocumentError> {
        Self::from_source_until(source, format, whole, &|| false)
    }

    /// Converts a document like [`Self::from_source`], but ends early when `is_over` returns true, which is asked often. The document
    /// is then cut, and a note says so. JSON and XML other than feeds are converted whole.
    ///
    /// # Errors
    /// Returns [`DocumentError`] if the document has no text.
    pub fn from_source_until(
        source: Source<'_>,
        format: Format,
        whole: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, DocumentError> {
        let url = source.url;
        let size = source.bytes.len();
        let media = Media::new(source.media_type, source.bytes);
        match media {
            Media::Image(_) if size > MAX_IMAGE_BYTES => return Err(DocumentError::Image { size }),
            Media::Image(mime_type) => return Ok(Self::Image { mime_type }),
            Media::Pdf => return Err(DocumentError::Pdf { size }),
            Media::Binary(media_type) => return Err(DocumentError::Binary { media_type, size }),
            Media::Html | Media::Json | Media::Xml | Media::Text => {}
        }
        let text = decode_document(source.bytes, source.charset);
        let notation = match format {
            Format::Markdown => Notation::Markdown,
            Format::Text => Notation::Plain,
            Format::Raw => return Ok(Self::from_text(text.into_owned())),
        };
        Ok(match media {
            Media::Html => Self::from_page(html::convert(&text, url, notation, whole, is_over)),
            Media::Json => match feed::json::read(&text) {
                Some(feed) => Self::from_feed(&feed, url, notation, html::limit(&text), is_over),
                None => Self::from_text(json::pretty(&text)),
            },
            Media::Xml => match feed::xml::read(&text) {
                Some(feed) => Self::from_feed(&feed, url, notation, html::limit(&text), is_over),
                None => Self::from_text(xml::pretty(&text)),
            },
            _ => Self::from_text(text.into_owned()),
        })
    }

    fn from_text(text: String) -> Self {
        Self::Text {
            title: None,
            text,
            notes: Vec::new(),
        }
    }

    fn from_feed(feed: &Feed, url: &Url, notation: Notation, limit: usize, stop: Stop<'_>) -> Self {
        let (text, notes) = feed.write(url, notation, limit, stop);
        Self::Text {
            title: feed.title(url),
            text,
            notes,
        }
    }

    fn from_page(page: html::Page) -> Self {
        let mut notes = Vec::new();
        if !page.left_out.is_empty() {
            let parts: Vec<String> = page.left_out.iter().map(ToString::to_string).collect();
            let parts = parts.join(", ");
            notes.push(format!("left out: {parts}; `whole` = true includes them"));
        }
        if page.leads_on {
            notes.push(LEADS_ON.to_owned());
        }
        if page.needs_scripts {
            notes.push(
                "the page needs JavaScript, which does not run here, to show its content; look for an API, a feed or another page with it"
                    .to_owned(),
            );
        }
        let cut = page.cut.map(|cut| match cut {
            html::Cut::Length => {
                "the page is cut, because its Markdown is much longer than its HTML"
            }
            html::Cut::Stopped => "the page is cut, because its conversion took too long",
        });
        notes.extend(cut.map(str::to_owned));
        Self::Text {
            title: page.title,
            text: page.text,
            notes,
        }
    }
}
