//! The effects of calls about which nobody was asked.

use crate::Crib;
use crate::terminal::{QUESTION, asked, end_with, on_terminal, rest};

const EDIT: &str = "fs.edit path=README.md old=Hello new=Bye";
/// A line of a difference on a terminal.
const ADDED: &str = "| \u{1b}[32m+# Bye";
const MAY_WRITE: [&str; 2] = ["--allow", "fs:write:**"];

fn run(crib: &Crib, prompt: &str, flags: &[&str]) -> crate::Ended {
    let run = ["run", "--provider", "direct", prompt];
    crib.run(&[&run[..], &MAY_WRITE, flags].concat()).expect(0)
}

#[test]
fn a_granted_edit_shows_its_difference_below_its_line() {
    let crib = Crib::new();
    let ended = run(&crib, EDIT, &[]);
    let (_, below) = ended.stderr.split_once("<- fs.edit").unwrap();
    assert!(
        below.contains("\n  | @@ -1 +1 @@\n  | -# Hello\n  | +# Bye\nsummary"),
        "{ended:#?}"
    );
}

#[test]
fn a_long_difference_ends_with_a_count_unless_all_is_wanted() {
    let crib = Crib::new();
    let content = "line\u{1b}\\n".repeat(30);
    for (flags, count, part) in [
        (&[][..], 17, "… and 13 more lines\n"),
        (&["-v"], 30, "\"path\": \"new.txt\""),
    ] {
        let _ = std::fs::remove_file(crib.root().join("new.txt"));
        let prompt = format!(
            r#"fs.write {{"path": "new.txt", "content": "{}"}}"#,
            content.replace('\u{1b}', "\\u001b")
        );
        let ended = run(&crib, &prompt, flags);
        assert_eq!(
            ended.stderr.matches("  | +line\\u{1b}\n").count(),
            count,
            "{ended:#?}"
        );
        assert!(ended.stderr.contains(part), "{ended:#?}");
    }
}

#[test]
fn a_quiet_run_shows_the_answer_alone() {
    let ended = run(&Crib::new(), EDIT, &["-q"]);
    assert_eq!(ended.stderr, "");
    assert!(ended.stdout.contains("+# Bye"), "{ended:#?}");
}

#[test]
fn a_call_that_a_person_has_seen_is_not_shown_again() {
    let crib = Crib::new();
    let (session, question) = asked(&crib, &["run", "--provider", "direct", EDIT]);
    assert!(question.contains(ADDED), "{question}");
    let (rest, code) = end_with(session, "y");
    assert!(!rest.contains(ADDED) && rest.contains("summary"), "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn a_program_shows_its_last_lines_while_it_runs_and_after_its_end() {
    let crib = Crib::new();
    let script = r#"exec.run program=sh args='["-c","seq 41 42; sleep 2; seq 70 79; exit 3"]'"#;
    let flags = [
        "run",
        "--provider",
        "direct",
        script,
        "--allow",
        "exec:write:**",
    ];
    let mut session = on_terminal(&crib, &flags);
    session.exp_string("| 42").unwrap();
    let before = session.exp_string("[exit code 3, ").unwrap();
    assert!(!before.contains("| 79"), "{before}");
    let (after, _) = rest(session);
    assert!(
        after.contains("| 75") && after.contains("| 79") && !after.contains("| 74"),
        "{after}"
    );

    let ended = crib.run(&flags).expect(0);
    assert!(ended.stderr.contains("\n   exec.run 42\n"), "{ended:#?}");
    assert!(ended.stderr.contains("[exit code 3, "), "{ended:#?}");
    assert!(
        ended
            .stderr
            .contains("\n  | 75\n  | 76\n  | 77\n  | 78\n  | 79\n"),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains(QUESTION), "{ended:#?}");
}
