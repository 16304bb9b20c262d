use crate::Crib;
use crate::config::{refused, user_file, write_user};

/// Returns a table of a secret that ends with these lines.
fn secret(rest: &str) -> String {
    format!("[[secrets]]\nname = 'a'\norigin = 'https://h'\nheader = 'x-key'\n{rest}\n")
}

#[test]
fn a_mistake_is_reported_with_line_key_and_advice() {
    let crib = Crib::new();
    for (text, line, parts) in [
        (
            "\nmodle = 'x'",
            2,
            &["unknown setting modle", "did you mean model?"][..],
        ),
        (
            "zzz = 1",
            1,
            &[
                "unknown setting zzz",
                "the settings here are profile, default_grants",
            ],
        ),
        (
            "[limits]\nmax_step = 1",
            2,
            &["limits.max_step", "did you mean limits.max_steps?"],
        ),
        (
            "max_steps = 3",
            1,
            &[
                "unknown setting max_steps",
                "did you mean limits.max_steps?",
            ],
        ),
        (
            "[http]\nsearch_key_env = 'A'",
            2,
            &["did you mean web.search_key_env?"],
        ),
        (
            "[limits]\nmodel = 'x'",
            2,
            &["unknown setting limits.model", "did you mean model?"],
        ),
        (
            "[limits]\n\ncall_timeut = 1",
            3,
            &["limits.call_timeut", "limits.call_timeout"],
        ),
        (
            "[profiles.a]\ngrant = ['x']",
            2,
            &["profiles.a.grant", "profiles.a.grants"],
        ),
        (
            "[profiles.a]\nmodel = 'x'",
            2,
            &["profiles.a.model", "the settings here are default_grants"],
        ),
        (
            "[profiles]\na = 1",
            2,
            &["profiles.a must be a table, not 1"],
        ),
        ("model = 1", 1, &["model must be a string, not 1"]),
        ("model = ' '", 1, &["model is empty"]),
        (
            "default_grants = 'yes'",
            1,
            &["default_grants must be true or false, not a string"],
        ),
        ("select = 'fs.*'", 1, &["select must be a list of strings"]),
        ("select = [\n'fs.*',\n1]", 3, &["select must be a string"]),
        ("select = ['[']", 1, &["select is invalid", "glob"]),
        (
            "grants = ['fs']",
            1,
            &["grants is invalid", "scheme:access:pattern"],
        ),
        ("within = ['fs:peek:**']", 1, &["within is invalid"]),
        (
            "grants = ['net:read:Example.org']",
            1,
            &[
                "grants is invalid",
                "lower case",
                "write `net:read:example.org`",
            ],
        ),
        (
            "within = [\n'net:*:https://a.org/b']",
            2,
            &["within is invalid", "write `net:*:a.org`"],
        ),
        (
            "[profiles.a]\ngrants = ['net:read:m\u{fc}nchen.example']",
            2,
            &["in ASCII", "as `xn--…`"],
        ),
        (
            "[[policy]]\nverdict = 'deny'\ntarget = 'net:read:*.Org'",
            3,
            &["policy is invalid", "`net:read:*.org`"],
        ),
        ("limits = 3", 1, &["limits must be a table"]),
        (
            "limits.max_steps = 0",
            1,
            &["limits.max_steps must be a whole number from 1"],
        ),
        (
            "limits.max_steps = 99999999999999999999",
            1,
            &["limits.max_steps", "99999999999999999999"],
        ),
        ("limits.max_steps = 1.5", 1, &["not 1.5"]),
        (
            "limits.call_timeout = 30",
            1,
            &["limits.call_timeout must be a string such as \"30s\", not 30"],
        ),
        (
            "limits.deadline = 1.5",
            1,
            &["limits.deadline must be a string such as \"30s\", not 1.5"],
        ),
        (
            "limits.call_timeout = 'soon'",
            1,
            &["limits.call_timeout is not a duration", "500ms"],
        ),
        (
            "limits.deadline = '0s'",
            1,
            &["limits.deadline is not a duration"],
        ),
        (
            "limits.max_steps = 0",
            1,
            &["limits.max_steps must be a whole number from 1"],
        ),
        (
            "limits.max_steps = -1",
            1,
            &["limits.max_steps must be a whole number from 1"],
        ),
        (
            "trusted = ['work']",
            1,
            &["trusted must contain absolute paths"],
        ),
        (
            "key_env = 'A'\nkey_file = 'b'",
            2,
            &["key_file conflicts with key_env"],
        ),
        (
            "http.private_hosts = ['http://h']",
            1,
            &["http.private_hosts must contain hosts"],
        ),
        (
            "http.private_hosts = [\n'a', '*.b']",
            2,
            &["http.private_hosts must contain hosts"],
        ),
        (
            "http.private_hosts = 'a'",
            1,
            &["http.private_hosts must be a list of strings"],
        ),
        (
            "http.proxy = 'http://user:pw@h'",
            1,
            &["http.proxy must be http(s)://host/path"],
        ),
        (
            "[http]\nprivate_host = ['a']",
            2,
            &["did you mean http.private_hosts?"],
        ),
        (
            "[web]\nsearch_key = 'sk-1'",
            2,
            &["web.search_key looks like a secret"],
        ),
        (
            "[web]\nsearch_key_env = 'A'\nsearch_key_file = 'b'",
            3,
            &["conflicts with web.search_key_env"],
        ),
        (
            "secrets = 1",
            1,
            &["secrets must be a list of tables, each with the header [[secrets]]"],
        ),
        (
            "[[secrets]]\nname = 'a'",
            1,
            &["secrets is invalid", "origin"],
        ),
        (
            &secret("env = 'A'\nfile = 'b'"),
            1,
            &["secrets needs one place"],
        ),
        (&secret(""), 1, &["secrets needs one place"]),
        (
            &secret("env = 'sk-live-1'"),
            1,
            &["secrets has an invalid env", "not the key itself"],
        ),
        (
            &secret("value = 'sk-live-1'"),
            5,
            &["secrets is invalid", "value"],
        ),
        (
            &secret("env = 'A'").replace("https://h", "h"),
            1,
            &["secrets has an invalid origin", "http(s)://host"],
        ),
        (
            "profile = 'a'",
            1,
            &["there is no profile \"a\"", "[profiles.a]"],
        ),
        (
            "profile = 'a'\n[profiles.b]",
            1,
            &["there is no profile \"a\"; the profiles are b"],
        ),
        (
            "\nmodel = 'm'",
            2,
            &["model has no effect without a provider", "--provider"],
        ),
        (
            "base_url = 'http://h'",
            1,
            &["base_url has no effect without a provider"],
        ),
        (
            "model = 'a'\nmodel = 'b'",
            2,
            &["invalid TOML: duplicate key"],
        ),
        ("model =", 1, &["invalid TOML"]),
    ] {
        write_user(&crib, text);
        let place = format!("error: {}:{line}: ", user_file(&crib).display());
        let shown = refused(&crib, &[&[place.as_str()], parts].concat());
        assert!(!shown.stderr.contains("sk-"), "{shown:#?}");
        let ended = crib.run(&["run", "time.now"]).expect(2);
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains(&place),
            "{ended:#?}"
        );
    }
}

