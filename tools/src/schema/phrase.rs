//! Short, printable text for values of any size, for use in error messages.

use std::fmt::Write as _;

use protocol::canonical_json;
use serde_json::Value;

use super::walk;
use crate::visible::visible_json;

/// The longest value that is shown as JSON, in characters.
const SHOWN: usize = 64;
const SHORT: usize = 4 * SHOWN;

/// Returns the value as JSON with sorted keys, or a description if that is longer than 64 characters.
pub(crate) fn show(value: &Value) -> String {
    if is_small(value) {
        let json = canonical_json(value);
        let json = visible_json(&json);
        if json.chars().count() <= SHOWN {
            return json.into_owned();
        }
    }
    match value {
        Value::String(text) => {
            format!("a string of {}", characters(text.chars().count() as u64))
        }
        Value::Array(list) => format!("an array of {}", items(list.len() as u64)),
        Value::Object(members) => format!("an object with {}", properties(members.len() as u64)),
        Value::Null | Value::Bool(_) | Value::Number(_) => "a number".into(),
    }
}

/// Returns false for values that are surely longer than [`SHOWN`] as JSON, so that a large value costs no more than a small one.
fn is_small(value: &Value) -> bool {
    walk::values(value).take(SHOWN + 1).count() <= SHOWN
        && walk::values(value).all(|(value, _)| match value {
            Value::String(text) => text.len() <= SHORT,
            Value::Object(members) => members.keys().all(|name| name.len() <= SHORT),
            _ => true,
        })
}

/// Returns the text in backquotes, cut after `most` characters, with invisible characters escaped.
pub(crate) fn quote(text: &str, most: usize) -> String {
    format!("`{}`", visible(text, most))
}

/// Returns the text, cut after `most` characters and marked with `…`, with invisible characters escaped.
pub(super) fn visible(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", visible_json(&text[..end])),
        None => visible_json(text).into_owned(),
    }
}

/// Returns a sorted list of names in backquotes. A long list ends with the number of names left out.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    // The order of a map depends on a feature of serde_json that other crates switch on.
    names.sort_unstable();
    join_items(names.iter().map(|name| quote(name, SHOWN)), ", ")
}

/// Returns a list of values in the given order. A long list ends with the number of values left out.
pub(super) fn options<'a>(options: impl IntoIterator<Item = &'a Value>) -> String {
    join_items(options.into_iter().map(show), ", ")
}

/// Returns a JSON pointer as it appears in a sentence.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() {
        "the top level".into()
    } else {
        format!("`{pointer}`")
    }
}

/// Formats `12345` as `12,345`.
pub(super) fn group_digits(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a count with its noun in the right number, such as `1 item` or `1,200 items`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        group_digits(number),
        if number == 1 { one } else { many }
    )
}

/// Returns the kind of a JSON value with its article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(super) fn characters(limit: u64) -> String {
    counted(limit, "character", "characters")
}

pub(super) fn items(limit: u64) -> String {
    counted(limit, "item", "items")
}

pub(super) fn properties(limit: u64) -> String {
    counted(limit, "property", "properties")
}

fn join_items(items: impl Iterator<Item = String>, separator: &str) -> String {
    const MOST_ITEMS: usize = 20;
    const MOST_CHARACTERS: usize = 400;
    let mut out = String::new();
    let mut length = 0;
    let mut more = 0usize;
    for (index, item) in items.enumerate() {
        let characters = item.chars().count();
        if more > 0 || index >= MOST_ITEMS || length + characters > MOST_CHARACTERS {
            more += 1;
            continue;
        }
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&item);
        length += characters;
    }
    if more > 0 {
        let _ = write!(out, " and {} more", group_digits(more));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::is_invisible;
    use serde_json::json;

    use super::*;
    use crate::visible::readable;

    #[test]
    fn short_values_are_shown_with_sorted_keys() {
        assert_eq!(
            show(&json!({"b": [1, null], "a": "x\u{7}\u{202e}"})),
            r#"{"a":"x\u0007\u202e","b":[1,null]}"#
        );
    }

    #[test]
    fn no_invisible_character_is_shown_as_it_is() {
        for character in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
            let text = format!("a{character}b");
            for shown in [
                show(&json!(text)),
                quote(&text, 8),
                readable(&text).into_owned(),
            ] {
                let kept = shown.contains(is_invisible);
                assert!(
                    !kept || (shown == text && matches!(character, '\n' | '\t')),
                    "{character:?}: {shown:?}"
                );
            }
            assert_eq!(
                serde_json::from_str::<String>(&show(&json!(text))).unwrap(),
                text
            );
        }
    }

    #[test]
    fn long_values_are_described() {
        assert_eq!(
            show(&json!("x".repeat(12_345))),
            "a string of 12,345 characters"
        );
        assert_eq!(show(&json!(vec![0; 100])), "an array of 100 items");
        assert_eq!(show(&json!(["x".repeat(100)])), "an array of 1 item");
        assert_eq!(
            show(&json!({"x": "x".repeat(100)})),
            "an object with 1 property"
        );
        let wide: serde_json::Map<_, _> = (0..1000).map(|i| (i.to_string(), Value::Null)).collect();
        assert_eq!(
            show(&Value::Object(wide)),
            "an object with 1,000 properties"
        );
    }

    #[test]
    fn long_lists_say_how_many_more() {
        let options: Vec<Value> = (0..50).map(Value::from).collect();
        let text = super::options(&options);
        assert!(text.ends_with("19 and 30 more"), "{text}");
    }

    proptest! {
        #[test]
        fn shown_text_is_short_and_printable(text in any::<String>(), repeat in 0usize..100) {
            for value in [json!(text.repeat(repeat)), json!([text]), json!({ text.clone(): text })] {
                let shown = show(&value);
                prop_assert!(shown.chars().count() <= SHOWN);
                prop_assert!(!shown.contains(is_invisible));
            }
        }
    }
}
