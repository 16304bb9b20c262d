//! [`Mark`]: the marks of text inside of a line.

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
