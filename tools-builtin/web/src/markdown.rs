//! Writing Markdown: blocks, the text of a paragraph, tables.

mod address;
mod code;
mod code_span;
mod document;
mod escape;
mod inline;
mod link;
mod mark;
mod space;
mod table;

pub(crate) use address::destination;
pub(crate) use code::{code_span, fenced};
pub(crate) use document::Document;
pub(crate) use escape::{escape_lines, escape_text};
pub(crate) use inline::{Breaks, Inline};
pub(crate) use mark::Mark;
pub(crate) use space::{in_code, without_break_marks};
pub(crate) use table::Table;

/// The notation of a converted document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Markdown, with tables and strikethrough of GitHub.
    #[default]
    Markdown,
    /// Text without marks.
    Plain,
}
