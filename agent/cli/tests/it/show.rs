use crate::Crib;

#[test]
fn a_definition_is_shown_for_people() {
    let page = Crib::new().run(&["show", "fs.read"]).expect(0).stdout;
    for part in [
        "fs.read  Read a file",
        "Reads a text file",
        "path ",
        "required",
        "The file, relative to",
        "reads fs:{path}",
        "Workspace (met)",
        "fs:read:{path}",
        "not needed if granted",
        "read-only, not destructive, idempotent, closed world",
        "toolcrib call fs.read path=README.md",
        "toolcrib-fs ",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
}

#[test]
fn parameters_are_in_their_declared_order_with_their_patterns() {
    let page = Crib::new().run(&["show", "fs.read"]).expect(0).stdout;
    let at = |name: &str| page.find(&format!("\n  {name} ")).unwrap();
    assert!(page.contains("path matches\n    ^[^/"), "{page}");
    // A program without models is built with a serde_json that orders by name.
    if cfg!(feature = "default") {
        assert!(
            ["path", "start", "end", "tail", "line_numbers"]
                .map(at)
                .is_sorted(),
            "{page}"
        );
    }
}

#[test]
fn json_is_the_canonical_definition() {
    let tool = Crib::new()
        .run(&["show", "fs.read", "--json"])
        .expect(0)
        .document();
    assert_eq!(tool["name"], "fs.read");
    assert_eq!(tool["parameters"]["type"], "object");
    assert_eq!(tool["effects"]["reads"][0], "fs:{path}");
}

#[test]
fn the_examples_shown_are_commands_that_are_understood() {
    let crib = Crib::new();
    for tool in ["time.now", "fs.list"] {
        let page = crib.run(&["show", tool]).expect(0).stdout;
        let shown = page
            .lines()
            .filter_map(|line| line.trim().strip_prefix("toolcrib "))
            .collect::<Vec<_>>();
        assert!(!shown.is_empty(), "{page}");
        for command in shown {
            let words: Vec<&str> = command.split(' ').collect();
            let ended = crib.run(&words);
            assert!(matches!(ended.code, Some(0 | 1)), "{command}: {ended:#?}");
        }
    }
}

#[test]
fn an_unknown_tool_gets_near_names() {
    let ended = Crib::new().run(&["show", "fs.raed"]).expect(3);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("fs.read"),
        "{ended:#?}"
    );
}
