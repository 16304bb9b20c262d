//! `listen`: the provider of a chat, and the time for which its session is kept.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tools_testkit::http::TestServer;

use crate::Crib;
use crate::config::user_file;
use crate::listen::{Listener, Post, until};
use crate::listen_life::Silent;
use crate::messages::lines;
use crate::model::ANSWER;
use crate::web::PageServer;

/// The script of a session with two turns.
const TURNS: [&str; 2] = [r#"{"text": "one"}"#, r#"{"text": "two"}"#];

/// Dates a journal and the files beside it back by more than the default of `sessions.max_age`.
fn age(journal: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    for end in ["journal", "journal-wal", "journal-shm"] {
        if let Ok(file) = fs::File::options()
            .write(true)
            .open(journal.with_extension(end))
        {
            file.set_modified(long_ago).unwrap();
        }
    }
}

#[test]
fn a_chat_goes_on_with_the_provider_and_the_model_of_the_day() {
    let post = Post::with_settings("provider = 'direct'\n");
    let listener = post.listen(&[]);
    post.put("a", "time.now zone=UTC");
    drop(post.answers(1));
    let settings = fs::read_to_string(user_file(&post.crib)).unwrap();
    let models: Vec<_> = (0..2)
        .map(|_| PageServer::new(|_| TestServer::ok("text/event-stream", ANSWER)))
        .collect();
    for (count, model) in models.iter().enumerate() {
        let chosen = format!(
            "provider = 'openai'\nmodel = 'm-{count}'\nbase_url = '{}'",
            model.url("/v1")
        );
        fs::write(
            user_file(&post.crib),
            settings.replace("provider = 'direct'", &chosen),
        )
        .unwrap();
        post.put("a", &format!("question {count}"));
        assert_eq!(post.answers(count + 2)("a")[count + 1], "It says hello.");
        let [body] = &model.bodies()[..] else {
            panic!("{:?}", model.bodies())
        };
        assert!(
            body.contains(&format!("m-{count}")) && body.contains("time.now zone=UTC"),
            "{body}"
        );
    }
    fs::write(user_file(&post.crib), settings).unwrap();
    post.put("a", "fs.read path=README.md");
    assert!(post.answers(4)("a")[3].contains("# Hello"));
    listener.end("-TERM").expect(0);
}

#[test]
fn a_chat_whose_journal_has_no_run_begins_anew() {
    let post = Post::new();
    let listener = post.listen(&[]);
    post.put("a", "time.now zone=UTC");
    drop(post.answers(1));
    listener.end("-TERM").expect(0);
    let [journal] = &post.journals()[..] else {
        panic!("{:?}", post.journals())
    };
    for end in ["journal-wal", "journal-shm"] {
        let _ = fs::remove_file(journal.with_extension(end));
    }
    fs::write(journal, "").unwrap();
    let listener = post.listen(&[]);
    post.put("a", "fs.read path=README.md");
    assert!(post.answers(2)("a")[1].contains("# Hello"));
    listener.end("-TERM").expect(0);
}

#[test]
fn a_chat_without_messages_is_forgotten_after_a_time() {
    let post = Post::new();
    let script = post.crib.script(&TURNS);
    let listener = post.listen(&["--script", &script]);
    post.put("a", "next");
    drop(post.answers(1));
    let [old] = &post.journals()[..] else {
        panic!("{:?}", post.journals())
    };
    post.put("b", "next");
    drop(post.answers(2));
    listener.end("-TERM").expect(0);

    age(old);
    let listener = post.listen(&["--script", &script]);
    post.put("b", "next");
    assert_eq!(post.answers(3)("b"), ["one", "two"]);
    assert!(
        !old.exists() && post.journals().len() == 1,
        "{:?}",
        post.journals()
    );
    post.put("a", "next");
    assert_eq!(post.answers(4)("a"), ["one", "one"]);

    // Also without a restart.
    let journals = post.journals();
    // The task of a chat may end a moment after its answer, and its journal is kept until then.
    let mut count = 4;
    while journals.iter().any(|journal| journal.exists()) {
        journals.iter().for_each(|journal| age(journal));
        post.put(&format!("new-{count}"), "next");
        count += 1;
        drop(post.answers(count));
    }
    listener.end("-TERM").expect(0);
}

#[test]
fn runs_that_were_interrupted_long_ago_are_finished() {
    let post = Post::new();
    let Silent { server, flags } = Silent::new(&post);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    ["a", "b"].iter().for_each(|chat| post.put(chat, "begin"));
    let listener = post.listen(&flags);
    let pending = ["a", "b"].map(|_| server.accept().unwrap());
    listener.end("-KILL");
    drop((pending, server));
    post.journals().iter().for_each(|journal| age(journal));
    // Neither a listener of another root, which prunes the same folder, nor one without records touches them.
    let sub = post.crib.root().join("sub").display().to_string();
    for (answered, others) in [&["--root", &*sub][..], &["--no-journal"]]
        .into_iter()
        .enumerate()
    {
        let listener = post.listen(&[&flags[..], others].concat());
        post.put("c", "begin");
        assert!(post.answers(answered + 1)("a").is_empty());
        listener.end("-TERM").expect(0);
    }
    // One of them waits while sessions are pruned.
    let listener = post.listen(&[&flags[..], &["--max-chats", "1"]].concat());
    let answers = post.answers(4);
    assert_eq!(
        (answers("a"), answers("b")),
        (vec!["first".to_owned()], vec!["first".to_owned()])
    );
    listener.end("-TERM").expect(0);
}

#[test]
fn a_chat_that_is_larger_than_all_sessions_may_be_begins_anew() {
    let post = Post::new();
    let script = post.crib.script(&TURNS);
    for count in 1..=2 {
        let listener = post.listen(&["--script", &script]);
        post.put("a", "next");
        assert_eq!(post.answers(count)("a"), vec!["one"; count]);
        listener.end("-TERM").expect(0);
        let [journal] = &post.journals()[..] else {
            panic!("{:?}", post.journals())
        };
        let journal = fs::File::options().write(true).open(journal).unwrap();
        // The file is sparse and takes no space.
        journal.set_len(1_100_000_000).unwrap();
    }
}

#[test]
fn channels_of_one_name_in_two_files_share_no_memories() {
    let crib = Crib::new();
    let ask = |folder: &str, texts: [&str; 2]| {
        let folder = crib.dir.path().join(folder);
        fs::create_dir(&folder).unwrap();
        let settings = folder.join("toolcrib.toml");
        fs::write(
            &settings,
            "[channels.box]\ntype = 'file'\npath = 'out.jsonl'\ninbox = 'in.jsonl'\n",
        )
        .unwrap();
        let messages = texts.map(|text| format!("{}\n", json!({"chat": "x", "text": text})));
        fs::write(folder.join("in.jsonl"), messages.concat()).unwrap();
        let settings = settings.to_str().unwrap();
        let flags = [
            "--config",
            settings,
            "--provider",
            "direct",
            "--grant",
            "memory:write:user",
        ];
        let listener = Listener::start(&crib, &[&["listen", "box"], &flags[..]].concat());
        let answers =
            until(|| Some(lines(&folder.join("out.jsonl"))).filter(|answers| answers.len() == 2));
        listener.end("-TERM").expect(0);
        answers
            .iter()
            .map(|answer| answer["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let list = "memory.list scope=user";
    let own = ask(
        "a",
        ["memory.save text='the code is 4711' scope=user", list],
    );
    assert!(own[1].contains("4711"), "{own:#?}");
    let others = ask("b", [list, list]);
    assert!(!others[1].contains("4711"), "{others:#?}");
}
