//! `listen`: the life of a message, also when the program ends in the middle of it.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tools_testkit::http::TestServer;

use crate::Ended;
use crate::config::user_file;
use crate::listen::{Post, until};
use crate::messages::lines;
use crate::model::ANSWER;
use crate::web::PageServer;

impl Post {
    /// Returns the files of the messages without an answer.
    fn waiting(&self) -> Vec<PathBuf> {
        let folder = self
            .crib
            .dir
            .path()
            .join("state/toolcrib/listen/box/waiting");
        let files = |folder: PathBuf| {
            fs::read_dir(folder)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().path())
        };
        files(folder).flat_map(files).collect()
    }

    /// Stores a message whose run was begun after a conversation of this length.
    fn begin(&self, chat: &str, text: &str, after: usize) {
        let folder = self
            .crib
            .dir
            .path()
            .join("state/toolcrib/listen/box/waiting");
        let of_root = fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let file = of_root.join(format!("{:020}.begun{after}", 0));
        fs::write(file, json!({"chat": chat, "text": text}).to_string()).unwrap();
    }
}

/// The answer to a message without another one.
const FAILED: &str = "I could not answer this message.";

/// Starts a model that refuses its first request. Returns it with the flags of a session that asks it.
fn refusing_once() -> (PageServer, Vec<String>) {
    let requests = AtomicUsize::new(0);
    let model = PageServer::new(move |received| {
        if !received.head.starts_with("POST ") {
            // A question about the model.
            TestServer::head("404 Not Found", &[("content-length", "0")])
        } else if requests.fetch_add(1, Ordering::Relaxed) == 0 {
            TestServer::head("400 Bad Request", &[("content-length", "0")])
        } else {
            TestServer::ok("text/event-stream", ANSWER)
        }
    });
    let flags = [
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &model.url("/v1"),
    ]
    .map(str::to_owned)
    .to_vec();
    (model, flags)
}

/// A server that accepts requests and never answers, and the flags of a session that asks it first.
pub(crate) struct Silent {
    pub(crate) server: TcpListener,
    pub(crate) flags: Vec<String>,
}

impl Silent {
    pub(crate) fn new(post: &Post) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = server.local_addr().unwrap().to_string();
        let fetch = json!({"calls": [{"name": "web.fetch", "arguments": {"url": format!("http://{host}/")}}]});
        let script = post.crib.script(&[
            &fetch.to_string(),
            r#"{"text": "first"}"#,
            r#"{"text": "second"}"#,
        ]);
        let grant = format!("net:read:{host}");
        let flags = [
            "--script",
            &script,
            "--private-host",
            &host,
            "--grant",
            &grant,
        ]
        .map(str::to_owned)
        .to_vec();
        Self { server, flags }
    }

    /// Begins the run of a message of the chat `a`, and ends the listener by this signal in the middle. Returns the flags of its session.
    fn interrupted(post: &Post, signal: &str) -> (Vec<String>, Ended) {
        let Self { server, flags } = Self::new(post);
        post.put("a", "begin");
        let listener = post.listen(&flags.iter().map(String::as_str).collect::<Vec<_>>());
        let _pending = server.accept().unwrap();
        (flags, listener.end(signal))
    }
}

#[test]
fn a_message_that_waits_when_the_program_is_killed_is_handled_once_after_it() {
    let post = Post::new();
    let Silent { server, flags } = Silent::new(&post);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    post.put("a", "begin");
    let listener = post.listen(&[&flags[..], &["--max-chats", "1"]].concat());
    let pending = server.accept().unwrap();
    post.put("b", "begin");
    until(|| {
        (post
            .waiting()
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .count()
            == 1)
            .then_some(())
    });
    assert_eq!(listener.end("-KILL").code, None);
    drop((pending, server));

    // The run that was begun is finished, and the message that waited is handled.
    let listener = post.listen(&flags);
    let answers = post.answers(2);
    assert_eq!(
        (answers("a"), answers("b")),
        (vec!["first".to_owned()], vec!["first".to_owned()])
    );
    until(|| post.waiting().is_empty().then_some(()));
    post.put("a", "go on");
    assert_eq!(post.answers(3)("a"), ["first", "second"]);
    listener.end("-TERM").expect(0);
    let listener = post.listen(&flags);
    post.put("c", "begin");
    assert_eq!(post.answers(4)("c"), ["first"]);
    listener.end("-TERM").expect(0);
    assert_eq!(lines(&post.crib.dir.path().join("out.jsonl")).len(), 4);
}

