//! Reads the arguments of a call as they were sent.

use serde_json::Value;
use serde_json::value::RawValue;
use tools::Json;

/// Returns the arguments of a call. A text that holds one object counts as the object. Arguments that are not one JSON object are
/// returned as text, with the reason.
pub(crate) fn arguments(sent: String) -> (Json, Option<String>) {
    // Some services write calls without arguments so.
    if matches!(sent.trim(), "" | "null" | "\"\"" | "\"null\"") {
        return (Json::default(), None);
    }
    let sent = the_only_object(&sent).map(str::to_owned).unwrap_or(sent);
    let parsed = Json::parse(sent.as_str());
    let reason = match parsed {
        Ok(json) if json.node().is_object() => return (json, None),
        Ok(json) => match (inner_object(&json), json.node().as_str()) {
            (Some(inner), _) => return (inner, None),
            (None, Some(_)) => "they are a string".to_owned(),
            (None, None) => "they are another JSON value".to_owned(),
        },
        Err(error) => error.to_string(),
    };
    (Value::String(sent).into(), Some(reason))
}

/// Returns the object that a text repeats, or that follows an empty one in it. Returns `None` if the text is anything else.
fn the_only_object(text: &str) -> Option<&str> {
    let documents: Result<Vec<&RawValue>, _> = serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect();
    let mut documents = documents.ok().filter(|documents| documents.len() > 1)?;
    documents.retain(|document| document.get() != "{}");
    let (first, rest) = documents.split_first()?;
    let is_object =
        first.get().starts_with('{') && rest.iter().all(|other| other.get() == first.get());
    is_object.then(|| first.get())
}

/// Returns the object that a string holds.
fn inner_object(json: &Json) -> Option<Json> {
    Json::parse(json.node().as_str()?)
        .ok()
        .filter(|inner| inner.node().is_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_object_that_was_written_or_a_fault() {
        for (sent, read) in [
            (
                r#"{"n":123456789012345678901234567890}"#,
                Some(r#"{"n":123456789012345678901234567890}"#),
            ),
            ("", Some("{}")),
            (" null ", Some("{}")),
            (r#""{\"a\":1}""#, Some(r#"{"a":1}"#)),
            (r#"{}{"a":1}"#, Some(r#"{"a":1}"#)),
            (r#"{"a":1}{"a":1}"#, Some(r#"{"a":1}"#)),
            (r#"{"a":1}{"a":2}"#, None),
            (r#"{"a":1,"a":2}"#, None),
            (r#"{"a":"#, None),
            ("[1]", None),
            (r#""[1]""#, None),
        ] {
            let (arguments, reason) = arguments(sent.to_owned());
            assert_eq!(reason.is_none(), read.is_some(), "{sent}: {reason:?}");
            if let Some(read) = read {
                assert_eq!(arguments.to_string(), read);
            }
        }
    }
}
