//! Reads the arguments of a call as they were sent.

use serde_json::Value;
use serde_json::value::RawValue;
use tools::Json;

use crate::raw::{Fields, Raw};

/// The names of the arguments of a call, in all APIs. Gateways use those of other ones.
pub(crate) const NAMES: [&str; 4] = ["arguments", "args", "input", "parameters"];

/// Returns the arguments in the members of a call, under the name of the API or that of another one.
pub(crate) fn find_arguments<'a>(call: &Fields<'a>, own: &str) -> Raw<'a> {
    let stated = call.get(own);
    if stated.is_null() {
        call.first(&NAMES)
    } else {
        stated
    }
}

/// Returns the arguments of a call. A text that holds one object counts as the object. Arguments that are not one JSON object are
/// returned as text, with the reason.
pub(crate) fn arguments(mut sent: String) -> (Json, Option<String>) {
    // Some services quote the arguments once more, or twice.
    for _ in 0..2 {
        // A string that holds no object stays a string, which is a fault of the call.
        match serde_json::from_str::<String>(&sent) {
            Ok(inner) if is_quoted(inner.trim()) => sent = inner,
            _ => break,
        }
    }
    // Some services write calls without arguments so.
    if matches!(sent.trim(), "" | "null") {
        return (Json::default(), None);
    }
    // A gateway that repeats the whole arguments means one call. Two different objects stay a fault, because neither is known to be meant.
    let sent = the_only_object(&sent).map(str::to_owned).unwrap_or(sent);
    let reason = match Json::parse(sent.as_str()) {
        Ok(json) if json.node().is_object() => return (json, None),
        Ok(json) if json.node().as_str().is_some() => "they are a string".to_owned(),
        Ok(_) => "they are another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    // The text is kept for the error, so that the model sees what it wrote.
    (Value::String(sent).into(), Some(reason))
}

/// Returns the object that a text repeats, or that follows an empty one in it. Returns `None` if the text is anything else.
fn the_only_object(text: &str) -> Option<&str> {
    let documents = serde_json::Deserializer::from_str(text).into_iter();
    let documents: Result<Vec<&RawValue>, _> = documents.collect();
    let mut documents = documents.ok().filter(|documents| documents.len() > 1)?;
    documents.retain(|document| document.get() != "{}");
    let (first, rest) = documents.split_first()?;
    let is_object =
        first.get().starts_with('{') && rest.iter().all(|other| other.get() == first.get());
    is_object.then(|| first.get())
}

/// Returns true if the text in a string is what arguments are: an object, nothing, or a string with them.
fn is_quoted(text: &str) -> bool {
    matches!(text, "" | "null") || text.starts_with(['{', '"'])
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
