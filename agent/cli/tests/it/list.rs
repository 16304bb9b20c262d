use crate::Crib;

#[test]
fn each_tool_has_a_line_and_in_a_long_list_its_effects_and_origin() {
    let crib = Crib::new();
    let list = crib.run(&["list"]).expect(0);
    let line = list
        .stdout
        .lines()
        .find(|line| line.starts_with("fs.read "))
        .unwrap();
    assert!(
        line.contains("Reads a text file") && !list.stdout.contains("toolcrib-fs"),
        "{list:#?}"
    );
    let long = crib.run(&["list", "-l"]).expect(0).stdout;
    let read = long
        .lines()
        .skip_while(|line| !line.starts_with("fs.read "))
        .take(4)
        .collect::<Vec<_>>()
        .join("\n");
    for part in [
        "Reads a text file",
        "reads fs:{path}",
        "toolcrib-fs ",
        "read.rs:",
    ] {
        assert!(read.contains(part), "{part} is not in {read}");
    }
    // Only continuation lines are indented.
    let lines = list.stdout.lines().filter(|line| !line.starts_with(' '));
    let names: Vec<_> = lines
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        names.is_sorted() && names.contains(&"time.now"),
        "{names:?}"
    );
}

#[test]
fn json_is_one_document_per_tool() {
    let crib = Crib::new();
    let documents = crib.run(&["list", "--json"]).expect(0).documents();
    let list = crib.run(&["list"]).stdout;
    assert_eq!(
        documents.len(),
        list.lines().filter(|line| !line.starts_with(' ')).count(),
        "{list}"
    );
    let read = documents
        .iter()
        .find(|document| document["name"] == "fs.read")
        .unwrap();
    assert_eq!(read["effects"]["reads"][0], "fs:{path}");
    assert_eq!(read["source"]["crate_name"], "toolcrib-fs");
    assert!(read["source"]["line"].as_u64().unwrap() > 0);
    assert_eq!(read["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn a_selection_includes_and_excludes() {
    let crib = Crib::new();
    let names = |arguments: &[&str]| -> Vec<String> {
        let documents = crib
            .run(&[&["list", "--json"], arguments].concat())
            .expect(0)
            .documents();
        documents
            .iter()
            .map(|document| document["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&["--select", "fs.rea*"]), ["fs.read"]);
    assert!(!names(&["--select", "!fs.read"]).contains(&"fs.read".to_owned()));
    assert_eq!(
        names(&["--select", "fs.read", "--select", "time.*"]),
        ["fs.read", "time.now"]
    );
}

#[test]
fn a_glob_that_matches_nothing_is_pointed_out() {
    let ended = Crib::new().run(&["list", "--select", "sf.*"]).expect(0);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("no tool matches sf.*"),
        "{ended:#?}"
    );
}
