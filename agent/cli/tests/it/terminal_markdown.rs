//! The Markdown of a model, the status line and typed lines on a pseudo-terminal.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use rexpect::session::{PtySession, spawn_command};

use crate::Crib;
use crate::chat_terminal::READS;
use crate::cron::{add, due};
use crate::terminal::{TIMEOUT_MS, rest, with_stty};
use tools_builtin::cron::Work;
use tools_testkit::Screen;

const WIDTHS: [usize; 3] = [45, 80, 120];

const TEXT: &str = "## Result\n\nThe **second** test of `sum` fails, because the last number is left out of the range that the loop \
    goes through.\n\n- change the range\n- run it again\n\n```rust\nfor n in 0..=last {}\n```\n\n| file | lines |\n|---|--:|\n\
    | sum.rs | 12 |\n\nSee [the book](https://doc.rust-lang.org/book).\n";

/// A program on a terminal, with all that it has written.
struct Terminal {
    session: PtySession,
    written: String,
    width: usize,
}

impl Terminal {
    fn new(crib: &Crib, width: usize, arguments: &str) -> Self {
        let settings = format!("echo rows 24 cols {width}; tty");
        Self {
            session: with_stty(crib, &settings, arguments),
            written: String::new(),
            width,
        }
    }

    /// Waits for a text.
    #[track_caller]
    fn wait(&mut self, text: &str) {
        let before = self.session.exp_string(text).unwrap();
        self.written += &(before + text);
    }

    fn send(&mut self, text: &str) {
        self.session.send(text).unwrap();
        self.session.flush().unwrap();
    }

    /// Waits for the end. Returns the exit code.
    fn end(self) -> (Vec<String>, String, i32) {
        let (rest, code) = rest(self.session);
        let written = bytes_as_text(&(self.written + &rest));
        (rows(&written, self.width), written, code)
    }

    fn rows(&self) -> Vec<String> {
        rows(&bytes_as_text(&self.written), self.width)
    }
}

fn rows(written: &str, width: usize) -> Vec<String> {
    let mut screen = Screen::new(width, 24);
    screen.write(written);
    screen.text()
}

/// rexpect returns each byte as a character.
fn bytes_as_text(written: &str) -> String {
    let bytes: Vec<_> = written.chars().map(|c| c as u32 as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the row that contains a text, and checks that there is one.
#[track_caller]
fn row(rows: &[String], text: &str) -> usize {
    let found: Vec<_> = (0..rows.len())
        .filter(|at| rows[*at].contains(text))
        .collect();
    assert_eq!(found.len(), 1, "{text}: {rows:#?}");
    found[0]
}

/// A model whose answers the test writes piece by piece. `None` ends one.
struct SlowModel {
    url: String,
    requests: Receiver<String>,
    pieces: Sender<Option<&'static str>>,
}

impl SlowModel {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        let (pieces, receiver) = channel::<Option<&'static str>>();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                let mut line = String::new();
                let mut first = String::new();
                while reader.read_line(&mut line).unwrap_or(0) > 2 {
                    let lower = line.to_lowercase();
                    if let Some(value) = lower.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    first = if first.is_empty() {
                        line.clone()
                    } else {
                        first
                    };
                    line.clear();
                }
                if !first.contains("/chat/completions") {
                    let _ = stream.write_all(
                        b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
                    );
                    continue;
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                if sender.send(String::from_utf8(body).unwrap()).is_err() {
                    return;
                }
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(head.as_bytes());
                while let Ok(Some(piece)) = receiver.recv() {
                    let delta = serde_json::json!({"id": "y", "choices": [{"index": 0, "delta": {"content": piece}}]});
                    let _ = write!(stream, "data: {delta}\n\n");
                }
                let end = serde_json::json!({"id": "y", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1234, "completion_tokens": 3, "total_tokens": 1237}});
                let _ = write!(stream, "data: {end}\n\ndata: [DONE]\n\n");
            }
        });
        Self {
            url,
            requests,
            pieces,
        }
    }

    fn write(&self, piece: &'static str) {
        self.pieces.send(Some(piece)).unwrap();
    }

    fn arguments(&self) -> String {
        format!("chat --provider openai --model m --base-url {}", self.url)
    }

    /// Starts a chat and waits for its first request.
    fn chat(&self, crib: &Crib, width: usize) -> Terminal {
        let mut terminal = Terminal::new(crib, width, &self.arguments());
        terminal.wait(READS);
        terminal.send("go\r");
        self.requests.recv().unwrap();
        terminal
    }
}

