//! The text of a question about a call on a pseudo-terminal.

use rexpect::session::PtySession;

use crate::Crib;
use crate::terminal::{QUESTION, asked, end_with, on_terminal, say};

#[test]
fn the_question_hides_nothing() {
    let crib = Crib::new();
    let path = "a\u{202e}b\u{200b}c";
    let (session, question) = asked(
        &crib,
        &[
            "call",
            "fs.read",
            &format!("path={path}"),
            "--no-default-grants",
        ],
    );
    assert!(
        question.contains(r"fs:read:a\u{202e}b\u{200b}c"),
        "{question}"
    );
    assert!(!question.contains(['\u{202e}', '\u{200b}']), "{question}");
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn letters_of_another_script_are_named() {
    let crib = Crib::new();
    for (arguments, is_named) in [
        (
            &["call", "fs.write", "path=M\u{430}kefile", "content=x"][..],
            true,
        ),
        (
            &["call", "web.fetch", "url=https://xn--gthub-n2a.com/x"],
            true,
        ),
        (&["call", "web.fetch", "url=https://example.com/x"], false),
        (&["call", "exec.run", "program=\u{441}url"], true),
        (
            &[
                "call",
                "fs.write",
                "path=\u{434}\u{43e}\u{43a}\u{443}\u{43c}\u{435}\u{43d}\u{442}",
                "content=x",
            ],
            false,
        ),
    ] {
        let (session, question) = asked(&crib, &[arguments, &["--no-default-grants"]].concat());
        let question = question.replace("\r\n  | ", "");
        assert_eq!(
            question.contains("(letters of another script)"),
            is_named,
            "{arguments:?}: {question}"
        );
        end_with(session, "n");
    }
}

#[test]
fn long_arguments_are_shown_whole_on_demand() {
    let crib = Crib::new();
    let text = format!("{}\u{202e}end", "x".repeat(5000));
    let (mut session, cut) = asked(
        &crib,
        &["call", "fs.write", "path=new", &format!("content={text}")],
    );
    assert!(
        cut.contains("more characters, [v] to view them") && !cut.contains("}end"),
        "{cut}"
    );
    let whole = say(&mut session, "v", &[QUESTION]);
    assert!(
        whole
            .replace("\r\n  | ", "")
            .contains(&format!(r"{}\u{{202e}}end", "x".repeat(5000))),
        "{whole}"
    );
    assert_eq!(end_with(session, "y").1, 0);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("new")).unwrap(),
        text
    );
}

#[test]
fn viewing_is_offered_exactly_while_something_is_cut() {
    let crib = Crib::new();
    let lines = "line\n".repeat(50);
    for (content, is_cut) in [("short", false), (&"x".repeat(300), true), (&lines, true)] {
        let (mut session, _) = asked(
            &crib,
            &[
                "call",
                "fs.write",
                "path=new",
                &format!("content={content}"),
            ],
        );
        let offers_view =
            |session: &mut PtySession| session.exp_string("no: ").unwrap().contains("[v] view all");
        assert_eq!(offers_view(&mut session), is_cut);
        // An unclear answer repeats the choices alone.
        session.send_line("perhaps").unwrap();
        assert_eq!(offers_view(&mut session), is_cut);
        session.send_line("v").unwrap();
        assert!(!offers_view(&mut session));
        assert_eq!(end_with(session, "n").1, 5);
    }
}

#[test]
fn the_question_shows_what_will_happen() {
    let crib = Crib::new();
    let edit = [
        "call",
        "fs.edit",
        "path=README.md",
        "old=Hello",
        "new=\u{9b}31mBye",
    ];
    let (session, question) = asked(&crib, &edit);
    assert!(
        question.contains("-# Hello") && question.contains(r"+# \u{9b}31mBye"),
        "{question:?}"
    );
    assert!(
        question.contains("\u{1b}[32m+# ") && !question.contains('\u{9b}'),
        "{question:?}"
    );
    assert_eq!(end_with(session, "y").1, 0);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("README.md")).unwrap(),
        "# \u{9b}31mBye\n"
    );

    let (session, question) = asked(&crib, &["call", "fs.remove", "path=sub", "recursive=true"]);
    let question = question.replace("\r\n  | ", "");
    assert!(
        question.contains("1 entry, of them 1 file with 6 bytes"),
        "{question:?}"
    );
    assert_eq!(end_with(session, "n").1, 5);

    let (session, question) = asked(&crib, &[&edit[..], &["--no-default-grants"]].concat());
    assert!(
        question.contains("no preview:") && question.contains("fs:read:README.md"),
        "{question:?}"
    );
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn no_line_of_a_call_looks_like_one_of_the_question() {
    let crib = Crib::new();
    let padding = " ".repeat(70);
    let content = format!(
        "{QUESTION} fs.read\n{padding}\tfs.read asks for:\n{}",
        "\n".repeat(12)
    );
    let call = [
        &format!("path=a{padding}fs.read"),
        &format!("content={content}"),
    ];
    let mut session = on_terminal(&crib, &["call", "fs.write", call[0], call[1]]);
    session.exp_string("no: ").unwrap();
    let question = say(&mut session, "v", &["no: "]);
    let plain = anstream::adapter::strip_str(&question).to_string();
    let lines: Vec<_> = plain
        .lines()
        .skip_while(|line| !line.ends_with("asks for:"))
        .collect();
    // Each byte is read as a character, and the later ones of a sequence take no column.
    let columns = |line: &str| {
        line.chars()
            .filter(|c| !matches!(c, '\u{80}'..'\u{c0}'))
            .count()
    };
    assert!(lines.iter().all(|line| columns(line) < 80), "{lines:#?}");
    let own: Vec<_> = lines
        .iter()
        .filter(|line| !line.starts_with("  | "))
        .collect();
    let [first, with, preview, call, answers] = own[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(
        [*first, *with, *preview],
        ["fs.write asks for:", "with:", "preview:"]
    );
    assert!(
        call.starts_with("Allow? fs.write fs:write:a ") && answers.starts_with("  [y]"),
        "{lines:#?}"
    );
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn a_file_that_changes_while_a_question_is_open_is_asked_about_again() {
    let crib = Crib::new();
    let (mut session, before) = asked(
        &crib,
        &["call", "fs.write", "path=README.md", "content=new\n"],
    );
    assert!(before.contains("-# Hello"), "{before}");
    std::fs::write(crib.root().join("README.md"), "changed\n").unwrap();
    let now = say(&mut session, "y", &[QUESTION]);
    assert!(
        now.contains("asked again") && now.contains("-changed") && !now.contains("-# Hello"),
        "{now}"
    );
    assert_eq!(end_with(session, "n").1, 5);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("README.md")).unwrap(),
        "changed\n"
    );
}

#[test]
fn a_long_change_is_shown_whole_on_demand() {
    let crib = Crib::new();
    let content: String = (0..50).map(|number| format!("line {number}.\n")).collect();
    let (mut session, cut) = asked(
        &crib,
        &[
            "call",
            "fs.write",
            "path=new",
            &format!("content={content}"),
        ],
    );
    assert!(
        cut.contains("+line 0.") && cut.contains("more lines, [v] to view them"),
        "{cut:?}"
    );
    assert!(!cut.contains("+line 40."), "{cut:?}");
    let whole = say(&mut session, "v", &[QUESTION]);
    assert!(
        (0..50).all(|number| whole.contains(&format!("+line {number}."))),
        "{whole:?}"
    );
    assert_eq!(end_with(session, "n").1, 5);
    assert!(!crib.root().join("new").exists());
}
