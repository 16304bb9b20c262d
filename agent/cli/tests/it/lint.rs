use serde_json::Value;

use crate::Crib;

#[test]
fn the_built_in_tools_have_no_findings() {
    let ended = Crib::new().run(&["lint", "--deny", "warnings"]).expect(0);
    assert!(
        ended.stderr.is_empty() && ended.stdout.contains("0 errors, 0 warnings"),
        "{ended:#?}"
    );
    assert!(
        ended.stdout.lines().all(|line| line.chars().count() <= 80),
        "{ended:#?}"
    );
}

#[test]
fn a_named_tool_is_shown_in_each_format() {
    let page = Crib::new().run(&["lint", "fs.read"]).expect(0).stdout;
    for part in [
        "toolcrib-fs ",
        "openai-chat",
        "fs__read",
        "mcp",
        "fs.read",
        "strict",
        "no strict mode",
        "is removed; accepts more",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert!(
        !page.contains("fs.write") && page.lines().all(|line| line.chars().count() <= 80),
        "{page}"
    );
    assert_eq!(
        Crib::new()
            .run(&["lint", "-l", "--select", "fs.read"])
            .expect(0)
            .stdout,
        page
    );
    let unknown = Crib::new().run(&["lint", "fs.raed"]).expect(3);
    assert!(unknown.stderr.contains("fs.read"), "{unknown:#?}");
}

#[test]
fn json_has_the_form_of_each_tool_in_each_format() {
    let crib = Crib::new();
    let documents = crib
        .run(&["lint", "--json", "--select", "fs.*"])
        .expect(0)
        .documents();
    let read = documents
        .iter()
        .find(|document| document["tool"] == "fs.read")
        .unwrap();
    assert!(
        documents.len() > 3
            && documents
                .iter()
                .all(|it| it["tool"].as_str().unwrap().starts_with("fs."))
    );
    assert_eq!(read["faults"], serde_json::json!([]));
    assert_eq!(
        (
            &read["wires"]["anthropic"]["name"],
            &read["wires"]["mcp"]["name"]
        ),
        (&"fs__read".into(), &"fs.read".into())
    );
    assert_eq!(
        (
            &read["wires"]["openai-chat"]["strict"],
            &read["wires"]["gemini"]["strict"]
        ),
        (&true.into(), &false.into())
    );
    let change = &read["wires"]["gemini"]["changes"][0];
    assert!(
        ["pointer", "change", "fidelity"]
            .iter()
            .all(|key| change[key].is_string()),
        "{change}"
    );
    let tokens = |format: &str| read["wires"][format]["tokens"].as_u64().unwrap();
    assert!(
        tokens("openai-chat") > 50 && tokens("openai-chat") < 1_000,
        "{read}"
    );
    assert_eq!(read["wires"]["anthropic"]["tokens_are_estimated"], true);
    assert_eq!(
        read["wires"]["openai-chat"]["tokens_are_estimated"],
        Value::Bool(cfg!(not(feature = "default")))
    );
}

#[test]
fn a_glob_that_matches_no_tool_is_a_warning_that_can_be_denied() {
    let crib = Crib::new();
    let lint = ["lint", "--select", "nosuch"];
    let ended = crib.run(&lint).expect(0);
    assert!(
        ended.stderr.contains("no tool matches nosuch"),
        "{ended:#?}"
    );
    crib.run(&[&lint[..], &["--deny", "warnings"]].concat())
        .expect(1);
    crib.run(&["lint", "--select", "fs.*", "--deny", "warnings"])
        .expect(0);
}
