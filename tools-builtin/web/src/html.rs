//! HTML as Markdown.

mod attributes;
mod element;
mod frame;
mod language;
mod open_elements;
mod page;
mod references;
mod refresh;
mod script;
mod tokens;
mod visibility;

use url::Url;

pub(crate) use self::refresh::Base;
use crate::markdown::Notation;
pub(crate) use attributes::Attributes;
pub(crate) use element::Element;
use page::Builder;
pub(crate) use page::LITTLE_TEXT;
pub(crate) use references::decoded_value;
pub(crate) use refresh::of_meta as of_refresh;
pub(crate) use tokens::{Sink, tokenize};
pub(crate) use visibility::LeftOut;

/// The most text that the conversion returns for a byte of a document.
const MAX_GROWTH: usize = 4;

/// The length that a converted document may have in any case, in bytes.
const MIN_LIMIT: usize = 64 * 1024;

/// How often a page is read again, because a part that was left out contains its content. Such parts may be nested.
const MAX_PASSES: usize = 4;

/// Returns true if a conversion has to end early, such as after a time or when its call was cancelled.
pub(crate) type Stop<'a> = &'a dyn Fn() -> bool;

/// A converted page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The parts of the page that are not in the text.
    pub(crate) left_out: Vec<LeftOut>,
    /// The parts, by their number, that are not in the text although they contain `<main>` or `<article>`, or are all of the text.
    with_content: Vec<usize>,
    /// True if the page builds its content with scripts.
    pub(crate) needs_scripts: bool,
    /// True if the page only leads on to the address at the end of the text.
    pub(crate) leads_on: bool,
    /// The reason for which the text ends early.
    pub(crate) cut: Option<Cut>,
}

/// The reason for which a text ends before its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The text would become much longer than the HTML.
    Length,
    /// The caller stopped the conversion.
    Stopped,
}

/// Returns the length that the text of a document may have, in bytes.
pub(crate) fn limit(document: &str) -> usize {
    MIN_LIMIT.max(document.len().saturating_mul(MAX_GROWTH))
}

/// Converts a page whose address is `url`.
///
/// Without `whole`, navigation, footers and other parts beside the content are left out. Time and memory are linear in the length.
pub(crate) fn convert(
    html: &str,
    url: &Url,
    notation: Notation,
    whole: bool,
    stop: Stop<'_>,
) -> Page {
    let limit = limit(html);
    let build = |whole, kept: &[usize]| {
        let mut builder = Builder::new(url, notation, whole, kept, limit, stop);
        tokenize(html, &mut builder);
        builder.finish()
    };
    let mut kept = Vec::new();
    let mut page = build(whole, &kept);
    for _ in 0..MAX_PASSES {
        if page.with_content.is_empty() {
            break;
        }
        kept.append(&mut page.with_content);
        page = build(whole, &kept);
    }
    // A page of nothing but navigation is a page of links.
    if page.text.is_empty() && !whole && !page.left_out.is_empty() {
        build(true, &kept)
    } else {
        page
    }
}
