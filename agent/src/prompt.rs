//! [`Prompt`]: the content of a message to an agent.

use tools::protocol::{Content, Message, Part, Role};

/// The content of a message to an agent: texts and images.
///
/// ```
/// use agent::Prompt;
/// use tools::Content;
///
/// let chart = Content::Image { data: "iVBORw0KGgo=".to_owned(), mime_type: "image/png".to_owned() };
/// let prompt = Prompt::from("What does the chart show?").with_content([chart]);
/// assert_eq!(prompt.to_text(), "What does the chart show?");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt(Vec<Content>);

impl Prompt {
    /// Adds content after that of the prompt. Mark text that is not the person's own with [`OutsideText`](tools::OutsideText), one such
    /// text in a block.
    #[must_use]
    pub fn with_content(mut self, content: impl IntoIterator<Item = Content>) -> Self {
        self.0.extend(content);
        self
    }

    /// Returns the content, in order.
    pub fn content(&self) -> &[Content] {
        &self.0
    }

    /// Returns the texts, joined with line breaks.
    pub fn to_text(&self) -> String {
        tools::join(self.texts(), "\n")
    }

    /// Returns the texts, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Content::as_text)
    }

    /// Returns the prompt with this text before its other content, in place of its texts.
    pub(crate) fn with_text(mut self, text: String) -> Self {
        self.0.retain(|content| content.as_text().is_none());
        self.0.insert(0, text.into());
        self
    }

    /// Returns the message of the user.
    pub(crate) fn into_message(self) -> Message {
        Message {
            role: Role::User,
            parts: self.0.into_iter().map(Part::Content).collect(),
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self(vec![text.into()])
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Vec<Content>> for Prompt {
    fn from(content: Vec<Content>) -> Self {
        Self(content)
    }
}
