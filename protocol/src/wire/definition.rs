//! [`Definition`]: one tool, as a provider is told of it.

use std::ops::Range;

use serde_json::Value;

use super::{Format, name};
use crate::{Tool, canonical_json};

/// One tool as JSON text in the format of a provider. The text depends on the tool alone, byte for byte, whatever the order of
/// keys in its schema.
///
/// ```
/// use protocol::Tool;
/// use protocol::wire::{Definition, Format};
/// use serde_json::json;
///
/// let tool = Tool::new("fs.read", "Reads.", json!({"type": "object"}))?;
/// assert_eq!(
///     Definition::new(Format::Anthropic, &tool).as_str(),
///     r#"{"name":"fs_read","description":"Reads.","input_schema":{"type":"object"}}"#,
/// );
/// # Ok::<(), protocol::InvalidName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    text: Box<str>,
    /// Where the name stands in it. Another tool of a set may want the same spelling.
    name: Range<usize>,
}

impl Definition {
    /// The definition of a tool, by the spelling that its name has where no other tool wants it.
    pub fn new(format: Format, tool: &Tool) -> Self {
        let (head, described, schema, tail) = match format {
            Format::OpenAiChat => {
                (r#"{"type":"function","function":{"name":""#, r#"","description":"#, r#","parameters":"#, "}}")
            }
            Format::Anthropic => (r#"{"name":""#, r#"","description":"#, r#","input_schema":"#, "}"),
        };
        let spelling = name::plain(&tool.name);
        let name = head.len()..head.len() + spelling.len();
        let description = canonical_json(&Value::from(tool.description.as_str()));
        let parameters = canonical_json(&tool.parameters);
        let text = [head, &spelling, described, &description, schema, &parameters, tail].concat();
        Self { text: text.into(), name }
    }

    /// The text, by the plain spelling of the name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The length of the text by another spelling, in bytes.
    pub(super) fn length(&self, spelling: &str) -> usize {
        self.text.len() - self.name.len() + spelling.len()
    }

    /// Adds the text by another spelling, which must be a legal one.
    pub(super) fn write(&self, spelling: &str, out: &mut String) {
        if &self.text[self.name.clone()] == spelling {
            out.push_str(&self.text);
        } else {
            out.push_str(&self.text[..self.name.start]);
            out.push_str(spelling);
            out.push_str(&self.text[self.name.end..]);
        }
    }
}
