use serde_json::{Value, json};

use crate::Crib;
use crate::config::{user_file, write_user};

/// Returns the explanation of a call.
fn explained(crib: &Crib, arguments: &[&str]) -> Value {
    crib.run(&[&["why"], arguments, &["--json"]].concat())
        .expect(0)
        .document()
}

fn verdict(crib: &Crib, arguments: &[&str]) -> String {
    explained(crib, arguments)["verdict"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_call_is_explained_by_its_clause_and_the_place_that_sets_it() {
    let crib = Crib::new();
    let page = crib
        .run(&["why", "fs.read", "path=README.md"])
        .expect(0)
        .stdout;
    for part in [
        "is allowed",
        "fs:read:README.md",
        "granted by `fs:read:**` (default)",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    let page = crib
        .run(&["why", "fs.write", "path=a", "content=x"])
        .expect(0)
        .stdout;
    for part in [
        "is asked about",
        "no clause of the grant covers it; --grant fs:write:a would",
        "asks by default",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert!(!crib.root().join("a").exists(), "nothing is run");
}

#[test]
fn the_deciding_rule_has_a_file_and_a_line_and_without_it_the_answer_changes() {
    let crib = Crib::new();
    let rule = "[[policy]]\nverdict = \"deny\"\ntarget = \"fs:read:sub/**\"\n";
    let grant = "grants = [\n  \"fs:write:sub/**\",\n]\n";
    let read = ["fs.read", "path=sub/inner.txt"];
    let write = ["fs.write", "path=sub/a", "content=x"];

    write_user(&crib, &format!("{grant}{rule}"));
    let file = user_file(&crib);
    let origin = |line: usize| json!([format!("{}:{line}", file.display())]);
    let denied = explained(&crib, &read);
    assert_eq!(
        (&denied["verdict"], &denied["rulings"][0]["target"]),
        (&json!("deny"), &json!("fs:read:sub/inner.txt"))
    );
    let rules = &denied["rulings"][0]["reasons"][0]["rules"];
    assert_eq!(
        *rules,
        json!([{"rule": "deny every tool on fs:read:sub/**", "origins": origin(4)}])
    );
    let page = crib.run(&[&["why"], &read[..]].concat()).expect(0).stdout;
    assert!(
        page.contains("is refused") && page.contains("toolcrib.toml:4)"),
        "{page}"
    );

    let allowed = explained(&crib, &write);
    assert_eq!(allowed["verdict"], "allow");
    let reasons = &allowed["rulings"][0]["reasons"];
    assert_eq!(
        reasons[0]["clauses"],
        json!([{"clause": "fs:write:sub/**", "origins": origin(2)}])
    );
    assert_eq!(
        reasons[1]["rules"][0]["origins"],
        origin(2),
        "a grant is consent to write"
    );

    write_user(&crib, grant);
    assert_eq!(verdict(&crib, &read), "allow");
    write_user(&crib, rule);
    assert_eq!(verdict(&crib, &write), "ask");
}

#[test]
fn flags_are_named_too() {
    let crib = Crib::new();
    let document = explained(
        &crib,
        &[
            "fs.remove",
            "path=sub",
            "recursive=true",
            "--allow",
            "fs:destroy:sub/**",
        ],
    );
    assert_eq!(document["verdict"], "allow");
    let rules = document["rulings"][0]["reasons"][1]["rules"]
        .as_array()
        .unwrap();
    assert_eq!(rules.len(), 1, "{document}");
    assert_eq!(rules[0]["origins"], json!(["--allow"]));
    assert_eq!(
        verdict(&crib, &["fs.read", "path=a", "--no-default-grants"]),
        "ask"
    );
    let setting = explained(
        &crib,
        &[
            "fs.write",
            "path=toolcrib.toml",
            "content=x",
            "--grant",
            "fs:write:**",
        ],
    );
    assert_eq!(
        (
            &setting["verdict"],
            &setting["rulings"][0]["reasons"][0]["kind"]
        ),
        (&json!("ask"), &json!("sensitive"))
    );
}

#[test]
fn a_settings_file_is_named_by_one_pattern() {
    let crib = Crib::new();
    crate::config::write_project(&crib, "");
    let write = [
        "fs.write",
        "path=toolcrib.toml",
        "content=x",
        "--grant",
        "fs:write:**",
    ];
    let document = explained(&crib, &write);
    let reasons = document["rulings"][0]["reasons"].as_array().unwrap();
    assert_eq!(
        (reasons.len(), &reasons[0]["kind"]),
        (1, &json!("sensitive")),
        "{document}"
    );
    let page = crib.run(&[&["why"], &write[..]].concat()).expect(0).stdout;
    assert_eq!(page.matches("the sensitive path").count(), 1, "{page}");
}

#[test]
fn a_tool_that_the_session_does_not_select_is_refused() {
    let crib = Crib::new();
    let read = ["fs.read", "path=README.md"];
    write_user(
        &crib,
        "provider = \"direct\"\nselect = [\"time.*\", \"!time.now\"]\n",
    );
    let document = explained(&crib, &read);
    assert_eq!(
        (&document["verdict"], &document["rulings"]),
        (&json!("deny"), &json!([]))
    );
    let origin = format!("{}:2", user_file(&crib).display());
    assert_eq!(
        document["unselected"],
        json!({"select": ["time.*", "!time.now"], "origin": origin})
    );
    let page = crib.run(&[&["why"], &read[..]].concat()).expect(0).stdout;
    for part in [
        "is refused",
        "does not select it",
        "`time.* !time.now`",
        "toolcrib.toml:2",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    let ran = crib.run(&["run", &read.join(" ")]).expect(3);
    assert!(ran.stderr.contains("no tool named"), "{ran:#?}");

    write_user(&crib, "select = [\"fs.*\"]\n");
    assert_eq!(verdict(&crib, &read), "allow");
    let flags = ["--select", "time.*", "--select", "!time.now"];
    let document = explained(&crib, &[&read[..], &flags].concat());
    assert_eq!(
        document["unselected"],
        json!({"select": ["time.*", "!time.now"], "origin": "--select"}),
        "{document}"
    );
    assert_eq!(
        verdict(&crib, &[&read[..], &["--select", "fs.read"]].concat()),
        "allow"
    );
    crib.run(&[&["why"], &read[..], &["--select", "fs.["]].concat())
        .expect(2);
    assert!(explained(&crib, &read).get("unselected").is_none());
}

#[test]
fn a_call_that_cannot_be_made_is_not_explained() {
    let crib = Crib::new();
    let ended = crib.run(&["why", "fs.raed", "path=a"]).expect(3);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("fs.read"),
        "{ended:#?}"
    );
    assert_eq!(
        crib.run(&["why", "fs.read"]).code,
        crib.run(&["call", "fs.read"]).code
    );
    let ended = crib
        .run(&["why", "message.send", "channel=termnal", "text=hello"])
        .expect(1);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("terminal"),
        "{ended:#?}"
    );
}

#[test]
fn an_invalid_glob_is_refused_with_its_flag() {
    let ended = Crib::new()
        .run(&["why", "time.now", "--select", "{"])
        .expect(2);
    assert!(
        ended.stderr.contains("--select: select is invalid"),
        "{ended:#?}"
    );
}
