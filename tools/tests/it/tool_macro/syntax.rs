//! `#[tool]` has its own copies of two rules of `protocol`. They accept the same texts.

#[path = "../../../macros/src/name.rs"]
mod name;
#[path = "../../../macros/src/template.rs"]
mod template;

use proptest::prelude::*;
use protocol::{Template, ToolName};

#[test]
fn the_length_of_a_name_is_bounded_as_in_protocol() {
    for length in [0, 1, 512, 513] {
        let text = "x".repeat(length);
        assert_eq!(
            name::error(&text).is_none(),
            ToolName::new(&text).is_ok(),
            "{length}"
        );
    }
}

fn templates() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "fs",
        "net",
        "world",
        "9",
        ":",
        "{",
        "}",
        "{path}",
        "{url|host}",
        "{a|path}",
        "{a|b}",
        "{ }",
        "|",
        "a",
        "C",
        "/",
        "..",
        ".",
        "\\",
        "\n",
        "é",
        " ",
        "git",
        "'",
        "~",
        "{{",
        "{*}",
    ]);
    let scheme = prop::sample::select(vec!["", "fs:", "net:", "world:", "exec:", "exec:", "Fs:"]);
    (scheme, prop::collection::vec(piece, 0..6))
        .prop_map(|(scheme, pieces)| scheme.to_owned() + &pieces.concat())
}

proptest! {
    #[test]
    fn a_name_is_accepted_exactly_when_protocol_accepts_it(text in "[a-zA-Z0-9_.:/%\\- é\\n]{0,4}|.{0,3}") {
        prop_assert_eq!(name::error(&text).is_none(), ToolName::new(&text).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_template_is_accepted_exactly_when_protocol_accepts_it(text in templates()) {
        let ours = template::fields(&text);
        let theirs = text.parse::<Template>().map(|t| t.fields().map(str::to_owned).collect::<Vec<_>>());
        prop_assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{:?} {:?}", &ours, &theirs);
    }
}
