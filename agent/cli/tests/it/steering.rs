//! Lines that are typed in a chat while a run goes on.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use rexpect::session::PtySession;
use tools_testkit::http::TestServer;

use crate::Crib;
use crate::chat_terminal::READS;
use crate::config::write_user;
use crate::loopback::Loopback;
use crate::model::{ANSWER, CALL};
use crate::terminal::{QUESTION, rest, say, with_stty};

/// A model whose replies the test sends, one for each request.
struct Model {
    url: String,
    requests: Receiver<String>,
    replies: Sender<&'static str>,
    _server: Loopback,
}

impl Model {
    fn new() -> Self {
        let (sender, requests) = channel();
        let (replies, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let server = Loopback::new(move |request| {
            if !request.path().ends_with("/chat/completions") {
                return TestServer::head("404 Not Found", &[("connection", "close")]);
            }
            let body = String::from_utf8(request.body.clone()).unwrap();
            sender.send(body).unwrap();
            let reply: &str = receiver.lock().unwrap().recv().unwrap_or_default();
            TestServer::ok("text/event-stream", reply)
        });
        Self {
            url: server.url("/v1"),
            requests,
            replies,
            _server: server,
        }
    }

    /// Starts a chat with the model.
    fn chat(&self, crib: &Crib, flags: &str) -> PtySession {
        let url = &self.url;
        let chat = format!("chat --provider openai --model m --base-url {url} {flags}");
        // A terminal of the tests does not echo by itself.
        let mut session = with_stty(crib, "echo", &chat);
        session.exp_string(READS).unwrap();
        session
    }
}

/// Types a line while the model works. Returns the text before it is shown as queued.
fn queue(session: &mut PtySession, line: &str) -> String {
    session.send_line(line).unwrap();
    shown(session, "queued:", line)
}

/// Waits for a line behind this label. Returns the text before the label.
fn shown(session: &mut PtySession, label: &str, line: &str) -> String {
    let before = session.exp_string(label).unwrap();
    session.exp_string(line).unwrap();
    before
}

fn end(mut session: PtySession) {
    session.exp_string(READS).unwrap();
    session.send_control('d').unwrap();
    let (rest, code) = rest(session);
    assert_eq!(code, 0, "{rest}");
}

#[test]
fn a_line_that_is_typed_during_a_run_is_shown_once_and_sent_with_the_next_request() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "");
    session.send_line("what is in it?").unwrap();
    model.requests.recv().unwrap();
    let before = queue(&mut session, "and be brief");
    assert!(!before.contains("and be brief"), "no echo: {before}");
    model.replies.send(CALL).unwrap();
    shown(&mut session, "sent:", "and be brief");
    let request = model.requests.recv().unwrap();
    let message = request.find(r#""content":"and be brief""#).unwrap();
    assert!(request.find("# Hello").unwrap() < message, "{request}");
    // The model writes its answer, and a line beside it makes the run go on.
    queue(&mut session, "more");
    model.replies.send(ANSWER).unwrap();
    session.exp_string("It says hello.").unwrap();
    shown(&mut session, "sent:", "more");
    assert!(
        model
            .requests
            .recv()
            .unwrap()
            .contains(r#""content":"more""#)
    );
    model.replies.send(ANSWER).unwrap();
    session.exp_string("3 steps, 1 call").unwrap();
    end(session);
}

#[test]
fn lines_that_are_pasted_during_a_run_are_one_message() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "");
    session.send_line("what is in it?").unwrap();
    model.requests.recv().unwrap();
    session.send("one\ntwo\n\n").unwrap();
    session.send_line("/three").unwrap();
    shown(&mut session, "queued:", r"one\n");
    model.replies.send(CALL).unwrap();
    shown(&mut session, "sent:", "one");
    let request = model.requests.recv().unwrap();
    let message = r#""content":"one\ntwo\n\n/three""#;
    assert!(request.contains(message), "{request}");
    // The run ends while the last lines arrive.
    session.send("four\nfive\n").unwrap();
    model.replies.send(ANSWER).unwrap();
    let request = model.requests.recv().unwrap();
    assert!(request.contains(r#""content":"four\nfive""#), "{request}");
    model.replies.send(ANSWER).unwrap();
    end(session);
}

#[test]
fn commands_wait_for_the_end_of_the_run_and_keep_their_place() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "");
    session.send_line("what is in it?").unwrap();
    model.requests.recv().unwrap();
    for line in ["/clear", "another topic", "/quit"] {
        queue(&mut session, line);
    }
    model.replies.send(ANSWER).unwrap();
    session.exp_string("messages removed: 2").unwrap();
    let request = model.requests.recv().unwrap();
    assert!(request.contains("another topic") && !request.contains("what is in it?"));
    model.replies.send(ANSWER).unwrap();
    assert_eq!(rest(session).1, 0);
}

