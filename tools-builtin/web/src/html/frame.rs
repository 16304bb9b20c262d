//! [`Frame`]: an open element.

use super::element::Element;
use crate::markdown::Mark;

/// An open element, and the effect of its end.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) element: Element,
    pub(super) effect: Effect,
}

/// The effect of an element, which ends with it.
#[derive(Debug)]
pub(super) enum Effect {
    None,
    /// The content is not part of the text.
    Hidden,
    Mark(Mark),
    Code,
    /// The text of a code block.
    Pre,
    /// The language of the code blocks inside, and the one from outside.
    Language(Option<String>),
    Heading,
    /// A quote or an item.
    Container,
    List,
    /// A list of definitions, with its open item.
    Definitions {
        has_item: bool,
        has_definition: bool,
    },
    Table,
    Row,
    Cell,
    Quotation,
    /// The main content: the length of the document where it began.
    Main(usize),
    Formula(Formula),
}

/// The parts of a formula.
#[derive(Debug, Default)]
pub(super) struct Formula {
    pub(super) symbols: String,
    /// The notation of TeX, if the page has it.
    pub(super) source: String,
}
