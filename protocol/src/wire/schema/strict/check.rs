//! Finds the reason that a rewritten schema has no strict form.

use serde_json::{Map, Value};

use crate::wire::schema::dialect::{Dialect, References};
use crate::wire::schema::document::Document;
use crate::wire::schema::keyword::{escaped, members, types};
use crate::wire::schema::rule::alternative::tag;
use crate::wire::schema::unsendable::NotStrict;

/// Checks the schema that a strict dialect's rules made.
///
/// # Errors
/// Returns the reason that the service would refuse it, or that its calls could not be read back.
pub(in crate::wire::schema) fn check(root: &Value, document: &Document, dialect: &Dialect) -> Result<(), NotStrict> {
    if dialect.references == References::AloneWithoutRecursion {
        for (name, definition) in &document.definitions {
            if document.is_recursive(name) {
                return Err(NotStrict::Recursive { pointer: definition.pointer.clone() });
            }
        }
    }
    let definitions = root.as_object().and_then(|root| members(root, "$defs"));
    schema(root, String::new(), definitions)?;
    for (name, definition) in definitions.into_iter().flatten() {
        schema(definition, format!("/$defs/{}", escaped(name)), definitions)?;
    }
    Ok(())
}

fn schema(value: &Value, pointer: String, definitions: Option<&Map<String, Value>>) -> Result<(), NotStrict> {
    let Value::Object(keywords) = value else { return Err(NotStrict::AnyValue { pointer }) };
    if keywords.contains_key("$ref") {
        return Ok(());
    }
    if keywords.contains_key("prefixItems") {
        return Err(NotStrict::Tuple { pointer });
    }
    let types = types(keywords);
    let has = |name: &str| types.as_ref().is_some_and(|types| types.contains(&name));
    if has("object") || keywords.contains_key("properties") {
        object(keywords, &pointer, definitions)?;
    }
    if let Some(Value::Array(branches)) = keywords.get("anyOf") {
        union(branches, &pointer, definitions)?;
    } else if types.is_none() {
        return Err(NotStrict::AnyValue { pointer });
    }
    match keywords.get("items") {
        Some(items) => schema(items, format!("{pointer}/items"), definitions),
        None if has("array") => Err(NotStrict::AnyValue { pointer: format!("{pointer}/items") }),
        None => Ok(()),
    }
}

fn object(
    keywords: &Map<String, Value>,
    pointer: &str,
    definitions: Option<&Map<String, Value>>,
) -> Result<(), NotStrict> {
    let properties = members(keywords, "properties");
    let is_free = properties.is_none_or(Map::is_empty) && !pointer.is_empty();
    let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed || is_free || keywords.contains_key("patternProperties") {
        return Err(NotStrict::OpenObject { pointer: pointer.to_owned() });
    }
    if keywords.contains_key("anyOf") {
        return Err(NotStrict::MixedUnion { pointer: pointer.to_owned() });
    }
    for (key, property) in properties.into_iter().flatten() {
        schema(property, format!("{pointer}/properties/{}", escaped(key)), definitions)?;
    }
    Ok(())
}

fn union(branches: &[Value], pointer: &str, definitions: Option<&Map<String, Value>>) -> Result<(), NotStrict> {
    let mut objects = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        schema(branch, format!("{pointer}/anyOf/{index}"), definitions)?;
        let name = branch.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
        let target = name.and_then(|name| definitions?.get(name)).unwrap_or(branch);
        let Some(keywords) = target.as_object() else { continue };
        if keywords.contains_key("anyOf") && branches.len() > 2 {
            return Err(NotStrict::UntaggedUnion { pointer: pointer.to_owned() });
        }
        if types(keywords).is_some_and(|types| types.contains(&"object")) {
            objects.push(target.clone());
        }
    }
    if objects.len() > 1 && tag(&objects).is_none() {
        return Err(NotStrict::UntaggedUnion { pointer: pointer.to_owned() });
    }
    Ok(())
}
