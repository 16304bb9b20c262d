//! [`Definition`]: one tool, as a provider is told of it.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::run::Run;
use super::{Definitions, Format, name};
use crate::{Tool, canonical_json};

/// What stands before the name in every format, and nowhere before that.
const NAME: &str = r#""name":""#;

/// One tool as JSON text in the format of a provider. The text depends on the tool alone, byte for byte, whatever the order of
/// keys in its schema.
///
/// Those that are made [together](Self::list) stand in one text, which is kept as long as there is one of them.
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
#[derive(Clone)]
pub struct Definition {
    /// Those that it was made with, and its place among them.
    among: Definitions,
    position: usize,
}

impl Definition {
    /// The definition of a tool, by the spelling that its name has where no other tool wants it.
    pub fn new(format: Format, tool: &Tool) -> Self {
        Self { among: Definitions::written([tool], |tool, text| write(format, tool, text)), position: 0 }
    }

    /// The definitions of these tools, one after another in one text: [`Definitions`] that want neighbours in this order copy them
    /// at once.
    pub fn list<'a>(format: Format, tools: impl IntoIterator<Item = &'a Tool>) -> Vec<Self> {
        let among = Definitions::written(tools, |tool, text| write(format, tool, text));
        (0..among.len()).map(|position| Self { among: among.clone(), position }).collect()
    }

    /// The text, by the plain spelling of the name.
    pub fn as_str(&self) -> &str {
        self.among.get(self.position).unwrap_or_default()
    }

    /// The text by another spelling: what comes before the name, the spelling, and what comes after it.
    pub(super) fn respelt<'a>(&'a self, spelling: &'a str) -> [&'a str; 3] {
        let text = self.as_str();
        let (head, rest) = text.split_at(text.find(NAME).map_or(0, |begin| begin + NAME.len()));
        [head, spelling, &rest[rest.find('"').unwrap_or(0)..]]
    }

    /// The text as it is.
    pub(super) fn run(&self) -> Run<'_> {
        Run::Neighbours(&self.among, self.position..self.position + 1)
    }
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Definition {}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.as_str()).finish()
    }
}

fn write(format: Format, tool: &Tool, out: &mut String) {
    let (head, schema, tail) = match format {
        Format::OpenAiChat => (r#"{"type":"function","function":{"#, r#","parameters":"#, "}}"),
        Format::Anthropic => ("{", r#","input_schema":"#, "}"),
    };
    let spelling = name::plain(&tool.name);
    let description = canonical_json(&Value::from(tool.description.as_str()));
    let parameters = canonical_json(&*of_object(&tool.parameters));
    out.extend([head, NAME, &spelling, r#"","description":"#, &description, schema, &parameters, tail]);
}

/// Returns the schema with `"type": "object"` at its root. Services refuse a request with a tool whose schema says anything
/// else there, and arguments are always an object.
fn of_object(schema: &Value) -> Cow<'_, Value> {
    match schema {
        Value::Object(keywords) if keywords.get("type").is_none_or(|kind| kind != "object") => {
            let mut keywords = keywords.clone();
            keywords.insert("type".to_owned(), "object".into());
            Cow::Owned(Value::Object(keywords))
        }
        schema => Cow::Borrowed(schema),
    }
}
