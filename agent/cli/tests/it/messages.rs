//! Messages to the channels of the settings.

use std::path::Path;

use serde_json::Value;
use tools_testkit::http::TestServer;

use crate::config::{config, refused, user_file, write_user};
use crate::web::{CANARY, PageServer, is_below};
use crate::{Crib, Ended};

/// Returns the messages of a file.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn send(crib: &Crib, call: &str, flags: &[&str]) -> Ended {
    crib.run(&[&["run", "--provider", "direct", call], flags].concat())
}

#[test]
fn a_message_goes_to_the_file_that_the_user_names_and_tools_do_not_see_it() {
    let crib = Crib::new();
    // Relative to the settings file.
    write_user(
        &crib,
        "[channels.log]\ntype = 'file'\npath = '../../root/log.jsonl'\n",
    );
    let file = crib.root().join("log.jsonl");
    let call = "message.send channel=log text=hello";

    let ended = send(&crib, call, &[]).expect(5);
    assert!(
        ended.stderr.contains("--grant message:write:log"),
        "{ended:#?}"
    );
    assert!(lines(&file).is_empty());
    send(&crib, call, &["--grant", "message:write:log"]).expect(0);
    crib.run(&[
        "call",
        "message.send",
        "channel=log",
        "text=typed",
        "--grant",
        "message:write:log",
    ])
    .expect(0);
    let texts: Vec<_> = lines(&file)
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(texts, ["hello", "typed"]);

    // A model learns the names.
    let system = crib.run(&["system"]).expect(0).stdout;
    assert!(
        system.contains("The channels of `message.send` are: log, terminal."),
        "{system}"
    );
    let ended = send(
        &crib,
        "message.send channel=team text=hello",
        &["--grant", "message:write:**"],
    )
    .expect(1);
    assert!(
        ended.stdout.contains("use one of: log, terminal"),
        "{ended:#?}"
    );
    // Nobody is asked about a channel that does not exist.
    let ended = send(&crib, "message.send channel=lgo text=hello", &[]).expect(1);
    assert!(
        ended.stdout.contains("did you mean log?") && !ended.stderr.contains("--grant"),
        "{ended:#?}"
    );
    let ended = send(
        &crib,
        "message.send text=hello",
        &["--grant", "message:write:**"],
    )
    .expect(1);
    assert!(ended.stdout.contains("no chat to reply in"), "{ended:#?}");
    for call in [
        "fs.read path=log.jsonl",
        "fs.write path=log.jsonl content=forged",
    ] {
        let ended = send(&crib, call, &["--grant", "fs:write:**"]);
        assert_ne!(ended.code, Some(0), "{ended:#?}");
    }
    assert_eq!(lines(&file).len(), 2);
}

#[test]
fn the_terminal_is_a_channel_without_settings_and_shows_what_is_hidden() {
    let crib = Crib::new();
    let ended = send(
        &crib,
        "message.send channel=terminal text='a\u{1b}[2J\u{202e}b'",
        &["--grant", "message:write:terminal"],
    );
    let ended = ended.expect(0);
    assert!(
        ended.stderr.contains("message: a<U+001B>[2J<U+202E>b\n"),
        "{ended:#?}"
    );
}

#[test]
fn the_url_of_a_webhook_is_used_and_shown_nowhere() {
    let crib = Crib::new();
    let server = PageServer::new(|_| TestServer::ok("text/plain", "ok"));
    let url = crib.write(
        "url.txt",
        &format!("{}\n", server.url(&format!("/{CANARY}"))),
    );
    write_user(
        &crib,
        &format!("[channels.team]\ntype = 'webhook'\nformat = 'slack'\nurl_file = '{url}'\n"),
    );
    let call = "message.send channel=team text=hello";
    let flags = ["--grant", "message:write:team", "--journal-arguments"];
    let mut shown = vec![send(&crib, call, &flags).expect(0)];
    assert!(
        server.heads()[0].starts_with(&format!("POST /{CANARY} HTTP/1.1\r\n")),
        "{:?}",
        server.heads()
    );

    // The host of the channel is for messages alone.
    let fetch = send(&crib, &server.fetch("/"), &[]).expect(5);
    assert!(fetch.stderr.contains("--grant"), "{fetch:#?}");
    assert_eq!(
        send(
            &crib,
            call,
            &["--grant", "message:write:team", "--no-default-grants"]
        )
        .code,
        Some(5)
    );
    shown.push(fetch);
    shown.push(crib.run(&["call", "fs.read", "path=../url.txt"]));
    for arguments in [
        &["doctor"][..],
        &["config"],
        &["config", "--json"],
        &["why", "message.send", "channel=team", "text=a"],
    ] {
        shown.push(crib.run(arguments));
    }
    drop(server);
    shown.push(send(&crib, call, &flags));
    assert!(
        shown.last().unwrap().stdout.contains("was not sent"),
        "{shown:#?}"
    );
    for ended in &shown {
        assert!(!format!("{ended:?}").contains(CANARY), "{ended:#?}");
    }
    assert!(!is_below(&crib.dir.path().join("state"), CANARY));
}

