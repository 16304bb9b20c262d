//! The parameters schema of a tool, as providers accept it.

use std::borrow::Cow;

use serde_json::Value;

use crate::Tool;

/// Returns the parameters of a tool for a provider that takes JSON values, with sorted keys.
///
/// The root gets `"type": "object"`, because providers reject tools with any other type and arguments are always an object.
pub fn parameters(tool: &Tool) -> Value {
    let mut schema = typed(&tool.parameters).into_owned();
    schema.sort_all_objects();
    schema
}

/// Returns the schema with `"type": "object"` at its root.
pub(super) fn typed(schema: &Value) -> Cow<'_, Value> {
    match schema {
        Value::Object(keywords) if keywords.get("type").is_none_or(|kind| kind != "object") => {
            let mut keywords = keywords.clone();
            keywords.insert("type".to_owned(), "object".into());
            Cow::Owned(Value::Object(keywords))
        }
        schema => Cow::Borrowed(schema),
    }
}