#[test]
fn markdown_is_rendered_to_the_width_of_the_terminal() {
    let crib = Crib::new();
    let turn = serde_json::json!({"text": TEXT}).to_string();
    let script = crib.script(&[&turn]);
    for width in WIDTHS {
        let terminal = Terminal::new(&crib, width, &format!("run x --script {script}"));
        let (rows, written, code) = terminal.end();
        assert_eq!(code, 0, "{rows:#?}");
        for shown in [
            "Result",
            "• change the range",
            "  for n in 0..=last {}",
            "file   │ lines",
            "sum.rs │    12",
        ] {
            assert!(rows.iter().any(|row| row == shown), "{shown}: {rows:#?}");
        }
        assert!(
            rows.iter()
                .any(|row| row.contains("(https://doc.rust-lang.org/book)")),
            "{rows:#?}"
        );
        let words = rows.join(" ");
        assert!(
            words.contains("The second test of sum fails, because the last number"),
            "{rows:#?}"
        );
        let longest = rows.iter().map(|row| row.chars().count()).max();
        assert!(
            longest < Some(width) && longest > Some(width * 2 / 5),
            "{rows:#?}"
        );
        assert!(written.contains("\x1b[1msecond\x1b[0m"), "{written:?}");
    }
}

#[test]
fn markdown_stays_as_it_is_where_it_is_not_wanted() {
    let crib = Crib::new();
    let turn = serde_json::json!({"text": TEXT}).to_string();
    let script = crib.script(&[&turn]);
    let run = ["run", "x", "--script", &script];
    assert!(crib.run(&run).expect(0).stdout.starts_with(TEXT));
    let job = ["cron", "run", "--once", "--script", &script];
    add(&crib, due(Work::Prompt("x".to_owned()), &[]));
    for (command, flag, variable) in [
        (&run[..], "--plain", "X"),
        (&run, "--output=text", "NO_COLOR"),
        (&job, "--plain", "X"),
    ] {
        let mut command = crib.command(&[command, &[flag]].concat());
        command.env(variable, "1");
        let (shown, code) = rest(spawn_command(command, Some(TIMEOUT_MS)).unwrap());
        assert_eq!(code, 0, "{shown}");
        assert!(shown.replace("\r\n", "\n").contains(TEXT), "{shown}");
    }
}

#[test]
fn a_prompt_that_fills_its_row_keeps_the_rows_above_it() {
    for width in WIDTHS {
        let (crib, model) = (Crib::new(), SlowModel::new());
        let mut terminal = Terminal::new(&crib, width, &model.arguments());
        terminal.wait(READS);
        // The editor draws the status line below each character.
        for typed in "the words go on ".repeat(8).chars() {
            terminal.send(&typed.to_string());
            terminal.wait("unasked");
        }
        terminal.send("\r");
        model.requests.recv().unwrap();
        model.write("Yes.");
        model.pieces.send(None).unwrap();
        terminal.wait("1234 tokens");
        terminal.send("\u{4}");
        let (rows, _, code) = terminal.end();
        assert_eq!(code, 0);
        let words = rows.iter().map(|row| row.trim()).collect::<Vec<_>>();
        assert!(
            words.join(" ").contains(
                "/help lists the commands; Ctrl-C cancels, Ctrl-D ends the chat toolcrib> the words"
            ),
            "{rows:#?}"
        );
    }
}

