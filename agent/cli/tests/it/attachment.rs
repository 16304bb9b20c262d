//! Files that a person attaches to a prompt.

use crate::model::{ANSWER, serve};
use crate::strangers_files::Desk;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn arguments<'a>(url: &'a str, model: &'a str, files: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![
        "run",
        "what is it?",
        "--provider",
        "openai",
        "--model",
        model,
        "--base-url",
        url,
    ];
    for file in files {
        arguments.extend(["--attach", *file]);
    }
    arguments
}

#[test]
fn images_and_texts_are_sent_with_their_names_and_without_a_grant() {
    let (url, requests) = serve([Some(ANSWER)]);
    let desk = Desk::new();
    std::fs::write(desk.root().join("a.dat"), PNG).unwrap();
    desk.commit();
    let mut arguments = arguments(&url, "m", &["notes.md", "a.dat"]);
    arguments.push("--no-default-grants");
    let ended = desk.run(&arguments).expect(0);
    for line in ["attached notes.md\n", "attached a.dat\n"] {
        assert!(ended.stderr.contains(line), "{ended:#?}");
    }
    let body = requests.recv().unwrap();
    for part in [
        r#""text":"what is it?""#,
        "<<< from notes.md · ",
        r"mine\nsecond\n<<< end · ",
        "<<< from a.dat · ",
        "data:image/png;base64,iVBORw0KGgo",
    ] {
        assert!(body.contains(part), "{part} is not in {body}");
    }
}

#[test]
fn a_file_of_a_stranger_exposes_the_session() {
    let desk = Desk::new();
    desk.write("new.md", "text");
    for (file, is_exposed) in [("new.md", true), ("notes.md", false)] {
        let script = desk.crib.script(&[r#"{"text": "x"}"#]);
        let ended = desk
            .run(&["run", "x", "--script", &script, "--attach", file])
            .expect(0);
        let is_told = ended.stderr.contains("read text of strangers");
        assert_eq!(is_told, is_exposed, "{ended:#?}");
    }
}

#[test]
fn a_file_that_no_model_reads_is_an_error_that_says_what_is_possible() {
    let (url, requests) = serve([]);
    let desk = Desk::new();
    std::fs::write(desk.root().join("a.png"), PNG).unwrap();
    std::fs::write(desk.root().join("a.pdf"), b"%PDF-1.7\0\0").unwrap();
    for (model, file, reason) in [
        (
            "gpt-3.5-turbo",
            "a.png",
            "gpt-3.5-turbo cannot take an image of the prompt: it takes none",
        ),
        (
            "m",
            "a.pdf",
            "cannot attach a.pdf: it is neither a PNG, JPEG, GIF or WebP image nor text",
        ),
        ("m", "missing", "cannot attach missing: No such file"),
        ("m", ".", "cannot attach .: "),
    ] {
        let ended = desk.run(&arguments(&url, model, &[file])).expect(2);
        assert!(ended.stderr.contains(reason), "{ended:#?}");
    }
    let direct = [
        "run",
        "time.now",
        "--provider",
        "direct",
        "--attach",
        "notes.md",
    ];
    let ended = desk.run(&direct).expect(2);
    assert!(
        ended.stderr.contains("no model that reads it"),
        "{ended:#?}"
    );
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_prompt_from_a_pipe_attaches_nothing() {
    let (url, requests) = serve([Some(ANSWER)]);
    let desk = Desk::new();
    let chat = [
        "chat",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let ended = desk
        .crib
        .run_with_input(&chat, b"@notes.md what?\n")
        .expect(0);
    assert!(!ended.stderr.contains("attached"), "{ended:#?}");
    assert!(!requests.recv().unwrap().contains("<<< from notes.md"));
}

#[test]
fn a_link_or_a_pipe_that_a_session_may_have_left_is_refused() {
    let desk = Desk::new();
    let script = desk.crib.script(&[r#"{"text": "x"}"#]);
    let outside = desk.crib.dir.path().join("home");
    std::fs::write(outside.join("id_rsa"), "a key").unwrap();
    for (name, target) in [
        ("build.log", outside.join("id_rsa")),
        ("plan.md", "notes.md".into()),
        ("logs", outside.clone()),
        ("../mine", outside.clone()),
    ] {
        std::os::unix::fs::symlink(target, desk.root().join(name)).unwrap();
    }
    let pipe = desk.root().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let attach = |file: &str| desk.run(&["run", "x", "--script", &script, "--attach", file]);
    for (file, target) in [
        ("build.log", outside.join("id_rsa")),
        ("plan.md", desk.root().join("notes.md")),
        ("logs/id_rsa", outside.join("id_rsa")),
        ("../mine/id_rsa", outside.join("id_rsa")),
    ] {
        let ended = attach(file).expect(2);
        let target = target.canonicalize().unwrap();
        let named = format!("leads to {}", target.display());
        assert!(ended.stderr.contains(&named), "{ended:#?}");
    }
    let ended = attach("pipe").expect(2);
    assert!(ended.stderr.contains("regular file"), "{ended:#?}");
    attach("../home/id_rsa").expect(0);
}
