//! The definition of a tool as text.

use serde_json::json;
use tools::Entry;
use tools::protocol::canonical_json;

use crate::wire_tool_set::WireToolSet;

/// Returns the name, the description and the parameters of a tool as JSON text, in the form in which the model knows it.
pub(crate) fn definition(entry: &Entry, wire: Option<&WireToolSet>) -> String {
    describe(entry, wire, &entry.tool().description)
}

/// Returns the definition with this description.
pub(super) fn describe(entry: &Entry, wire: Option<&WireToolSet>, description: &str) -> String {
    let own = entry.tool();
    let wire = wire.and_then(|wire| wire.get(entry.name()));
    let name = wire.map_or(own.name.as_str(), |wire| &wire.name);
    let parameters = wire.map_or(&own.parameters, |wire| &wire.parameters);
    let name = json!(name);
    let description = json!(description);
    let parameters = canonical_json(parameters);
    format!(r#"{{"name":{name},"description":{description},"parameters":{parameters}}}"#)
}