#[test]
fn finished_text_is_written_once_and_the_screen_is_never_erased() {
    for width in WIDTHS {
        let (crib, model) = (Crib::new(), SlowModel::new());
        let mut terminal = model.chat(&crib, width);
        for word in [
            "Alpha ",
            "*beta*",
            " gamma",
            "\n\n",
            "- delta\n",
            "- eps",
            "ilon\n",
            "\nZeta",
            " eta.",
        ] {
            model.write(word);
        }
        model.pieces.send(None).unwrap();
        terminal.wait("summary");
        terminal.wait(READS);
        terminal.send("\u{4}");
        let (rows, written, _) = terminal.end();
        let start = row(&rows, "Alpha beta gamma");
        assert_eq!(
            rows[start + 1..start + 6],
            ["", "• delta", "• epsilon", "", "Zeta eta."]
        );
        for (finished, next) in [("Alpha", "delta"), ("delta", "Zeta"), ("epsilon", "Zeta")] {
            let (_, after) = written.split_once(next).unwrap();
            assert!(!after.contains(finished), "{finished}: {written:?}");
        }
        assert!(
            !written.contains("\x1b[2J") && !written.contains("\x1b[H"),
            "{written:?}"
        );
    }
}

#[test]
fn a_typed_line_waits_below_the_text_and_above_the_status_line() {
    for width in WIDTHS {
        let (crib, model) = (Crib::new(), SlowModel::new());
        let mut terminal = model.chat(&crib, width);
        model.write("The answer is");
        terminal.wait("answer is");
        terminal.send("be brief\r");
        terminal.wait("queued:");
        terminal.wait("unasked");
        model.write(" forty-two");
        terminal.wait("two");
        let rows = terminal.rows();
        let text = row(&rows, "The answer is forty-two");
        let typed = row(&rows, "queued: be brief");
        assert!(
            text < typed && rows[typed..].iter().any(|row| row.starts_with("openai/m")),
            "{rows:#?}"
        );
        model.pieces.send(None).unwrap();
        terminal.wait("sent:");
        assert!(model.requests.recv().unwrap().contains("be brief"));
        model.write("Yes.");
        model.pieces.send(None).unwrap();
        terminal.wait("2 steps");
        terminal.wait("1234 tokens");
        terminal.send("\u{4}");
        let (rows, _, code) = terminal.end();
        assert_eq!(code, 0);
        row(&rows, "sent: be brief");
        for gone in ["queued", "unasked"] {
            assert!(
                !rows.iter().any(|row| row.contains(gone)),
                "{gone}: {rows:#?}"
            );
        }
    }
}

#[test]
fn keys_that_are_typed_ahead_are_the_beginning_of_the_next_line() {
    let (crib, model) = (Crib::new(), SlowModel::new());
    let mut terminal = model.chat(&crib, 80);
    model.write("One.");
    terminal.wait("One.");
    terminal.send("and the sec");
    model.pieces.send(None).unwrap();
    terminal.wait("summary");
    terminal.wait(READS);
    terminal.send("ond?\r");
    let request = model.requests.recv().unwrap();
    assert!(request.contains("and the second?"), "{request}");
    model.write("Two.");
    model.pieces.send(None).unwrap();
}

#[test]
fn a_resized_terminal_has_its_new_width_from_then_on() {
    let (crib, model) = (Crib::new(), SlowModel::new());
    let mut terminal = model.chat(&crib, 45);
    let written = bytes_as_text(&terminal.written);
    let tty = written
        .lines()
        .find(|line| line.starts_with("/dev/"))
        .unwrap();
    let long = "one two three four five six seven eight nine ten eleven twelve thirteen.\n\n";
    model.write(long);
    terminal.wait("thirteen");
    let status = Command::new("stty")
        .args(["-F", tty.trim(), "cols", "120"])
        .status();
    assert!(status.unwrap().success());
    model.write(long);
    terminal.wait("thirteen");
    model.pieces.send(None).unwrap();
    terminal.wait("summary");
    terminal.wait("unasked");
    terminal.send("\u{4}");
    terminal.width = 120;
    let (rows, _, _) = terminal.end();
    // The first one had no end yet.
    let long = rows.iter().filter(|row| *row == long.trim());
    assert_eq!(long.count(), 2, "{rows:#?}");
    assert!(!rows.iter().any(|row| row.contains("unasked")), "{rows:#?}");
}

