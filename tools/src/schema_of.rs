//! [`schema_of`]: the JSON Schema of a type, in the form for tools.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// Returns the JSON Schema (2020-12) of a type, for a tool's `parameters` or `output`.
///
/// To save tokens it omits `$schema`, titles that are Rust type names, and all references except those of recursive types. Every
/// object has `properties`, because some providers refuse one without.
///
/// ```
/// use serde_json::json;
/// use tools::{JsonSchema, schema_of};
///
/// #[derive(JsonSchema)]
/// struct Add {
///     /// The first.
///     a: i32,
/// }
///
/// assert_eq!(schema_of::<Add>(), json!({
///     "type": "object",
///     "properties": {"a": {"type": "integer", "format": "int32", "description": "The first."}},
///     "required": ["a"],
/// }));
/// ```
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let settings = settings.with_transform(RecursiveTransform(with_properties));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if schema
        .get("title")
        .is_some_and(|title| *title == *T::schema_name())
    {
        schema.remove("title");
    }
    schema.to_value()
}

fn with_properties(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        schema
            .ensure_object()
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[schemars(crate = "schemars")]
    #[allow(dead_code)]
    struct Nothing {}

    #[derive(JsonSchema)]
    #[schemars(crate = "schemars", deny_unknown_fields)]
    #[allow(dead_code)]
    struct Tree {
        /// The branches.
        branches: Vec<Tree>,
        /// Inlined.
        nothing: Nothing,
    }

    #[test]
    fn a_struct_without_fields_has_empty_properties() {
        assert_eq!(
            schema_of::<Nothing>(),
            json!({"type": "object", "properties": {}})
        );
    }

    #[test]
    fn only_recursion_makes_references() {
        let schema = schema_of::<Tree>();
        assert_eq!(
            schema["properties"]["nothing"]["properties"],
            json!({}),
            "{schema}"
        );
        assert!(
            schema.get("$schema").is_none() && schema.get("title").is_none(),
            "{schema}"
        );
        let reference = schema["properties"]["branches"]["items"]["$ref"]
            .as_str()
            .unwrap();
        assert!(
            schema.pointer(reference.trim_start_matches('#')).is_some(),
            "{schema}"
        );
    }

    #[test]
    fn a_title_that_the_author_wrote_stays() {
        #[derive(JsonSchema)]
        #[schemars(crate = "schemars", title = "A thing")]
        struct Titled {}
        assert_eq!(schema_of::<Titled>()["title"], "A thing");
    }
}
