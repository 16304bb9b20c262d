//! Files and input with a byte order mark, in UTF-16 and in other encodings.

use std::fs;

use crate::Crib;

/// Returns the text with a byte order mark, in UTF-8 and in both forms of UTF-16.
fn marked(text: &str) -> [Vec<u8>; 3] {
    let text = format!("\u{FEFF}{text}");
    let units = || text.encode_utf16();
    [
        text.clone().into_bytes(),
        units().flat_map(u16::to_le_bytes).collect(),
        units().flat_map(u16::to_be_bytes).collect(),
    ]
}

#[test]
fn arguments_and_prompts_from_pipes_may_have_a_mark() {
    let crib = Crib::new();
    for input in marked("{\"path\": \"README.md\"}\r\n") {
        let ended = crib
            .run_with_input(&["call", "fs.read", "--args", "-"], &input)
            .expect(0);
        assert!(ended.stdout.contains("Hello"), "{ended:#?}");
    }
    let script = crib.script(&[r#"{"text": "done"}"#]);
    for input in marked("Grüße\r\n") {
        let run = ["run", "--script", &script, "--output", "stream-json"];
        let ended = crib.run_with_input(&run, &input).expect(0);
        assert!(
            !ended.stdout.contains('\u{FEFF}') && !ended.stderr.contains("UTF-8"),
            "{ended:#?}"
        );
    }
    let ended = crib.run_with_input(&["run", "--script", &script], b"one\ncaf\xE9\n");
    assert!(
        ended.code != Some(0) && ended.stderr.contains("line 2 is not UTF-8; save"),
        "{ended:#?}"
    );
}

#[test]
fn settings_may_have_a_mark_and_others_than_utf8_are_refused_with_their_line() {
    let crib = Crib::new();
    for settings in marked("# Grüße\r\nselect = [\"time.*\"]\r\n") {
        fs::write(crib.root().join("toolcrib.toml"), settings).unwrap();
        let ended = crib.run(&["config"]).expect(0);
        assert!(ended.stdout.contains("time.*"), "{ended:#?}");
    }
    fs::write(crib.root().join("toolcrib.toml"), b"# ok\n# caf\xE9\n").unwrap();
    let ended = crib.run(&["config"]);
    assert!(
        ended.code != Some(0) && ended.stderr.contains("line 2 is not UTF-8"),
        "{ended:#?}"
    );
}

#[test]
fn scripts_may_have_a_mark() {
    let crib = Crib::new();
    for script in marked(r#"[{"text": "grüßt"}]"#) {
        let path = crib.dir.path().join("turns.json");
        fs::write(&path, script).unwrap();
        let ended = crib
            .run(&["run", "hello", "--script", path.to_str().unwrap()])
            .expect(0);
        assert!(ended.stdout.contains("grüßt"), "{ended:#?}");
    }
}

#[test]
fn instructions_have_no_mark() {
    let crib = Crib::new();
    for text in marked("# Rules\r\nUse tabs.\r\n") {
        fs::write(crib.root().join("AGENTS.md"), text).unwrap();
        let ended = crib.run(&["system"]).expect(0);
        assert!(
            ended.stdout.contains("\n# Rules") && !ended.stdout.contains('\u{FEFF}'),
            "{ended:#?}"
        );
    }
}