#[test]
fn a_cancelled_run_sends_no_waiting_line() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "");
    session.send_line("what is in it?").unwrap();
    model.requests.recv().unwrap();
    queue(&mut session, "and be brief");
    session.send_control('c').unwrap();
    session.exp_string("not sent: and be brief").unwrap();
    end(session);
}

#[test]
fn a_question_during_a_run_echoes_and_takes_its_answer() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "--no-default-grants");
    session.send_line("what is in it?").unwrap();
    model.requests.recv().unwrap();
    queue(&mut session, "and be brief");
    model.replies.send(CALL).unwrap();
    session.exp_string(QUESTION).unwrap();
    session.exp_string("no: ").unwrap();
    session.send_line("y").unwrap();
    let echo = shown(&mut session, "sent:", "and be brief");
    assert!(echo.starts_with('y'), "{echo}");
    let request = model.requests.recv().unwrap();
    assert!(request.contains("# Hello"), "{request}");
    queue(&mut session, "hidden again");
    model.replies.send(ANSWER).unwrap();
    shown(&mut session, "sent:", "hidden again");
    model.replies.send(ANSWER).unwrap();
    end(session);
}

#[test]
fn a_word_that_names_a_file_of_the_workspace_adds_it() {
    let (crib, model) = (Crib::new(), Model::new());
    let mut session = model.chat(&crib, "");
    let prompt = "is @README.md like @sub/inner.txt, me@README.md, @missing or @../secret.txt?";
    say(
        &mut session,
        prompt,
        &["attached README.md", "attached sub/inner.txt"],
    );
    let request = model.requests.recv().unwrap();
    assert!(request.contains("is @README.md like"), "{request}");
    assert_eq!(request.matches("<<< from ").count(), 2, "{request}");
    model.replies.send(ANSWER).unwrap();
    end(session);
}

#[test]
fn a_word_obeys_the_rules_about_the_file_to_which_a_link_leads() {
    let (crib, model) = (Crib::new(), Model::new());
    let rule = |verdict: &str, path: &str| {
        format!("[[policy]]\nverdict = \"{verdict}\"\ntarget = \"fs:read:{path}\"\n")
    };
    write_user(
        &crib,
        &(rule("deny", "denied.md") + &rule("ask", "asked.md")),
    );
    for name in ["denied.md", "asked.md", "plain.md"] {
        std::fs::write(crib.root().join(name), name).unwrap();
        let link = crib.root().join(format!("to-{name}"));
        std::os::unix::fs::symlink(name, link).unwrap();
    }
    let mut session = model.chat(&crib, "");
    let prompt = "@denied.md @to-denied.md @to-asked.md @asked.md @to-plain.md";
    // The person names the file about which a rule asks.
    say(
        &mut session,
        prompt,
        &["attached asked.md", "attached to-plain.md"],
    );
    let request = model.requests.recv().unwrap();
    assert_eq!(request.matches("<<< from ").count(), 2, "{request}");
    model.replies.send(ANSWER).unwrap();
    end(session);
}
