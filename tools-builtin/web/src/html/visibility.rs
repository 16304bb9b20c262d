//! The elements whose content is not part of the text.

use std::fmt;

use super::attributes::{Attribute, Attributes};
use super::element::Element;

/// A part of a page beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    Navigation,
    Header,
    Aside,
    Footer,
    Dialog,
    CookieNotice,
    /// The text outside of `<main>`.
    OutsideMain,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Navigation => "navigation",
            Self::Header => "the site's header",
            Self::Aside => "side bars",
            Self::Footer => "the footer",
            Self::Dialog => "dialogs",
            Self::CookieNotice => "a notice about cookies",
            Self::OutsideMain => "text outside of <main>",
        })
    }
}

/// Returns true if browsers do not show the element.
pub(super) fn is_hidden(element: Element, attributes: &Attributes) -> bool {
    let is_shadow = element == Element::Template && attributes.has(Attribute::ShadowRootMode);
    let is_closed = element == Element::Dialog && !attributes.has(Attribute::Open);
    element.is_dropped() && !is_shadow || is_closed || is_invisible(attributes)
}

/// Returns true if the attributes hide an element.
pub(super) fn is_invisible(attributes: &Attributes) -> bool {
    attributes
        .value(Attribute::Hidden)
        // A browser shows this one when its text is searched for, so it is content.
        .is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || attributes
            .value(Attribute::AriaHidden)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || attributes.value(Attribute::Style).is_some_and(hides)
}

/// Returns true for a style that hides the element.
fn hides(style: &str) -> bool {
    style.split(';').any(|rule| {
        let Some((property, value)) = rule.split_once(':') else {
            return false;
        };
        let value = value.trim().trim_end_matches("!important").trim_end();
        let hiding = [("display", "none"), ("visibility", "hidden")];
        hiding.iter().any(|(name, hidden)| {
            property.trim().eq_ignore_ascii_case(name) && value.eq_ignore_ascii_case(hidden)
        })
    })
}

/// Returns true for the numbers of lines beside code.
pub(super) fn is_line_number(attributes: &Attributes) -> bool {
    const NAMES: &str = "blob-num gutter hljs-ln-numbers line-number line-numbers \
        line-numbers-rows linenodiv lineno linenos linenumbers ln lnt";
    attributes
        .classes()
        .any(|class| NAMES.split(' ').any(|name| name == class))
}

/// Returns the kind of an element beside the content of a page. `in_content` is true in `<main>` and `<article>`.
pub(super) fn beside_content(
    element: Element,
    attributes: &Attributes,
    in_content: bool,
) -> Option<LeftOut> {
    let role = attributes.value(Attribute::Role).unwrap_or_default();
    Some(match (element, role) {
        // The links of MediaWiki to edit a section.
        (Element::Other, _) if attributes.classes().any(|class| class == "mw-editsection") => {
            LeftOut::Navigation
        }
        (Element::Nav | Element::Search, _) => LeftOut::Navigation,
        (_, "navigation" | "menubar" | "search") => LeftOut::Navigation,
        (Element::Dialog, _) | (_, "dialog" | "alertdialog") => LeftOut::Dialog,
        (_, "banner") => LeftOut::Header,
        (_, "contentinfo") => LeftOut::Footer,
        (Element::Footer, _) if !in_content => LeftOut::Footer,
        (_, "complementary") if !in_content => LeftOut::Aside,
        (Element::Aside, _) if !in_content && is_side_bar(attributes) => LeftOut::Aside,
        (Element::Div | Element::Section | Element::Aside | Element::Form, _)
            if is_cookie_notice(attributes) =>
        {
            LeftOut::CookieNotice
        }
        _ => return None,
    })
}

/// Returns true if the class or id is of a side bar. Other elements of this kind are notes, which belong to the text.
fn is_side_bar(attributes: &Attributes) -> bool {
    const PARTS: [&str; 7] = [
        "advert", "promo", "related", "side-bar", "sidebar", "toc", "widget",
    ];
    names(attributes).any(|name| PARTS.iter().any(|part| name.contains(part)))
}

/// Returns the id and the classes in lower case.
fn names(attributes: &Attributes) -> impl Iterator<Item = String> {
    let id = attributes.value(Attribute::Id).into_iter();
    id.chain(attributes.classes()).map(str::to_ascii_lowercase)
}

/// Returns true if the class or id is of a notice about cookies.
fn is_cookie_notice(attributes: &Attributes) -> bool {
    const PARTS: [&str; 9] = [
        "banner", "bar", "consent", "dialog", "message", "modal", "notice", "overlay", "popup",
    ];
    names(attributes).any(|name| {
        let is_named = name.contains("cookie") && PARTS.iter().any(|part| name.contains(part));
        is_named || name.starts_with("onetrust-") || name == "usercentrics-root"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_hide() {
        for style in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "visibility:hidden;",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display:block",
            "display:nonesuch",
            "content:'display:none",
        ] {
            assert!(!hides(style), "{style}");
        }
    }
}
