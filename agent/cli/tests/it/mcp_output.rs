//! Results of servers on standard output, and in the file of `--output-file`.
#![cfg(feature = "default")]

use serde_json::{Value, json};

use crate::{Crib, Ended, mcp_server};

/// Calls the tool of a server that returns this result.
fn call(crib: &Crib, result: &Value, flags: &[&str]) -> Ended {
    mcp_server::add(crib, &json!({}));
    let arguments = json!({"result": result}).to_string();
    crib.run(
        &[
            &[
                "call",
                "mcp:s/read",
                "--args",
                &arguments,
                "--grant",
                "world:write:**",
            ],
            flags,
        ]
        .concat(),
    )
}

fn image(data: &str) -> Value {
    json!({"type": "image", "mimeType": "image/png", "data": data})
}

#[test]
fn each_piece_of_a_result_is_printed() {
    let crib = Crib::new();
    let content = json!([
        {"type": "text", "text": "words"},
        {"type": "resource", "resource": {"uri": "file:///f", "text": "the file"}},
        image("AAECAwQ="),
        {"type": "resource", "resource": {"uri": "file:///g", "mimeType": "application/pdf", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "file:///h", "name": "a\nname"},
    ]);
    let ended = call(&crib, &json!({"content": content}), &[]).expect(0);
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!((&lines[..2], lines.len()), (&["words", "the file"][..], 5));
    for (line, parts) in [
        (2, ["image/png", "5 bytes"]),
        (3, ["file:///g", "3 bytes"]),
        (4, ["a name", "file:///h"]),
    ] {
        assert!(
            parts.iter().all(|part| lines[line].contains(part)),
            "{ended:#?}"
        );
    }
    let failed = call(&crib, &json!({"isError": true, "content": content}), &[]).expect(1);
    for part in ["words", "the file", "image/png", "file:///g", "file:///h"] {
        assert!(failed.stderr.contains(part), "{part}: {failed:#?}");
    }
}

#[test]
fn a_result_over_the_limit_of_models_is_printed_whole() {
    let crib = Crib::new();
    let long = "words ".repeat(12_000);
    for (text, structured) in [(&*long, json!({"n": 1})), ("few", json!({"long": long}))] {
        let content = json!([{"type": "text", "text": text}]);
        let result = json!({"content": content, "structuredContent": structured});
        let printed = call(&crib, &result, &[]).expect(0).stdout;
        assert_eq!(printed.trim_end(), format!("{text}\n{structured}"));
    }
}

#[test]
fn binary_pieces_are_saved_and_only_the_named_file_is_replaced() {
    let crib = Crib::new();
    let at = |name: &str| crib.root().join(name);
    std::fs::write(at("p-2.png"), "mine").unwrap();
    // Without padding, and in the alphabet for URLs.
    let content = json!([image("AAECAwQ="), {"type": "text", "text": "words"}, image("AAECAwQ"), image("_-_\n-")]);
    for word in ["saved p.png", "replaced p.png"] {
        let ended = call(
            &crib,
            &json!({"content": content}),
            &["--output-file", "p.png"],
        )
        .expect(0);
        assert!(
            ended.stderr.contains(word) && ended.stdout.contains("words"),
            "{ended:#?}"
        );
    }
    for (name, bytes) in [
        ("p.png", &[0, 1, 2, 3, 4][..]),
        ("p-2.png", b"mine"),
        ("p-3.png", &[0, 1, 2, 3, 4]),
        ("p-4.png", &[255, 239, 254]),
    ] {
        assert_eq!(std::fs::read(at(name)).unwrap(), bytes, "{name}");
    }
}

#[test]
fn a_result_without_binary_pieces_is_saved_as_it_is_printed() {
    let crib = Crib::new();
    for (result, saved) in [
        (
            json!({"content": [{"type": "text", "text": "a\r\n"}]}),
            "a\r\n",
        ),
        (
            json!({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "b"}}]}),
            "b",
        ),
        (
            json!({"content": [{"type": "resource_link", "uri": "x:y", "name": "x:y"}]}),
            "[a link to x:y]",
        ),
        (
            json!({"content": [], "structuredContent": {"c": 1}}),
            r#"{"c":1}"#,
        ),
    ] {
        call(&crib, &result, &["--output-file", "saved"]).expect(0);
        assert_eq!(
            std::fs::read_to_string(crib.root().join("saved")).unwrap(),
            saved
        );
    }
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "d"}]});
    call(&crib, &failed, &["--output-file", "failed"]).expect(1);
    assert!(!crib.root().join("failed").exists());
}

#[test]
fn a_result_that_cannot_be_saved_is_printed_and_a_wrong_path_calls_nothing() {
    let crib = Crib::new();
    let content = json!([image("###"), {"type": "text", "text": "words"}, image("AAEC")]);
    let ended = call(
        &crib,
        &json!({"content": content}),
        &["--output-file", "p.png"],
    )
    .expect(1);
    assert!(
        ended.stdout.contains("words") && !crib.root().join("p.png").exists(),
        "{ended:#?}"
    );
    assert_eq!(
        std::fs::read(crib.root().join("p-2.png")).unwrap(),
        [0, 1, 2]
    );
    let mark = crib.root().join("mark");
    let append = json!({"path": mark, "append": "x"}).to_string();
    for path in [".", "no/such/folder", "p-2.png/x"] {
        let call = [
            "call",
            "mcp:s/read",
            "--args",
            &append,
            "--grant",
            "world:write:**",
            "--output-file",
            path,
        ];
        crib.run(&call).expect(2);
        assert!(!mark.exists(), "{path}");
    }
}