#[test]
fn a_shutdown_cancels_a_run_that_goes_on_after_a_restart() {
    let post = Post::new();
    let (flags, ended) = Silent::interrupted(&post, "-TERM");
    ended.expect(0);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    assert!(lines(&post.crib.dir.path().join("out.jsonl")).is_empty());

    let listener = post.listen(&flags);
    assert_eq!(post.answers(1)("a"), ["first"]);
    post.put("a", "go on");
    assert_eq!(post.answers(2)("a"), ["first", "second"]);
    listener.end("-TERM").expect(0);
}

#[test]
fn a_message_after_a_run_that_cannot_be_finished_is_answered_in_the_same_conversation() {
    let post = Post::new();
    let (model, flags) = refusing_once();
    let listener = post.listen(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    post.put("a", "the first question");
    assert_eq!(post.answers(1)("a"), [FAILED]);
    post.put("a", "the second question");
    assert_eq!(post.answers(2)("a")[1], "It says hello.");
    let last = model.bodies().pop().unwrap();
    assert!(
        last.contains("the first question") && last.contains("the second question"),
        "{last}"
    );
    assert_eq!(post.answers(2)("a").len(), 2);
    let notes = listener.end("-TERM").expect(0).stderr;
    assert_eq!(
        (
            notes.matches("box/a: failed").count(),
            notes.matches("box/a: answered").count()
        ),
        (1, 1),
        "{notes}"
    );
    assert_eq!(model.bodies().len(), 2);
}

#[test]
fn a_message_that_was_begun_without_a_record_is_handled_instead_of_the_run_before_it() {
    let post = Post::new();
    let (model, flags) = refusing_once();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let listener = post.listen(&flags);
    post.put("a", "the first question");
    assert_eq!(post.answers(1)("a"), [FAILED]);
    listener.end("-TERM").expect(0);
    // The state of a program that was killed between the begin of a message and the first record of its run.
    post.begin("a", "the second question", 1);

    let listener = post.listen(&flags);
    assert_eq!(post.answers(2)("a"), [FAILED, "It says hello."]);
    until(|| post.waiting().is_empty().then_some(()));
    listener.end("-TERM").expect(0);
    let [_, body] = &model.bodies()[..] else {
        panic!("{:?}", model.bodies())
    };
    assert!(
        body.contains("the first question") && body.contains("the second question"),
        "{body}"
    );
}

#[test]
fn a_message_whose_run_fails_after_a_restart_is_told_so_once() {
    let post = Post::new();
    let (mut flags, _) = Silent::interrupted(&post, "-KILL");
    // The script has no turn after the call.
    flags[1] = post.crib.script(&[r#"{"text": "unused"}"#]);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let listener = post.listen(&flags);
    assert_eq!(post.answers(1)("a"), [FAILED]);
    until(|| post.waiting().is_empty().then_some(()));
    listener.end("-TERM").expect(0);
    let listener = post.listen(&flags);
    post.put("b", "begin");
    let answers = post.answers(2);
    assert_eq!(
        (answers("a"), answers("b")),
        (vec![FAILED.to_owned()], vec!["unused".to_owned()])
    );
    listener.end("-TERM").expect(0);
}

#[test]
fn a_message_that_was_begun_is_not_run_again_without_the_journal_of_its_run() {
    let post = Post::new();
    let (flags, _) = Silent::interrupted(&post, "-KILL");
    for journal in post.journals() {
        for end in ["", "-wal", "-shm"] {
            fs::remove_file(format!("{}{end}", journal.display())).unwrap();
        }
    }
    let listener = post.listen(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(post.answers(1)("a"), [FAILED]);
    until(|| post.waiting().is_empty().then_some(()));
    listener.end("-TERM").expect(0);
}

#[test]
fn a_mistake_in_the_settings_ends_the_listener_and_loses_no_message() {
    let post = Post::new();
    post.put("a", "time.now zone=UTC");
    post.crib
        .run(&["listen", "box", "--provider", "openai"])
        .expect(2);
    let listener = post.listen(&["--provider", "direct"]);
    drop(post.answers(1));
    let file = user_file(&post.crib);
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("no_such_key = 1\n{settings}")).unwrap();
    post.put("a", "fs.read path=README.md");
    let ended = listener.wait();
    assert!(
        ended.code == Some(2) && ended.stderr.contains("no_such_key"),
        "{ended:#?}"
    );
    fs::write(&file, settings).unwrap();
    let listener = post.listen(&["--provider", "direct"]);
    assert!(post.answers(2)("a")[1].contains("# Hello"));
    listener.end("-TERM").expect(0);
}

#[test]
fn a_message_waits_for_the_listener_of_its_root() {
    let post = Post::new();
    let (flags, _) = Silent::interrupted(&post, "-KILL");
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let sub = post.crib.root().join("sub").display().to_string();
    let listener = post.listen(&[&flags[..], &["--root", &sub]].concat());
    post.put("b", "begin");
    assert!(post.answers(1)("a").is_empty());
    listener.end("-TERM").expect(0);
    assert_eq!(post.waiting().len(), 1);
}

#[test]
fn an_answer_that_was_not_begun_to_be_sent_is_sent_once() {
    let post = Post::new();
    let listener = post.listen(&["--provider", "direct"]);
    post.put("a", "time.now zone=UTC");
    drop(post.answers(1));
    listener.end("-TERM").expect(0);
    // The journal of a program that ended between the end of the run and the answer.
    let [journal] = &post.journals()[..] else {
        panic!("{:?}", post.journals())
    };
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", journal.display()));
    }
    let session = format!("box/{}", journal.file_stem().unwrap().to_str().unwrap());
    let path = journal.to_str().unwrap();
    let run = [
        "run",
        "fs.read path=README.md",
        "--provider",
        "direct",
        "--journal",
        path,
        "--session",
        &session,
    ];
    post.crib
        .run(&[&run[..], &["--grant", "message:write:reply"]].concat())
        .expect(0);

    let listener = post.listen(&["--provider", "direct"]);
    for count in [3, 4] {
        post.put("a", "time.now zone=UTC");
        let answers = post.answers(count)("a");
        assert!(
            answers[1].contains("# Hello") && answers.len() == count,
            "{answers:#?}"
        );
        assert!(
            answers[2..].iter().all(|answer| answer.contains("UTC")),
            "{answers:#?}"
        );
    }
    listener.end("-TERM").expect(0);
}

#[test]
fn a_busy_chat_does_not_keep_the_others_waiting() {
    let post = Post::new();
    for _ in 0..8 {
        post.put("busy", "time.now zone=UTC");
    }
    post.put("other", "fs.read path=README.md");
    let listener = post.listen(&["--provider", "direct", "--max-chats", "1"]);
    drop(post.answers(9));
    listener.end("-TERM").expect(0);
    let answers = lines(&post.crib.dir.path().join("out.jsonl"));
    let place = answers
        .iter()
        .position(|answer| answer["chat"] == "other")
        .unwrap();
    assert!(place < 8, "{answers:#?}");
}

#[test]
fn without_records_each_message_is_a_conversation_of_its_own() {
    for settings in ["", "sessions.record = false\n"] {
        let post = Post::with_settings(settings);
        let script = post
            .crib
            .script(&[r#"{"text": "one"}"#, r#"{"text": "two"}"#]);
        let flag: &[&str] = if settings.is_empty() {
            &["--no-journal"]
        } else {
            &[]
        };
        post.put("a", "next");
        post.put("a", "next");
        let listener = post.listen(&[&["--script", &*script], flag].concat());
        assert_eq!(post.answers(2)("a"), ["one", "one"]);
        listener.end("-TERM").expect(0);
        assert!(
            post.journals().is_empty() && post.waiting().is_empty(),
            "{:?}",
            post.journals()
        );
    }
}

#[test]
fn a_chat_has_no_more_than_todays_grant() {
    let post = Post::new();
    let write = "fs.write path=new.txt content=x";
    let listener = post.listen(&["--provider", "direct", "--grant", "fs:write:**"]);
    post.put("a", write);
    drop(post.answers(1));
    listener.end("-TERM").expect(0);
    fs::remove_file(post.crib.root().join("new.txt")).unwrap();

    let listener = post.listen(&["--provider", "direct"]);
    post.put("a", write);
    assert!(post.answers(2)("a")[1].contains("needs fs:write:new.txt"));
    listener.end("-TERM").expect(0);
    assert!(!post.crib.root().join("new.txt").exists());
}

#[test]
fn a_channel_that_is_named_twice_and_flags_for_one_session_or_for_questions_are_refused() {
    let post = Post::new();
    for (arguments, said) in [
        (&["listen", "box", "box"][..], "the command names it twice"),
        (&["listen", "box", "--resume"], "unexpected argument"),
        (&["listen", "box", "--session=s"], "unexpected argument"),
        (
            &["listen", "box", "--journal=calls.journal"],
            "unexpected argument",
        ),
        (
            &["listen", "box", "--approval-timeout=1s"],
            "unexpected argument",
        ),
        (
            &["listen", "box", "--max-chats", "0"],
            "write a whole number from 1 on",
        ),
    ] {
        let ended = post
            .crib
            .run(&[arguments, &["--provider", "direct"]].concat())
            .expect(2);
        assert!(ended.stderr.contains(said), "{ended:#?}");
    }
}
