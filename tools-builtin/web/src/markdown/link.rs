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
        let label = if is_fragment {
            String::new()
        } else {
            label.to_owned()
        };
        Self {
            destination,
            is_fragment,
            label,
        }
    }

    /// Returns true for the link of a heading to itself, and for one that skips the navigation.
    pub(super) fn is_permalink(&self, text: &str) -> bool {
        let text = text.trim_start_matches('\\');
        let is_sign = matches!(
            text,
            "#" | "¶" | "§" | "🔗" | "⚓" | "\u{200b}" | "\u{feff}"
        );
        let is_skip = || {
            text.get(..8)
                .is_some_and(|start| start.eq_ignore_ascii_case("skip to "))
        };
        self.is_fragment && (is_sign || is_skip())
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
