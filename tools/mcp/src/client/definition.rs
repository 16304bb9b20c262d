//! The definition of an imported tool.

use std::sync::Arc;

use rmcp::model;
use serde_json::{Map, Value};
use tools::protocol::InvalidName;
use tools::{Tool, ToolName, visible_line};

use crate::client::defaults::make_optional;
use crate::client::nullable::accept_null_below;
use crate::client::schema_repair::{drop_empty_enums, escape_references};
use crate::client::schema_texts::{has_invisible, make_visible, text};
use crate::client::server_name::ServerName;
use crate::client::server_tool::ServerTool;
use crate::same_json::same_json;

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

/// Returns the definition of a server's tool: undeclared effects, so an open-world write, and an entry in every audit log. Returns notes
/// for the user too.
///
/// Annotations and icons stay as they are, and so does all of the schemas that judges values, but for `nullable`. Invisible characters of the texts are made
/// visible.
pub(super) fn import_definition(
    server: &ServerName,
    name: &ToolName,
    tool: &ServerTool,
) -> Result<(Tool, Vec<String>), InvalidName> {
    let tool = tool.tool.clone();
    let description = description(server, &tool);
    let mut notes = Notes::default();
    let mut parameters = notes.schema(tool.input_schema);
    parameters
        .as_object_mut()
        .into_iter()
        .for_each(make_optional);
    let mut imported = Tool::new(name, description, parameters)?.with_audit(true);
    imported.title = tool
        .title
        .map(|title| visible_line(&title, MAX_TITLE))
        .filter(|title| !title.is_empty());
    imported.output = tool.output_schema.map(|schema| notes.schema(schema));
    imported.annotations = tool.annotations.as_ref().and_then(same_json);
    imported.icons = tool.icons.as_ref().and_then(same_json).unwrap_or_default();
    Ok((imported, notes.into_lines(name)))
}

impl ServerTool {
    /// Returns the definition of the tool in a catalog, without the host's decisions.
    pub(crate) fn import(&self, server: &ServerName, name: &ToolName) -> Result<Tool, InvalidName> {
        import_definition(server, name, self).map(|(tool, _)| tool)
    }
}

/// The peculiarities of a tool's schemas.
#[derive(Default)]
struct Notes {
    has_other_texts: bool,
    has_invisible: bool,
    has_empty_enum: bool,
}

impl Notes {
    /// Returns a schema with visible texts.
    fn schema(&mut self, schema: Arc<Map<String, Value>>) -> Value {
        let mut schema = Arc::unwrap_or_clone(schema);
        self.has_other_texts |= make_visible(&mut schema);
        let mut schema = Value::Object(schema);
        escape_references(&mut schema);
        accept_null_below(&mut schema, false);
        self.has_empty_enum |= drop_empty_enums(&mut schema);
        self.has_invisible |= has_invisible(&schema);
        schema
    }

    fn into_lines(self, tool: &ToolName) -> Vec<String> {
        let other = "has texts in its schemas that are shown in another form, because they are long or have invisible characters";
        let invisible = "has invisible characters in the names or values of its schemas; look at them before you use it";
        let empty = "is offered without the lists of values in its schemas that are empty";
        let notes = [
            (self.has_empty_enum, empty),
            (self.has_other_texts, other),
            (self.has_invisible, invisible),
        ];
        notes
            .into_iter()
            .filter(|(has, _)| *has)
            .map(|(_, note)| format!("{tool} {note}"))
            .collect()
    }
}

/// Returns the description, or the title, or a placeholder that says that there is none.
fn description(server: &ServerName, tool: &model::Tool) -> String {
    let hints = tool.annotations.as_ref();
    let texts = [
        tool.description.as_deref(),
        tool.title.as_deref(),
        hints.and_then(|hints| hints.title.as_deref()),
    ];
    match texts
        .into_iter()
        .flatten()
        .map(str::trim)
        .find(|text| !text.is_empty())
    {
        Some(description) => text(description),
        None => format!("[The MCP server {server} does not describe this tool.]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::schema_texts::MAX_DESCRIPTION;

    fn imported_from(definition: Value) -> Tool {
        let server = ServerName::new("s").unwrap();
        let name = server.tool_name("t", 1).unwrap();
        import_definition(&server, &name, &ServerTool::from_json(definition).unwrap())
            .unwrap()
            .0
    }

    #[test]
    fn a_missing_description_is_the_title_or_says_that_it_is_missing() {
        let schema = json!({"type": "object"});
        for (definition, expected) in [
            (
                json!({"name": "t", "inputSchema": schema, "title": "Reads it", "description": " "}),
                "Reads it",
            ),
            (
                json!({"name": "t", "inputSchema": schema, "annotations": {"title": "Reads"}}),
                "Reads",
            ),
            (
                json!({"name": "t", "inputSchema": schema}),
                "[The MCP server s does not describe this tool.]",
            ),
        ] {
            assert_eq!(imported_from(definition).description, expected);
        }
    }

    #[test]
    fn a_reference_to_a_name_with_other_characters_is_found() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/Page[Item é]"}, "b": {"$ref": "#/$defs/c%20d"}},
            "$defs": {"Page[Item é]": {"type": "integer"}, "c d": {"type": "integer"}},
        });
        let tool = imported_from(json!({"name": "t", "inputSchema": schema}));
        let schema = tools::schema::ValueSchema::new(tool.parameters).unwrap();
        assert!(schema.check(&json!({"a": 1, "b": 1}).into()).is_ok());
        assert!(
            schema.check(&json!({"a": "x"}).into()).is_err()
                && schema.check(&json!({"b": "x"}).into()).is_err()
        );
    }

    #[test]
    fn texts_are_visible_and_short() {
        let description =
            "Reads.\u{202e}\u{200b}\x1b[2J\n".to_owned() + &"ä".repeat(MAX_DESCRIPTION);
        let definition = json!({"name": "t", "inputSchema": {}, "title": "A\u{202e}\nB", "description": description});
        let tool = imported_from(definition);
        assert!(
            tool.description
                .starts_with("Reads.<U+202E><U+200B><U+001B>[2J\nää"),
            "{}",
            tool.description
        );
        assert!(tool.description.len() <= MAX_DESCRIPTION && tool.description.ends_with("ä…"));
        assert_eq!(tool.title.as_deref(), Some("A<U+202E> B"));
    }

    #[test]
    fn a_definition_widens_nothing() {
        let definition = json!({"name": "t", "inputSchema": {}, "annotations": {"readOnlyHint": true}, "was": ["fs.read"]});
        let tool = imported_from(definition);
        assert!(tool.effects.is_undeclared() && tool.was.is_empty() && tool.audit);
    }
}
