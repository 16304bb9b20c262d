//! Valid, invalid and foreign names.

use proptest::prelude::*;
use protocol::{InvalidName, ToolName};

use crate::sample::config;

#[test]
fn the_whole_set_is_allowed() {
    for name in ["a", "fs.read", "github/search:code", "A-Z_09", "100%25"] {
        assert_eq!(ToolName::new(name).unwrap().as_str(), name);
    }
}

#[test]
fn an_error_shows_the_offending_character() {
    assert_eq!(ToolName::new(""), Err(InvalidName::Empty));
    assert_eq!(
        ToolName::new(" \t"),
        Err(InvalidName::Blank { name: " \t".into() })
    );
    for (name, character, position) in [
        ("fs read", ' ', 2),
        ("a\0", '\0', 1),
        ("naïve", 'ï', 2),
        ("a\u{202e}b", '\u{202e}', 1),
    ] {
        let error = ToolName::new(name).unwrap_err();
        assert_eq!(
            error,
            InvalidName::Character {
                name: name.into(),
                character,
                position
            }
        );
        assert!(
            error
                .to_string()
                .contains(&format!("U+{:04X}", character as u32)),
            "{error}"
        );
    }
}

#[test]
fn the_length_ends_at_512() {
    assert!(ToolName::new("x".repeat(512)).is_ok());
    assert_eq!(
        ToolName::new("x".repeat(513)),
        Err(InvalidName::TooLong { length: 513 })
    );
    assert!(
        ToolName::from_foreign(&"é".repeat(86)).is_err(),
        "86 letters of two bytes are 516 characters"
    );
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_name_is_what_the_rule_says(text in any::<String>()) {
        let fits = !text.is_empty()
            && text.len() <= 512
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:/%-".contains(&b));
        prop_assert_eq!(ToolName::new(&text).is_ok(), fits);
    }

    #[test]
    fn a_foreign_name_comes_back_unchanged(text in "\\PC{1,40}|[ -~]{1,100}|[%A-F0-9]{1,40}|[\\x00-\\x1f]{1,20}") {
        let name = ToolName::from_foreign(&text).unwrap();
        prop_assert_eq!(percent_encoding::percent_decode_str(&name).decode_utf8().unwrap(), text);
    }

    #[test]
    fn two_foreign_names_never_meet(a in "[ -~é]{1,20}", b in "[ -~é]{1,20}") {
        prop_assume!(a != b);
        prop_assert_ne!(ToolName::from_foreign(&a).unwrap(), ToolName::from_foreign(&b).unwrap());
    }

    #[test]
    fn a_name_survives_json(text in "[A-Za-z0-9_.:/%-]{1,60}") {
        let name = ToolName::new(&text).unwrap();
        let json = serde_json::to_string(&name).unwrap();
        prop_assert_eq!(serde_json::from_str::<ToolName>(&json).unwrap(), name);
    }
}
