use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Crib;

#[test]
fn the_ceiling_names_what_the_tools_of_each_crate_could_touch() {
    let page = Crib::new().run(&["audit", "ceiling"]).expect(0).stdout;
    let line = |part: &str| {
        page.lines()
            .find(|line| line.contains(part))
            .unwrap_or_else(|| panic!("{part}: {page}"))
    };
    assert!(line("fs:destroy:**").contains("fs.remove"), "{page}");
    let writing: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("fs:write:**"))
        .collect();
    assert!(
        writing
            .iter()
            .any(|line| line.contains("fs.edit, fs.move, fs.write")),
        "{page}"
    );
    assert!(line("clock:read:now").ends_with("time.now"), "{page}");
    assert!(
        line("exec:write:**").contains("(also programs that run"),
        "{page}"
    );
    assert!(
        !writing.iter().any(|line| line.contains("programs")),
        "{page}"
    );
    let place = |part: &str| page.find(part).unwrap();
    assert!(
        place("toolcrib-fs ") < place("fs.search") && place("fs.search") < place("toolcrib-time "),
        "{page}"
    );
}

#[test]
fn the_ceiling_has_every_linked_tool_and_granting_it_is_enough() {
    let crib = Crib::new();
    let documents = crib
        .run(&["audit", "ceiling", "--json"])
        .expect(0)
        .documents();
    // The others are harmless commands.
    let documents: Vec<_> = documents
        .into_iter()
        .filter(|document| document["harmless"].is_null())
        .collect();
    let strings = |value: &Value| {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect()
    };
    let mut names = BTreeSet::new();
    for document in &documents {
        names.append(&mut strings(&document["pure"]));
        for touched in document["touches"].as_array().unwrap() {
            names.append(&mut strings(&touched["tools"]));
        }
    }
    let listed = crib.run(&["list", "--json"]).expect(0).documents();
    assert_eq!(
        json!(names),
        Value::from_iter(listed.iter().map(|tool| tool["name"].clone()))
    );

    let fs = documents
        .iter()
        .find(|document| document["crate"] == "toolcrib-fs")
        .unwrap();
    let clauses = fs["touches"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| ["--grant", it["clause"].as_str().unwrap()]);
    let arguments: Vec<_> = ["call", "fs.remove", "path=README.md", "--no-default-grants"]
        .into_iter()
        .chain(clauses)
        .collect();
    crib.run(&arguments).expect(0);
}