#[test]
fn an_unreadable_file_is_reported() {
    let crib = Crib::new();
    std::fs::create_dir_all(user_file(&crib)).unwrap();
    refused(&crib, &["cannot read", "--no-config"]);
    std::fs::remove_dir(user_file(&crib)).unwrap();
    for bytes in [b"model = '\xff'".to_vec(), vec![b'\n'; 1024 * 1024 + 1]] {
        std::fs::write(user_file(&crib), bytes).unwrap();
        refused(&crib, &["cannot read", "toolcrib.toml"]);
    }
    crib.run(&["config", "--config", "missing.toml"]).expect(2);
}

#[test]
fn a_key_in_the_file_is_refused_and_never_repeated() {
    let crib = Crib::new();
    for text in [
        "key = 'sk-secret'",
        "api_key = 'sk-secret'",
        "OPENAI_API_KEY = 'sk-secret'",
        "[profiles.a]\ntoken = 'sk-secret'",
        "api_key = sk-secret",
        "model = 'sk-secret",
        "key_env = 'sk-secret'",
        "base_url = 'https://me:sk-secret@example.org'",
        "base_url = 'https://example.org/?key=sk-secret'",
        "limits.max_steps = 'sk-secret'",
    ] {
        write_user(&crib, text);
        let ended = crib.run(&["config"]).expect(2);
        assert!(
            !format!("{ended:?}").contains("secret@") && !format!("{ended:?}").contains("sk-"),
            "{text}: {ended:#?}"
        );
        if text.contains("key = 'sk") || text.contains("KEY = ") || text.contains("token") {
            assert!(
                ended.stderr.contains("key_env") && ended.stderr.contains("key_file"),
                "{ended:#?}"
            );
        }
    }
}

#[test]
fn a_password_in_a_flag_is_not_repeated() {
    let crib = Crib::new();
    for command in [&["config"][..], &["run", "x"]] {
        let flags = [
            "--provider",
            "direct",
            "--base-url",
            "https://me:sk-secret@example.org",
        ];
        let ended = crib.run(&[command, &flags].concat()).expect(2);
        assert!(
            ended
                .stderr
                .contains("--base-url: base_url must be http(s)://host/path"),
            "{ended:#?}"
        );
        assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    }
    let ended = crib
        .run(&[
            "run",
            "x",
            "--grant",
            "net:read:https://me:sk-secret@example.org",
        ])
        .expect(2);
    assert!(
        ended.stderr.contains("--grant") && !format!("{ended:?}").contains("sk-secret"),
        "{ended:#?}"
    );
}

#[test]
fn a_flag_with_a_host_that_no_target_spells_so_is_refused_with_the_right_spelling() {
    let crib = Crib::new();
    for (flag, advice) in [
        (
            ["--grant", "net:read:Example.org"],
            "`net:read:example.org`",
        ),
        (
            ["--allow", "net:read:https://example.org:8080/a"],
            "`net:read:example.org:8080`",
        ),
        (["--grant", "net:*:m\u{fc}nchen.example"], "`xn--…`"),
    ] {
        let ended = crib
            .run(&[&["run", "--provider", "direct", "time.now"], &flag[..]].concat())
            .expect(2);
        assert!(
            ended.stderr.contains(flag[0]) && ended.stderr.contains(advice),
            "{ended:#?}"
        );
    }
}
