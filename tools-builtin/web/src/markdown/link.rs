//! [`Link`]: the address of a link, and its text if it has none of its own.

/// The address of a link, and its text if it has none of its own.
#[derive(Debug)]
pub(super) struct Link {
    destination: String,
    is_fragment: bool,
    label: String,
}

impl Link {
    pub(super) fn new(destination: String, is_fragment: bool, label: &str) -> Self {
        // The label of a link within the page describes the link, not its target.
        let label = if is_fragment { "" } else { label };
        Self {
            destination,
            is_fragment,
            label: label.to_owned(),
        }
    }

    /// Returns true for the link of a heading to itself, and for one that skips the navigation.
    pub(super) fn is_permalink(&self, text: &str) -> bool {
        let text = text.trim_start_matches('\\');
        let is_sign = matches!(
            text,
            "#" | "¶" | "§" | "🔗" | "⚓" | "\u{200b}" | "\u{feff}"
        );
        let start = text.get(..8);
        let is_skip = start.is_some_and(|start| start.eq_ignore_ascii_case("skip to "));
        self.is_fragment && (is_sign || is_skip)
    }

    /// Takes the label. Returns `None` if it is blank.
    pub(super) fn take_label(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.label)).filter(|label| !label.trim().is_empty())
    }

    /// Writes the address, which follows the text.
    pub(super) fn write_destination(&self, out: &mut String) {
        out.push('(');
        out.push_str(&self.destination);
        out.push(')');
    }
}

/// A mark that spans text inside of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Strong,
    Emphasis,
    Strike,
    Superscript,
    Subscript,
    Link,
}

impl Mark {
    /// Returns the opening and the closing text, for a place after `out`.
    pub(super) fn delimiters(self, out: &str) -> (&'static str, &'static str) {
        // Delimiters of the same character would merge into one run.
        let after_star = out.ends_with('*');
        match self {
            Self::Strong if after_star => ("__", "__"),
            Self::Strong => ("**", "**"),
            Self::Emphasis if after_star => ("_", "_"),
            Self::Emphasis => ("*", "*"),
            Self::Strike => ("~~", "~~"),
            Self::Superscript => ("<sup>", "</sup>"),
            Self::Subscript => ("<sub>", "</sub>"),
            // The address follows.
            Self::Link => ("[", "]"),
        }
    }
}

/// A mark of an element that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenMark {
    pub(super) mark: Mark,
    /// The opening text's position and length, and the closing text. `None` until text follows.
    pub(super) written: Option<Written>,
    /// True for a link that ended with its first block.
    pub(super) is_done: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) start: usize,
    pub(super) content: usize,
    pub(super) closing: &'static str,
}
