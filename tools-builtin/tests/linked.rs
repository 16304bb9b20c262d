//! Link-time registration. Only the next line names the facade, so nothing else can have linked the tools. CI runs this binary in
//! debug, with `--profile quick-lto` and with `--profile release-lto`.

use tools_builtin as _;

use tools::Entry;
use tools::protocol::canonical_json;

const NAMES: &str = include_str!("names.txt");

#[test]
fn linked_tools_match_the_golden_list() {
    let entries = tools::list();
    let linked: Vec<&str> = entries.iter().map(|entry| entry.name().as_str()).collect();
    assert_eq!(linked, NAMES.lines().collect::<Vec<_>>(), "write a new tool down in tests/names.txt");
    assert_eq!(tools::conflicts(), []);
    assert!(tools::problems().is_empty(), "{:?}", tools::problems());
}

#[test]
fn every_crate_contributes() {
    tools::expect_linked!("toolcrib-fs", "toolcrib-time").unwrap();
}

#[test]
fn every_tool_keeps_the_house_rules() {
    let faults: Vec<String> = tools::list().iter().flat_map(|entry| faults(entry)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults(entry: &Entry) -> Vec<String> {
    let tool = entry.tool();
    let mut faults = Vec::new();
    let mut expect = |holds: bool, rule: String| {
        if !holds {
            faults.push(format!("{}: {rule}", tool.name));
        }
    };
    let is_sentence = |text: &str| text.ends_with('.') && text.starts_with(char::is_uppercase);
    expect(is_sentence(&tool.description), "the description is a sentence with a full stop".into());
    expect(tool.title.is_some(), "it has a title".into());
    expect(!tool.tags.is_empty(), "it has a tag".into());
    expect(!tool.effects.is_undeclared(), "it declares its effects".into());
    expect(!tool.examples.is_empty(), "it has an example".into());
    expect(tool.parameters["additionalProperties"] == false, "undeclared arguments are refused".into());
    expect(tool.name.contains('.'), "the name has a group and a dot".into());
    for (name, property) in tool.parameters["properties"].as_object().into_iter().flatten() {
        let description = property["description"].as_str().unwrap_or_default();
        expect(is_sentence(description), format!("`{name}` is described in sentences"));
    }
    expect(canonical_json(&tool.parameters).len() < 4096, "the schema is short: it is in every request".into());
    faults
}
