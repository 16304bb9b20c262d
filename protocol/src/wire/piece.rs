//! [`Piece`]: the parts of a result that model services take.

use crate::content::{Content, ResourceContents};
use crate::result::ToolResult;

/// A text or an image.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Image(Image),
}

/// An image of a known media type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Image {
    pub(super) media_type: &'static str,
    /// The bytes in base64.
    pub(super) data: String,
}

/// The media types and the first bytes of their files, in base64.
const SIGNATURES: [(&str, &str); 4] = [
    ("image/png", "iVBORw0KGgo"),
    ("image/jpeg", "/9j/"),
    ("image/gif", "R0lGOD"),
    ("image/webp", "UklGR"),
];

/// Replaces the content of a result without any. A text of white space alone is none.
///
/// Anthropic refuses both: ["text content blocks must be non-empty"](https://github.com/anthropics/anthropic-sdk-python/issues/461)
/// and ["content cannot be empty if `is_error` is true"](https://github.com/bytedance/trae-agent/issues/230). Services that pass a
/// request on to Anthropic [do the same](https://github.com/anomalyco/opencode/issues/15372).
const NO_CONTENT: &str = "(no content)";

/// Begins the text of a failed call on services without a field for failures.
const ERROR: &str = "Error: ";

impl Piece {
    /// Returns the parts of a result, of which there is at least one. Images of other types and all other content are described in
    /// JSON, without their data.
    pub(super) fn all(result: &ToolResult, media_types: &[&str]) -> Vec<Self> {
        let piece = |content: &Content| match content {
            Content::Text { text }
            | Content::Resource {
                resource: ResourceContents::Text { text, .. },
            } => Self::Text(text.clone()),
            // The declared type is the word of a tool, and a service refuses data of another type.
            Content::Image { data, .. } => match Image::from_base64(data) {
                Some(image) if media_types.contains(&image.media_type) => Self::Image(image),
                _ => Self::Text(content.describe()),
            },
            other => Self::Text(other.describe()),
        };
        let pieces = result.content.iter().map(piece);
        // Services refuse blank texts.
        let mut pieces: Vec<_> = pieces
            .filter(|piece| !matches!(piece, Self::Text(text) if text.trim().is_empty()))
            .collect();
        if pieces.is_empty() {
            let structured = result.structured.as_ref().map(|value| value.to_text());
            pieces.push(Self::Text(
                structured.unwrap_or_else(|| NO_CONTENT.to_owned()),
            ));
        }
        pieces
    }

    /// Returns the parts of a result for a service without a field for failures: the text of a failed call begins with "Error: ".
    pub(super) fn all_marked(result: &ToolResult, media_types: &[&str]) -> Vec<Self> {
        let mut pieces = Self::all(result, media_types);
        match pieces.first_mut() {
            _ if !result.is_error => {}
            // Tools write errors with this beginning themselves.
            Some(Self::Text(text)) if text.starts_with(ERROR) => {}
            Some(Self::Text(text)) => text.insert_str(0, ERROR),
            _ => pieces.insert(0, Self::Text(ERROR.trim_end().to_owned())),
        }
        pieces
    }

    /// Returns the texts, joined with line breaks, and the images.
    pub(super) fn split(pieces: Vec<Self>) -> (String, Vec<Image>) {
        let mut texts = Vec::new();
        let mut images = Vec::new();
        for piece in pieces {
            match piece {
                Self::Text(text) => texts.push(text),
                Self::Image(image) => images.push(image),
            }
        }
        (texts.join("\n"), images)
    }

    /// Returns the text of a result whose images follow all results.
    pub(super) fn note_images(text: String) -> String {
        if text.is_empty() {
            "(the images follow)".to_owned()
        } else {
            text + "\n(the images follow)"
        }
    }

    /// Returns the text before the images of a result.
    pub(super) fn label(id: &str) -> String {
        format!("Images of the result of {id}:")
    }
}

impl Image {
    /// Returns an image with the media type of its data. Returns `None` if the data is not base64, or of another type.
    ///
    /// A tool may state another type, for which Anthropic refuses
    /// [the whole request](https://github.com/anthropics/claude-code/issues/13131).
    pub(super) fn from_base64(data: &str) -> Option<Self> {
        let digits = data.trim_end_matches('=');
        let is_base64 = data.len().is_multiple_of(4)
            && data.len() - digits.len() <= 2
            && digits
                .bytes()
                .all(|digit| digit.is_ascii_alphanumeric() || matches!(digit, b'+' | b'/'));
        let (media_type, _) = SIGNATURES
            .into_iter()
            .find(|(_, start)| data.starts_with(start))?;
        // Other files begin like WebP, whose own name is in the bytes 8 to 12.
        let is_complete = media_type != "image/webp" || data.get(12..16) == Some("RUJQ");
        (is_base64 && is_complete).then(|| Self {
            media_type,
            data: data.to_owned(),
        })
    }

    /// Returns the image as a `data:` URL.
    pub(super) fn to_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}

impl From<Piece> for Content {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self::text(text),
            Piece::Image(image) => image.into(),
        }
    }
}

impl From<Image> for Content {
    fn from(Image { media_type, data }: Image) -> Self {
        Self::Image {
            data,
            mime_type: media_type.to_owned(),
        }
    }
}
