//! [`ShownResult`]: the parts of a result that a model is shown.

use super::piece::Piece;
use super::{Format, anthropic, gemini, ollama, openai_chat};
use crate::content::Content;
use crate::result::ToolResult;

/// The parts of a result that a model is shown. For clients with their own types of messages.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShownResult {
    /// The texts and images of the result, at least one.
    pub content: Vec<Content>,
    /// The images that have to follow all results of the turn, after a text that names the call.
    pub following: Vec<Content>,
}

impl Format {
    /// Returns the parts of a result that a model is shown, as [`write_results`](Self::write_results) sends them.
    ///
    /// ```
    /// use protocol::wire::Format;
    /// use protocol::{Content, ToolResult};
    ///
    /// let shown = Format::Anthropic.show_result("call_1", &ToolResult::text(""));
    /// assert_eq!(shown.content, [Content::text("(no content)")]);
    /// ```
    pub fn show_result(self, id: &str, result: &ToolResult) -> ShownResult {
        if self == Self::Mcp {
            return ShownResult {
                content: result.content.clone(),
                following: Vec::new(),
            };
        }
        let (pieces, following) = self.pieces(id, result);
        let content = |pieces: Vec<Piece>| pieces.into_iter().map(Content::from).collect();
        ShownResult {
            content: content(pieces),
            following: content(following),
        }
    }

    /// Returns the parts that are in the result, and those that follow all results.
    pub(super) fn pieces(self, id: &str, result: &ToolResult) -> (Vec<Piece>, Vec<Piece>) {
        let pieces = match self {
            // The text alone tells of a failure.
            Self::OpenAiChat | Self::OpenAiResponses => {
                Piece::all_marked(result, &openai_chat::IMAGES)
            }
            Self::Ollama => Piece::all_marked(result, &ollama::IMAGES),
            Self::Gemini => Piece::all(result, &gemini::IMAGES),
            Self::Anthropic | Self::Mcp => Piece::all(result, &anthropic::IMAGES),
        };
        let is_text_only = match self {
            // A tool message holds [text alone](https://platform.openai.com/docs/api-reference/chat/create).
            Self::OpenAiChat => true,
            // ["all content must be type `text` if `is_error` is true"](https://github.com/vellum-ai/vellum-assistant/pull/18387)
            Self::Anthropic => result.is_error,
            _ => false,
        };
        if !is_text_only {
            return (pieces, Vec::new());
        }
        let (text, images) = Piece::split(pieces);
        if images.is_empty() {
            return (vec![Piece::Text(text)], Vec::new());
        }
        let images = images.into_iter().map(Piece::Image);
        let following = std::iter::once(Piece::Text(Piece::label(id)))
            .chain(images)
            .collect();
        (vec![Piece::Text(Piece::note_images(text))], following)
    }
}
