//! [`SystemText`]: the system prompt, in named sections.

use tools::protocol::is_invisible;

use crate::ToolSet;
use crate::join::join;

/// A system prompt made of named sections, in order.
///
/// Each section is rendered between the lines `<section name="…">` and `</section>`. Section tags inside a text are escaped, so
/// that no text can end its section or imitate another one. Empty sections are omitted.
///
/// The rendered text depends only on the sections and the tool set, byte for byte, because providers cache prompt prefixes.
/// Do not add text that changes by itself, such as the time.
///
/// ```
/// use agent::{SystemText, ToolSet};
///
/// let text = SystemText::new()
///     .with_section("identity", "You sort mail.")
///     .with_section("notes", "")
///     .with_tool_section("tools", |tools| format!("You have {} tools.", tools.len()));
/// assert_eq!(
///     text.render(&ToolSet::default()),
///     "<section name=\"identity\">\nYou sort mail.\n</section>\n\n<section name=\"tools\">\nYou have 0 tools.\n</section>",
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct SystemText {
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
struct Section {
    name: String,
    text: SectionText,
}

#[derive(Clone, Debug)]
enum SectionText {
    Fixed(String),
    /// Rendered for each run, from the session's current tools.
    FromTools(fn(&ToolSet) -> String),
}

impl SystemText {
    /// Creates a text without sections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section, or replaces the section of that name in its place. The text is trimmed.
    #[must_use]
    pub fn with_section(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(name.into(), SectionText::Fixed(text.into()))
    }

    /// Adds or replaces a section whose text is rendered from the session's tools, such as
    /// [`tool_guidance`](crate::tool_guidance). `text` runs once per run and must return equal text for equal tools.
    #[must_use]
    pub fn with_tool_section(self, name: impl Into<String>, text: fn(&ToolSet) -> String) -> Self {
        self.with(name.into(), SectionText::FromTools(text))
    }

    /// Returns the name and text of each section that is not empty, in order, for these tools.
    pub fn sections(&self, tools: &ToolSet) -> Vec<(&str, String)> {
        self.sections
            .iter()
            .filter_map(|section| Some((section.name.as_str(), section.render(tools)?)))
            .collect()
    }

    /// Returns the whole text for these tools. Empty if no section has text.
    pub fn render(&self, tools: &ToolSet) -> String {
        let sections = self.sections(tools);
        let section = |(name, text): &(&str, String)| {
            format!(
                "<section name=\"{}\">\n{}\n</section>",
                escape_name(name),
                escape_tags(text)
            )
        };
        join(sections.iter().map(section), "\n\n")
    }

    fn with(mut self, name: String, text: SectionText) -> Self {
        match self
            .sections
            .iter_mut()
            .find(|section| section.name == name)
        {
            Some(section) => section.text = text,
            None => self.sections.push(Section { name, text }),
        }
        self
    }
}

impl Section {
    /// Returns `None` if the text is empty.
    fn render(&self, tools: &ToolSet) -> Option<String> {
        let text = match &self.text {
            SectionText::Fixed(text) => text.trim().to_owned(),
            SectionText::FromTools(text) => text(tools).trim().to_owned(),
        };
        (!text.is_empty()).then_some(text)
    }
}

/// Replaces the characters that could end the quoted `name` attribute.
fn escape_name(name: &str) -> String {
    name.chars()
        .map(|c| {
            if is_invisible(c) || "\"<>&".contains(c) {
                '_'
            } else {
                c
            }
        })
        .collect()
}

/// Replaces `<` by `&lt;` if it could start a section tag, also one with space or invisible characters in it. Every other `<`
/// stays, because texts often contain code.
fn escape_tags(text: &str) -> String {
    let mut pieces = text.split('<');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let word: String = piece
            .chars()
            .filter(char::is_ascii_graphic)
            .take(1 + TAG.len())
            .collect();
        let word = word.strip_prefix('/').unwrap_or(&word);
        let is_tag = word
            .get(..TAG.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(TAG));
        out.push_str(if is_tag { "&lt;" } else { "<" });
        out.push_str(piece);
    }
    out
}

const TAG: &str = "section";
