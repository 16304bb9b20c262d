//! Parameters, in words.

use agent::{Presence, parameters};
use serde_json::json;

#[test]
fn parameters_are_in_words_and_the_required_ones_come_first() {
    let schema = json!({
        "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string", "description": "The\nname."}, "c": {}},
        "required": ["b"],
    });
    let parameters = parameters(&schema);
    let parts = parameters.iter().map(|parameter| (&*parameter.name, &*parameter.values, parameter.presence.clone()));
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
fn no_text_of_a_schema_hides_anything() {
    let property = json!({"enum": ["v\u{200b}"], "default": "d\u{202e}", "description": "t\u{2066}"});
    let schema = json!({"properties": {"n\u{1b}": property}});
    let parameter = &parameters(&schema)[0];
    let text = format!("{} {} {} {}", parameter.name, parameter.values, parameter.presence, parameter.description);
    assert!(!text.contains(tools::protocol::is_invisible), "{text:?}");
    for escape in ["200b", "202e", "2066", "1b"] {
        assert!(text.contains(escape), "{escape} is not in {text}");
    }
}
