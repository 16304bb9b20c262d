//! [`readable`]: the answer by which a server introduces itself, without its defects.

use rmcp::model::{Implementation, InitializeResult, ServerCapabilities};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The revision of a server that names none: the newest with an introduction.
const REVISION: &str = "2025-11-25";

/// The fields of an introduction, each of which tells it from another answer.
const FIELDS: [&str; 3] = ["protocolVersion", "capabilities", "serverInfo"];

/// The fields of other answers with some of these.
const OTHERS: [&str; 2] = ["supportedVersions", "content"];

/// Returns an introduction as the parser of the protocol takes it. Returns `None` for one without defects, and for other answers.
///
/// A server without capabilities is asked for its tools. One without a name or a revision is taken as it is.
pub(super) fn readable(answer: &str) -> Option<String> {
    if !FIELDS.iter().any(|field| answer.contains(field)) {
        return None;
    }
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let result = answer.get_mut("result")?.as_object_mut()?;
    if !has_any(result, &FIELDS) || has_any(result, &OTHERS) {
        return None;
    }
    let stated = result.get("capabilities").and_then(Value::as_object);
    let has_capabilities = stated.is_some_and(|fields| !fields.values().all(Value::is_null));
    if has_capabilities && InitializeResult::deserialize(&*result).is_ok() {
        return None;
    }
    let version = result.remove("protocolVersion").filter(Value::is_string);
    let version = version.unwrap_or_else(|| json!(REVISION));
    let capabilities = capabilities(result.remove("capabilities").unwrap_or_default());
    let mut introduction = json!({"protocolVersion": version, "capabilities": capabilities});
    introduction["serverInfo"] = name(result.remove("serverInfo").unwrap_or_default());
    if let Some(instructions) = result.remove("instructions").filter(Value::is_string) {
        introduction["instructions"] = instructions;
    }
    *result = introduction.as_object()?.clone();
    Some(answer.to_string())
}

/// Returns the capabilities, each without settings that have another form.
fn has_any(fields: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().any(|name| fields.contains_key(*name))
}

fn capabilities(value: Value) -> Value {
    let Value::Object(mut fields) = value else {
        return json!({"tools": {}});
    };
    fields.retain(|_, value| !value.is_null() && *value != false);
    for value in fields.values_mut().filter(|value| !value.is_object()) {
        *value = json!({});
    }
    if fields.is_empty() {
        return json!({"tools": {}});
    }
    let mut capabilities = Value::Object(fields);
    if ServerCapabilities::deserialize(&capabilities).is_err() {
        capabilities
            .as_object_mut()
            .into_iter()
            .flat_map(Map::values_mut)
            .for_each(|value| *value = json!({}));
    }
    capabilities
}

/// Returns the name and the version of the server.
fn name(value: Value) -> Value {
    if Implementation::deserialize(&value).is_ok() {
        return value;
    }
    let text = |field: &str| match value.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(number @ Value::Number(_)) => number.to_string(),
        _ => String::new(),
    };
    json!({"name": text("name"), "version": text("version")})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(result: Value) -> Option<Value> {
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        readable(&answer).map(|read| serde_json::from_str::<Value>(&read).unwrap()["result"].take())
    }

    #[test]
    fn an_introduction_with_defects_is_read() {
        let whole = json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}, "instructions": "i",
        });
        assert_eq!(read(whole.clone()), None);
        for (field, value, is) in [
            ("capabilities", None, json!({"tools": {}})),
            ("capabilities", Some(json!({})), json!({"tools": {}})),
            (
                "capabilities",
                Some(json!({"tools": null})),
                json!({"tools": {}}),
            ),
            ("capabilities", Some(json!(["tools"])), json!({"tools": {}})),
            (
                "capabilities",
                Some(
                    json!({"tools": {"listChanged": "yes"}, "logging": true, "prompts": null, "resources": false}),
                ),
                json!({"tools": {}, "logging": {}}),
            ),
            ("serverInfo", None, json!({"name": "", "version": ""})),
            (
                "serverInfo",
                Some(json!({"name": "s", "version": 1})),
                json!({"name": "s", "version": "1"}),
            ),
            (
                "serverInfo",
                Some(json!("s")),
                json!({"name": "", "version": ""}),
            ),
            ("protocolVersion", None, json!("2025-11-25")),
            ("protocolVersion", Some(json!(1.0)), json!("2025-11-25")),
            ("instructions", Some(json!(["i"])), Value::Null),
        ] {
            let mut defective = whole.clone();
            match value {
                Some(value) => defective[field] = value,
                None => drop(defective.as_object_mut().unwrap().remove(field)),
            }
            let read = read(defective).unwrap_or_else(|| panic!("{field}"));
            assert_eq!(read.get(field).cloned().unwrap_or_default(), is);
            InitializeResult::deserialize(&read).unwrap();
        }
    }

    #[test]
    fn other_answers_stay_as_they_are() {
        for other in [
            json!({"content": [], "serverInfo": 1}),
            json!({"tools": [{"name": "capabilities"}]}),
            json!({"supportedVersions": [], "capabilities": {}, "serverInfo": 1}),
            json!([{"protocolVersion": 1}]),
        ] {
            assert_eq!(read(other), None);
        }
    }
}