/// Starts a chat from a shell with job control, and sends its first prompt.
fn chat_in_shell(crib: &Crib, model: &SlowModel) -> Terminal {
    let mut shell = Command::new("bash");
    shell
        .args(["--norc", "--noprofile", "--noediting", "-i"])
        .current_dir(crib.root());
    crate::cleared(&mut shell);
    shell.env("XDG_STATE_HOME", crib.dir.path().join("state"));
    shell.env("XDG_CONFIG_HOME", crib.dir.path().join("config"));
    shell.env("PS1", "shell$ ");
    let mut terminal = Terminal {
        session: spawn_command(shell, Some(TIMEOUT_MS)).unwrap(),
        written: String::new(),
        width: 80,
    };
    terminal.wait("shell$ ");
    terminal.send("stty rows 24 cols 80\n");
    terminal.wait("shell$ ");
    let program = env!("CARGO_BIN_EXE_toolcrib");
    terminal.send(&format!("{program} {}\n", model.arguments()));
    terminal.wait(READS);
    terminal
}

#[test]
fn ctrl_z_stops_a_run_without_a_status_line_and_fg_goes_on() {
    let (crib, model) = (Crib::new(), SlowModel::new());
    let mut terminal = chat_in_shell(&crib, &model);
    terminal.send("go\r");
    model.requests.recv().unwrap();
    model.write("First.\n\nSecond ");
    terminal.wait("Second");
    terminal.wait("unasked");
    terminal.send("\u{1a}");
    terminal.wait("Stopped");
    terminal.wait("shell$ ");
    let rows = terminal.rows();
    assert!(!rows.iter().any(|row| row.contains("unasked")), "{rows:#?}");
    terminal.send("echo st''ill\n");
    terminal.wait("still");
    terminal.wait("shell$ ");
    terminal.send("fg\n");
    model.write("paragraph.");
    terminal.wait("paragraph.");
    model.pieces.send(None).unwrap();
    terminal.wait("summary");
    terminal.wait(READS);
    terminal.send("\u{4}");
    terminal.wait("shell$ ");
    terminal.send("exit\n");
    let (rows, _, code) = terminal.end();
    assert_eq!(code, 0, "{rows:#?}");
    assert!(!rows.iter().any(|row| row.contains("unasked")), "{rows:#?}");
}

#[test]
fn ctrl_z_at_the_prompt_keeps_the_typed_text() {
    let (crib, model) = (Crib::new(), SlowModel::new());
    let mut terminal = chat_in_shell(&crib, &model);
    terminal.wait("unasked");
    terminal.send("what is ");
    terminal.wait("is ");
    terminal.send("\u{1a}");
    terminal.wait("Stopped");
    terminal.wait("shell$ ");
    let rows = terminal.rows();
    assert!(!rows.iter().any(|row| row.contains("unasked")), "{rows:#?}");
    terminal.send("fg\n");
    terminal.wait("unasked");
    terminal.send("this?\r");
    let request = model.requests.recv().unwrap();
    assert!(request.contains("what is this?"), "{request}");
    model.write("This.");
    model.pieces.send(None).unwrap();
    terminal.wait("summary");
    terminal.wait(READS);
    terminal.send("\u{4}");
    terminal.wait("shell$ ");
    terminal.send("exit\n");
    assert_eq!(terminal.end().2, 0);
}

#[test]
fn an_interrupt_at_the_prompt_erases_the_status_line() {
    let (crib, model) = (Crib::new(), SlowModel::new());
    let mut terminal = Terminal::new(&crib, 80, &model.arguments());
    terminal.wait("unasked");
    terminal.send("never mind\u{3}");
    terminal.wait("/quit ends the chat");
    let rows = terminal.rows();
    assert!(!rows.iter().any(|row| row.contains("unasked")), "{rows:#?}");
    assert_eq!(row(&rows, "note: Ctrl-D"), row(&rows, "never mind") + 1);
    terminal.wait(READS);
    terminal.send("\u{4}");
    assert_eq!(terminal.end().2, 0);
}
