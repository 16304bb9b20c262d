//! Questions of tools on a pseudo-terminal.

use rexpect::session::PtySession;
use serde_json::{Value, json};

use crate::Crib;
use crate::terminal::{QUESTION, on_terminal, rest, say};

const ANSWER: &str = "Answer?";

/// Starts a run whose model makes these calls in one turn. The results are printed as JSON.
fn asking(crib: &Crib, calls: &[(&str, Value)], flags: &[&str]) -> PtySession {
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
        .collect();
    let script = crib.write(
        "turns.json",
        &json!([{"calls": calls}, {"text": "finished"}]).to_string(),
    );
    on_terminal(
        crib,
        &[
            &["run", "x", "--output", "stream-json", "--script", &script],
            flags,
        ]
        .concat(),
    )
}

fn ask(arguments: Value) -> [(&'static str, Value); 1] {
    [("user.ask", arguments)]
}

fn end(mut session: PtySession, answer: &str) -> (String, i32) {
    session.send_line(answer).unwrap();
    rest(session)
}

/// Returns the replies of the tool in this JSON output, in their order.
fn replies(output: &str) -> Vec<Value> {
    // The terminal does not echo the line that ends a prompt.
    let lines = output
        .lines()
        .filter_map(|line| line.find('{').map(|begin| &line[begin..]));
    let documents = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    documents
        .filter_map(|mut document| Some(document.get_mut("structured")?.take()))
        .collect()
}

fn answered(answer: impl Into<Value>) -> Value {
    json!({"status": "answered", "answer": answer.into()})
}

#[test]
fn a_text_is_returned_to_the_model_without_an_approval() {
    let crib = Crib::new();
    let mut session = asking(
        &crib,
        &ask(json!({"question": "Which name?\nA short one."})),
        &[],
    );
    let question = session.exp_string(ANSWER).unwrap();
    assert!(
        question.contains("user.ask") && question.contains(" asks you:"),
        "{question}"
    );
    assert!(
        question.contains("  | Which name?\r\n  | A short one.\r\n")
            && !question.contains(QUESTION),
        "{question}"
    );
    let (rest, code) = end(session, "Ada  L.");
    assert_eq!(replies(&rest), [answered("Ada  L.")], "{rest}");
    assert!(rest.contains("finished"), "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn a_choice_is_made_by_number_and_a_wrong_number_asks_again() {
    let crib = Crib::new();
    let choice =
        json!({"question": "Which?", "kind": "choice", "options": ["SQLite", "PostgreSQL"]});
    let mut session = asking(&crib, &ask(choice), &[]);
    let question = session.exp_string(ANSWER).unwrap();
    assert!(
        question.contains("  | 1. SQLite\r\n  | 2. PostgreSQL\r\n"),
        "{question}"
    );
    for wrong in ["3", "SQLite"] {
        say(&mut session, wrong, &[ANSWER, "from 1 to 2"]);
    }
    let (rest, code) = end(session, "2");
    assert_eq!(replies(&rest), [answered("PostgreSQL")], "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn a_confirmation_takes_a_clear_yes_or_no_and_an_empty_line_declines() {
    for (typed, expected) in [
        ("y", answered(true)),
        ("No", answered(false)),
        ("", json!({"status": "declined"})),
    ] {
        let crib = Crib::new();
        let mut session = asking(
            &crib,
            &ask(json!({"question": "Really?", "kind": "confirmation"})),
            &[],
        );
        session.exp_string(ANSWER).unwrap();
        say(&mut session, "well", &[ANSWER]);
        let (rest, _) = end(session, typed);
        assert_eq!(replies(&rest), [expected], "{rest}");
    }
}

#[test]
fn a_question_shows_every_character_and_looks_like_no_approval() {
    let crib = Crib::new();
    let text = format!(
        "\u{1b}[2JWhich?\u{202e}\r\n{QUESTION} [y] once\n{}{QUESTION}",
        " ".repeat(76)
    );
    let mut session = asking(&crib, &ask(json!({"question": text})), &[]);
    session.exp_string("asks you:\r\n").unwrap();
    let question = session.exp_string(ANSWER).unwrap();
    assert!(
        question.contains(r"\u{1b}[2JWhich?\u{202e}") && !question.contains("\u{1b}[2J"),
        "{question:?}"
    );
    let lines: Vec<_> = question.split("\r\n").collect();
    let (_, quoted) = lines.split_last().unwrap();
    assert!(
        quoted.len() == 4 && quoted.iter().all(|line| line.starts_with("  | ")),
        "{question:?}"
    );
    assert!(question.matches(QUESTION).count() == 2, "{question:?}");
    end(session, "");
}

#[test]
fn questions_and_approvals_are_open_one_at_a_time() {
    let crib = Crib::new();
    let write = ("fs.write", json!({"path": "new", "content": "x"}));
    let question = |text: &str| ("user.ask", json!({"question": text}));
    let mut session = asking(&crib, &[question("One?"), write, question("Two?")], &[]);
    let (mut prompts, mut shown) = (Vec::new(), String::new());
    for _ in 0..3 {
        let (before, prompt) = session.exp_regex(r"(Answer|Allow)\?").unwrap();
        session.send_line("y").unwrap();
        prompts.push(prompt);
        shown += &before;
    }
    prompts.sort();
    assert_eq!(prompts, [QUESTION, ANSWER, ANSWER]);
    let (rest, code) = rest(session);
    shown += &rest;
    // A line that was typed before its question appeared would have been discarded.
    assert_eq!(shown.matches(r#""answer":"y""#).count(), 2, "{shown}");
    assert!(rest.contains("finished"), "{rest}");
    assert_eq!((code, crib.root().join("new").exists()), (0, true));
}

#[test]
fn the_deadline_of_the_call_does_not_run_while_the_question_is_open() {
    let crib = Crib::new();
    let ask = [
        "call",
        "user.ask",
        "question=Now?",
        "kind=confirmation",
        "--timeout",
        "300ms",
        "--json",
    ];
    let mut session = on_terminal(&crib, &ask);
    session.exp_string(ANSWER).unwrap();
    // Each prompt appears 200 ms after the last input.
    for _ in 0..2 {
        say(&mut session, "later", &[ANSWER]);
    }
    let (rest, code) = end(session, "y");
    assert_eq!(replies(&rest), [answered(true)], "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn an_unanswered_question_ends_at_its_time_limit() {
    let crib = Crib::new();
    let session = asking(
        &crib,
        &ask(json!({"question": "When?"})),
        &["--approval-timeout", "300ms"],
    );
    let (rest, code) = rest(session);
    assert_eq!(replies(&rest), [json!({"status": "unanswered"})], "{rest}");
    assert!(rest.contains("finished"), "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn an_interrupt_at_a_question_cancels() {
    let crib = Crib::new();
    let mut session = asking(&crib, &ask(json!({"question": "When?"})), &[]);
    session.exp_string(ANSWER).unwrap();
    session.send_control('c').unwrap();
    let (rest, code) = rest(session);
    assert!(rest.contains("cancelled"), "{rest}");
    assert_eq!(code, 130);
}

#[test]
fn nobody_is_there_at_the_end_of_the_input_and_without_a_terminal() {
    let crib = Crib::new();
    let mut session = asking(&crib, &ask(json!({"question": "When?"})), &[]);
    session.exp_string(ANSWER).unwrap();
    session.send_control('d').unwrap();
    let (rest, _) = rest(session);
    assert!(rest.contains("nobody_there"), "{rest}");
    let result = crib.run(&["call", "user.ask", "question=When?"]).expect(0);
    assert!(result.stdout.contains("nobody_there"), "{result:#?}");
}
