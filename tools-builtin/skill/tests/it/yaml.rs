//! Front matters that are made to be expensive.

use proptest::prelude::*;
use tools_skill::SkillText;

#[test]
fn an_alias_is_not_expanded() {
    // Expanded, the last value has 10^9 items.
    let mut text = "---\nname: bomb\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{items}]\n");
    }
    text += "metadata: *a8\ndescription: Is short\n---\nText\n";
    let read = SkillText::from_bytes(text.as_bytes());
    assert_eq!(read.front_matter.name.as_deref(), Some("bomb"));
    assert_eq!(read.front_matter.description.as_deref(), Some("Is short"));
    assert!(
        read.faults
            .iter()
            .any(|fault| fault.to_string().contains("alias")),
        "{:?}",
        read.faults
    );
    assert!(format!("{read:?}").len() < 2 * text.len());
}

#[test]
fn deep_and_long_front_matters_are_refused() {
    let deep = format!(
        "---\nname: deep\nmetadata: {}{}\n---\n",
        "[".repeat(200),
        "]".repeat(200)
    );
    let read = SkillText::from_bytes(deep.as_bytes());
    assert!(
        read.faults
            .iter()
            .any(|fault| fault.to_string().contains("too many levels")),
        "{:?}",
        read.faults
    );
    assert_eq!(read.front_matter.name.as_deref(), Some("deep"));
    let wide = format!(
        "---\nname: wide\nmetadata: [{}]\n---\n",
        "a,".repeat(20_000)
    );
    let read = SkillText::from_bytes(wide.as_bytes());
    assert!(
        read.faults
            .iter()
            .any(|fault| fault.to_string().contains("too many values")),
        "{:?}",
        read.faults
    );
    let long = format!(
        "---\nname: long\ndescription: {}\n---\nText\n",
        "a".repeat(100_000)
    );
    let read = SkillText::from_bytes(long.as_bytes());
    assert!(
        read.faults
            .iter()
            .any(|fault| fault.to_string().contains("was not read")),
        "{:?}",
        read.faults
    );
    assert_eq!(read.body, "Text\n");
}

#[test]
fn many_fields_have_few_faults() {
    // Neither is YAML, because of the last line.
    let other: String = (0..9_000).map(|number| format!("x{number}:\n")).collect();
    for (fields, name) in [
        ("name: a\n".repeat(7_000), "a"),
        (format!("name: b\n{other}"), "b"),
    ] {
        let text = format!("---\n{fields}description: b: c\n---\n");
        assert!(text.len() < 64 * 1024);
        let read = SkillText::from_bytes(text.as_bytes());
        assert_eq!(read.front_matter.name.as_deref(), Some(name));
        assert!(read.faults.len() <= 2, "{} faults", read.faults.len());
    }
}

/// Returns pieces of which front matters are made.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---\n",
        "name:",
        "description:",
        " ",
        "\n",
        "\t",
        "- ",
        "a",
        "\"",
        "'",
        "|",
        ">-",
        ": ",
        "#",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&a",
        "*a",
        "!!",
        "%",
        "...\n",
        "\r\n",
        "\u{feff}",
        "\u{fffd}",
        "é",
        "\0",
        "metadata:\n  ",
        "? ",
        "\\x",
        "allowed-tools: (",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| format!("---\n{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read(text in pieces()) {
        let read = SkillText::from_bytes(text.as_bytes());
        // No alias is expanded, and no text is made up.
        let length = format!("{:?}", read.front_matter).len();
        prop_assert!(length < 40 * text.len() + 400);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        SkillText::from_bytes(&bytes);
    }

    #[test]
    fn a_plain_description_is_the_same_with_any_reader(text in "[A-Za-z][a-z ,.;-]{0,60}[a-z.]") {
        let valid = SkillText::from_bytes(format!("---\nname: a\ndescription: {text}\n---\n").as_bytes());
        let broken = SkillText::from_bytes(format!("---\nname: a\ndescription: {text}\nother: b: c\n---\n").as_bytes());
        prop_assume!(!["null", "~"].contains(&text.as_str()));
        prop_assert_eq!(broken.faults.len(), 1);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (valid, broken) = (valid.front_matter.description.unwrap(), broken.front_matter.description.unwrap());
        prop_assert_eq!(words(&valid), words(&broken));
    }
}
