//! Finds the JSON documents in the data of an event, or in a line.
//!
//! Gateways put several documents into one event, repeat the name of the field, and send words between events, such as `ping`.

use serde_json::value::RawValue;

/// The mark that ends a stream of OpenAI's APIs.
pub(crate) const DONE: &str = "[DONE]";

/// A text has no documents alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoDocuments<'a> {
    /// Words that tell of an error.
    Words(&'a str),
    /// A document that is not JSON.
    Garbled(&'a str),
}

/// Returns the documents in this text, the elements of an array one by one, and marks of the end. Words without a meaning are left out.
///
/// # Errors
/// Returns an error if the text has words that tell of an error, or a document that is no JSON.
pub(crate) fn documents(text: &str) -> Result<Vec<&str>, NoDocuments<'_>> {
    let mut documents = Vec::new();
    let mut rest = text;
    loop {
        // A comma separates the elements of an array.
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\u{feff},".contains(c));
        if rest.is_empty() {
            return Ok(documents);
        } else if let Some(after) = rest.strip_prefix("data:") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix(DONE) {
            documents.push(DONE);
            rest = after;
        } else if rest.starts_with('{') || begins_array(rest) {
            let mut found = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
            let Some(Ok(document)) = found.next() else {
                return Err(NoDocuments::Garbled(rest));
            };
            if rest.starts_with('{') {
                documents.push(document.get());
            } else {
                let elements: Vec<&RawValue> =
                    serde_json::from_str(document.get()).unwrap_or_default();
                documents.extend(elements.into_iter().map(RawValue::get));
            }
            rest = &rest[found.byte_offset()..];
        } else {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if line.to_ascii_lowercase().contains("error") {
                return Err(NoDocuments::Words(line));
            }
            rest = after;
        }
    }
}

/// Returns the text without white space if it looks like one document. It may be several, which its reader finds out: to look for the end of
/// a document costs as much as to read it. One whose escapes may be parts of characters is none, because these count in each document.
pub(crate) fn probable_document(text: &str) -> Option<&str> {
    let text = text.trim();
    let has_parts = ["\\ud", "\\uD"].iter().any(|escape| text.contains(escape));
    (text.starts_with('{') && text.ends_with('}') && !has_parts).then_some(text)
}

fn begins_array(text: &str) -> bool {
    text.strip_prefix('[')
        .is_some_and(|inner| inner.trim_start().starts_with(['{', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_wherever_they_are() {
        for (text, expected) in [
            (r#" {"a":1}"#, &[r#"{"a":1}"#][..]),
            (
                "{\"a\":1}{\"b\":2}\n{\"c\":\"}{\"} [DONE] \n",
                &[r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":"}{"}"#, DONE],
            ),
            (" data: {\"a\":1}\r\n", &[r#"{"a":1}"#]),
            ("ping\n{\"a\":1}", &[r#"{"a":1}"#]),
            (r#"[{"a":1}, {"b":2}]"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
            ("{\"a\":\n1}", &["{\"a\":\n1}"]),
            ("\u{feff}{}", &["{}"]),
            ("", &[]),
        ] {
            assert_eq!(documents(text), Ok(expected.to_vec()), "{text}");
        }
        for words in ["upstream Error 7", "[ERROR] timeout"] {
            assert_eq!(
                documents(&format!("{{}}\n{words}\n{{}}")),
                Err(NoDocuments::Words(words))
            );
        }
        assert_eq!(documents("{}{\"a"), Err(NoDocuments::Garbled("{\"a")));
    }
}
