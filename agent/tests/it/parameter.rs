//! Parameters, in words.

use agent::{Parameter, Presence, parameters};
use serde_json::json;

#[test]
fn parameters_are_in_words_and_the_required_ones_come_first() {
    let schema = json!({
        "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string", "description": "The\nname."}, "c": {}},
        "required": ["b"],
    });
    let parameters = parameters(&schema);
    let parts = parameters.iter().map(|parameter| {
        (
            &*parameter.name,
            &*parameter.values,
            parameter.presence.clone(),
        )
    });
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [
            ("b", "a string", Presence::Required),
            ("a", "an integer", Presence::Default("1".to_owned())),
            ("c", "anything", Presence::Optional),
        ]
    );
    assert_eq!(parameters[0].description, "The name.");
    assert!(agent::parameters(&json!({"type": "object"})).is_empty());
}

#[test]
fn a_string_has_its_pattern() {
    let word = json!({"type": "string", "pattern": "^\\w+$"});
    let schema = json!({
        "properties": {"a": word, "b": {"anyOf": [{"$ref": "#/$defs/word"}, {"type": "null"}]}, "c": {"type": "string"}},
        "$defs": {"word": word},
    });
    let patterns: Vec<_> = parameters(&schema)
        .into_iter()
        .map(|parameter| parameter.pattern)
        .collect();
    assert_eq!(
        patterns,
        [Some("^\\w+$".to_owned()), Some("^\\w+$".to_owned()), None]
    );
}

#[test]
fn no_text_of_a_schema_hides_anything() {
    let property =
        json!({"enum": ["v\u{200b}"], "default": "d\u{202e}", "description": "t\u{2066}"});
    let schema = json!({"properties": {"n\u{1b}": property, "o": {"type": "string", "pattern": "\u{200d}"}}});
    let parameters = parameters(&schema);
    let text = parameters.iter().map(|parameter| {
        let Parameter {
            name,
            values,
            presence,
            description,
            pattern,
            ..
        } = parameter;
        format!("{name} {values} {presence} {description} {pattern:?}")
    });
    let text: String = text.collect();
    assert!(!text.contains(tools::protocol::is_invisible), "{text:?}");
    for escape in ["200b", "202e", "2066", "1b", "200d"] {
        assert!(text.contains(escape), "{escape} is not in {text}");
    }
}
