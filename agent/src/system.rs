//! [`SystemText`]: what a model is told before the conversation begins.

use tools::protocol::is_invisible;

use crate::ToolSet;

/// What a model is told before the conversation begins: named sections, in order.
///
/// The rendered text depends on the sections and the tool set alone, byte for byte: services read a prompt again for less
/// where it begins as it did before. So nothing that changes by itself, such as the time, belongs here.
///
/// Each section stands between a line `<section name="…">` and a line `</section>`. Nothing in a section can end it or look
/// like another one, whoever wrote it. A section without text is left out.
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
    text: Text,
}

#[derive(Clone, Debug)]
enum Text {
    Fixed(String),
    /// Made when it is rendered, so that it is always about the tools that the session has by then.
    OfTools(fn(&ToolSet) -> String),
}

impl SystemText {
    /// No sections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section, or puts it in the place of the one of that name. White space around the text does not count.
    #[must_use]
    pub fn with_section(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(name.into(), Text::Fixed(text.into()))
    }

    /// The same with a text about the tools of the session, such as [`tool_guidance`](crate::tool_guidance). It is made
    /// anew for each run, so it must give the same text for the same tools.
    #[must_use]
    pub fn with_tool_section(self, name: impl Into<String>, text: fn(&ToolSet) -> String) -> Self {
        self.with(name.into(), Text::OfTools(text))
    }

    /// The names and texts of the sections that are not empty, in order, for a session with these tools.
    pub fn sections(&self, tools: &ToolSet) -> Vec<(&str, String)> {
        self.sections.iter().filter_map(|section| Some((section.name.as_str(), section.told(tools)?))).collect()
    }

    /// The whole text, for a session with these tools; empty when no section has text.
    pub fn render(&self, tools: &ToolSet) -> String {
        let sections = self.sections(tools);
        let section = |(name, text): &(&str, String)| {
            format!("<section name=\"{}\">\n{}\n</section>", plain(name), without_tags(text))
        };
        sections.iter().map(section).collect::<Vec<_>>().join("\n\n")
    }

    fn with(mut self, name: String, text: Text) -> Self {
        match self.sections.iter_mut().find(|section| section.name == name) {
            Some(section) => section.text = text,
            None => self.sections.push(Section { name, text }),
        }
        self
    }
}

impl Section {
    fn told(&self, tools: &ToolSet) -> Option<String> {
        let text = match &self.text {
            Text::Fixed(text) => text.trim().to_owned(),
            Text::OfTools(text) => text(tools).trim().to_owned(),
        };
        (!text.is_empty()).then_some(text)
    }
}

/// A name that cannot leave the quotes that it stands in.
fn plain(name: &str) -> String {
    name.chars().map(|c| if is_invisible(c) || "\"<>&".contains(c) { '_' } else { c }).collect()
}

/// The text, with `&lt;` for each `<` that could be read as the beginning of a section's tag, whatever space or invisible
/// characters are in it. The rest is as it was: it is often code.
fn without_tags(text: &str) -> String {
    let mut pieces = text.split('<');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let word: String = piece.chars().filter(char::is_ascii_graphic).take(1 + TAG.len()).collect();
        let word = word.strip_prefix('/').unwrap_or(&word);
        let is_tag = word.get(..TAG.len()).is_some_and(|word| word.eq_ignore_ascii_case(TAG));
        out.push_str(if is_tag { "&lt;" } else { "<" });
        out.push_str(piece);
    }
    out
}

const TAG: &str = "section";
