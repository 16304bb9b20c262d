//! Pages that build their content with scripts.

use super::attributes::{Attribute, Attributes};
use super::element::Element;

/// A page with less text than this, in bytes, may need scripts to show more.
const LITTLE_TEXT: usize = 300;

/// A page with scripts and less text than this, in bytes, needs them in any case.
const NO_TEXT: usize = 30;

/// The most text of `<noscript>` that is kept, in bytes.
const MAX_HINT: usize = 500;

/// The signs of a page that builds its content with scripts.
#[derive(Debug, Default)]
pub(super) struct ScriptSigns {
    has_scripts: bool,
    has_root: bool,
    hint: String,
}

impl ScriptSigns {
    /// Reads a start tag.
    pub(super) fn read(&mut self, element: Element, attributes: &Attributes) {
        const ROOTS: &str = "___gatsby __next __nuxt app app-root application ember-application \
            main-app q-app react-app react-root root svelte vue-app";
        self.has_scripts |= element == Element::Script;
        self.has_root |= matches!(
            element,
            Element::Div | Element::Main | Element::Body | Element::Section
        ) && attributes
            .value(Attribute::Id)
            .is_some_and(|id| ROOTS.split(' ').any(|root| root == id));
    }

    /// Reads text of `<noscript>`.
    pub(super) fn push_hint(&mut self, text: &str) {
        push_words(&mut self.hint, text, MAX_HINT);
    }

    /// Returns true if `<noscript>` says more than this text, other than that scripts are needed.
    pub(super) fn has_fallback(&self, text: &str) -> bool {
        text.len() < LITTLE_TEXT && self.hint.len() > text.len() && !asks(&self.hint)
    }

    /// Returns true if a page with this text needs scripts to show its content.
    pub(super) fn needs_scripts(&self, text: &str) -> bool {
        let is_little = text.len() < LITTLE_TEXT && self.has_scripts;
        is_little && (text.len() < NO_TEXT || self.has_root || asks(&self.hint) || asks(text))
    }
}

/// Appends the words of a text, as far as the whole is shorter than a number of bytes.
pub(super) fn push_words(out: &mut String, text: &str, max: usize) {
    for word in text.split_whitespace() {
        if out.len() + word.len() >= max {
            return;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
}

fn asks(text: &str) -> bool {
    text.to_ascii_lowercase().contains("javascript")
}