#[test]
fn doctor_and_a_session_say_which_channel_lacks_its_secret() {
    let crib = Crib::new();
    let line = crib.run(&["doctor"]).expect(0).stdout;
    assert!(
        line.contains("channels: terminal; a table [channels.NAME]"),
        "{line}"
    );
    write_user(
        &crib,
        "[channels.team]\ntype = 'webhook'\nurl_env = 'TEAM_URL'\n",
    );
    let doctor = |variable: Option<&str>| {
        let mut command = crib.command(&["doctor"]);
        variable.map(|value| command.env("TEAM_URL", value));
        let ended = crate::ended(&mut command, b"");
        (
            ended.code,
            ended
                .stdout
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    let (code, line) = doctor(None);
    assert!(
        line.contains("the channel team is not available: its url is missing: TEAM_URL is empty"),
        "{line}"
    );
    assert!(
        line.contains("channel team: webhook, not available, url from TEAM_URL (not found)"),
        "{line}"
    );
    assert_eq!(code, Some(8));
    let (code, line) = doctor(Some("https://hooks.example.org/a"));
    assert!(
        line.contains("channel team: webhook at hooks.example.org, url from TEAM_URL (found)"),
        "{line}"
    );
    assert_eq!(code, Some(0));

    let ended = send(
        &crib,
        "message.send channel=team text=hello",
        &["--grant", "message:write:team"],
    )
    .expect(10);
    assert!(
        ended.stderr.contains("the channel team is not available"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stdout
            .contains("TEAM_URL is empty or missing; set this variable"),
        "{ended:#?}"
    );
}

#[test]
fn a_channel_that_cannot_be_used_is_an_error_of_its_own_use_alone() {
    let crib = Crib::new();
    let [inbox, key] = ["in.jsonl", "key.txt"].map(|name| crib.write(name, "short"));
    let hook = "type = 'webhook'\nlisten = '127.0.0.1:0'";
    write_user(
        &crib,
        &format!(
            "[channels.log]\ntype = 'file'\npath = 'log.jsonl'\n[channels.hook]\n{hook}\nkey_env = 'HOOK_KEY'\n[channels.other]\n{hook}\n\
             key_file = '{key}'\n[channels.same]\ntype = 'file'\npath = '{inbox}'\ninbox = '{inbox}'\n"
        ),
    );
    let run = |arguments: &[&str]| {
        let ended = crate::ended(
            crib.command(arguments).env("HOOK_KEY", "0123456789abcde"),
            b"",
        );
        assert!(
            !format!("{ended:?}").contains("0123456789abcde"),
            "{ended:#?}"
        );
        ended
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let call = |channel: &str| {
        let call = format!("message.send channel={channel} text=hello");
        run(&[
            "run",
            "--provider",
            "direct",
            &call,
            "--grant",
            "message:write:**",
        ])
    };
    let ended = call("log").expect(0);
    let warnings = words(&ended.stderr);
    for reason in [
        "toolcrib.toml:4: the channel hook is not available: its key, from HOOK_KEY, has fewer than 16 bytes",
        &format!(
            "toolcrib.toml:8: the channel other is not available: its key, from {key}, has fewer than 16 bytes"
        ),
        "toolcrib.toml:12: the channel same is not available: its inbox is the file of the messages that go out",
    ] {
        assert_eq!(warnings.matches(reason).count(), 1, "{reason}: {warnings}");
    }
    let ended = call("hook").expect(10);
    assert!(
        words(&ended.stdout)
            .contains("the channel hook cannot be used: its key, from HOOK_KEY, has fewer"),
        "{ended:#?}"
    );
    run(&["listen", "terminal", "--provider", "direct"]).expect(0);
    let ended = run(&["listen", "hook", "--provider", "direct"]).expect(2);
    let error = words(&ended.stderr);
    assert!(
        error.contains("toolcrib.toml:4: its key, from HOOK_KEY, has fewer than 16 bytes"),
        "{error}"
    );
    let doctor = run(&["doctor", "--json"]).expect(8).documents();
    assert!(
        doctor.iter().all(|finding| finding["check"] == "channel") && doctor.len() == 3,
        "{doctor:?}"
    );
}

#[test]
fn a_channel_whose_file_is_a_folder_is_named_and_holds_up_nothing_else() {
    let crib = Crib::new();
    for folder in [
        crib.root(),
        crib.root().join("sub"),
        crib.dir.path().to_owned(),
    ] {
        write_user(
            &crib,
            &format!(
                "[channels.log]\ntype = 'file'\npath = '{}'\n",
                folder.display()
            ),
        );
        let finding = crib.run(&["doctor", "--json"]).expect(8).document();
        assert_eq!(finding["check"], "channel", "{finding}");
        let message = finding["message"].as_str().unwrap();
        assert!(
            message.contains("toolcrib.toml:1: the channel log is not available: its path"),
            "{message}"
        );
        crib.run(&[
            "call",
            "fs.list",
            "--no-default-grants",
            "--grant",
            "fs:read:**",
        ])
        .expect(0);
        let ended = crib
            .run(&["run", "--provider", "direct", "time.now"])
            .expect(0);
        assert!(
            ended.stderr.contains("the channel log is not available"),
            "{ended:#?}"
        );
    }
}

#[test]
fn the_password_of_a_mailbox_may_have_spaces_and_any_letters() {
    let crib = Crib::new();
    let mail =
        "server = 'mail.example.com'\nuser = 'ann'\nfrom = 'a@example.com'\nto = ['b@example.com']";
    write_user(
        &crib,
        &format!("[channels.mail]\ntype = 'email'\n{mail}\npassword_env = 'MAILBOX'\n"),
    );
    for (password, code) in [("abcd efgh ijkl mnöp", 0), ("abcd\u{7}", 8)] {
        let ended = crate::ended(
            crib.command(&["doctor", "--json"]).env("MAILBOX", password),
            b"",
        )
        .expect(code);
        assert!(
            ended
                .documents()
                .iter()
                .all(|finding| finding["check"] == "channel"),
            "{ended:#?}"
        );
    }
}

#[test]
fn a_mistake_in_a_channel_is_reported_without_its_values() {
    let crib = Crib::new();
    for (text, parts) in [
        (
            "channels = 1",
            &["channels must be a table of tables", "[channels.NAME]"][..],
        ),
        ("channels.a = 1", &["channels.a is invalid"]),
        ("[channels.a]\npath = 'x'", &["channels.a needs a type"]),
        (
            "[channels.a]\ntype = 'pigeon'",
            &[
                "channels.a has an invalid type",
                "email, file, terminal, webhook",
            ],
        ),
        (
            "[channels.reply]\ntype = 'file'\npath = 'x'",
            &["channels.reply cannot be used", "not `reply`"],
        ),
        (
            "[channels.'a b']\ntype = 'file'\npath = 'x'",
            &["cannot be used", "letters, digits"],
        ),
        ("[channels.a]\ntype = 'file'", &["channels.a has no path"]),
        (
            "[channels.a]\ntype = 'file'\npth = 'x'",
            &["channels.a has the unknown setting pth", "path"],
        ),
        (
            "[channels.a]\ntype = 'file'\npath = 1",
            &["invalid path: it must be a text"],
        ),
        (
            "[channels.a]\ntype = 'file'\npath = 1.5",
            &["channels.a is invalid", "a text, a whole number, or a list"],
        ),
        (
            "[channels.a]\ntype = 'webhook'\nurl = 'sk-live-1'",
            &["unknown setting url", "url_env, url_file"],
        ),
        (
            "[channels.a]\ntype = 'webhook'\nkey = 'sk-live-1'",
            &["channels.a.key looks like a secret"],
        ),
        (
            "[channels.a]\ntype = 'email'\npassword = 'sk-live-1'",
            &["channels.a.password looks like a secret"],
        ),
        (
            "[channels.a]\ntype = 'webhook'\nurl_env = 'sk-live-1'",
            &["invalid place of url", "not the key itself"],
        ),
        (
            "[channels.a]\ntype = 'webhook'\nurl_env = 'A'\nurl_file = 'b'",
            &["has both url_env and url_file"],
        ),
        (
            "[channels.a]\ntype = 'email'\nserver = 'h'\nport = '25'\nfrom = 'a@b.c'\nto = ['x@b.c']",
            &["a whole number"],
        ),
    ] {
        write_user(&crib, text);
        let ended = refused(&crib, parts);
        assert!(
            ended.stderr.contains("toolcrib.toml:") && !ended.stderr.contains("sk-live-1"),
            "{ended:#?}"
        );
    }
    write_user(&crib, "[channels.a]\ntype = 'file'\npath = 'x.jsonl'\n");
    let rows = config(&crib, &[])["settings"].clone();
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "channels")
        .unwrap()
        .clone();
    assert_eq!(
        row["value"]["path"],
        user_file(&crib).with_file_name("x.jsonl").to_str().unwrap(),
        "{row}"
    );
}
