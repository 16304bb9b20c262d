use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{Crib, Ended};

pub(crate) fn user_file(crib: &Crib) -> PathBuf {
    crib.dir.path().join("config/toolcrib/toolcrib.toml")
}

pub(crate) fn write_user(crib: &Crib, text: &str) {
    std::fs::create_dir_all(user_file(crib).parent().unwrap()).unwrap();
    std::fs::write(user_file(crib), text).unwrap();
}

pub(crate) fn write_project(crib: &Crib, text: &str) {
    std::fs::write(crib.root().join("toolcrib.toml"), text).unwrap();
}

/// Trusts the root in the user's file, and approves the content of the project's.
pub(crate) fn trust(crib: &Crib, rest: &str) {
    write_user(crib, &format!("trusted = [{:?}]\n{rest}", crib.root()));
    approve(crib);
}

/// Approves the project's contents as they are, with the digests that the program shows. An unreadable file has none.
pub(crate) fn approve(crib: &Crib) {
    let shown = crib.run(&["trust"]).stdout;
    let digests = shown
        .lines()
        .filter_map(|line| line.trim().strip_prefix("digest: "));
    let digests: Vec<_> = digests.flat_map(|digest| ["--digest", digest]).collect();
    if !digests.is_empty() {
        crib.run(&[&["trust"], &digests[..]].concat()).expect(0);
    }
}

/// Returns the value of a setting and its origin: a line, a variable, a flag, or the default.
pub(crate) fn setting(document: &Value, key: &str) -> (Value, String) {
    let rows = document["settings"].as_array().unwrap();
    let row = rows.iter().find(|row| row["key"] == key).unwrap();
    let origin = &row["origin"];
    let file = || {
        let path = origin["path"].as_str().unwrap();
        let whose = if path.contains("config/toolcrib") {
            "user"
        } else {
            "project"
        };
        format!("{whose}:{}", origin["line"])
    };
    let origin = match origin["kind"].as_str().unwrap() {
        "default" => "default".to_owned(),
        "flag" => origin["flag"].as_str().unwrap().to_owned(),
        "session" => format!("session {}", origin["session"].as_str().unwrap()),
        "environment" => origin["variable"].as_str().unwrap().to_owned(),
        _ => file(),
    };
    (row["value"].clone(), origin)
}

pub(crate) fn config(crib: &Crib, arguments: &[&str]) -> Value {
    crib.run(&[&["config", "--json"], arguments].concat())
        .expect(0)
        .document()
}

pub(crate) fn refused(crib: &Crib, parts: &[&str]) -> Ended {
    let ended = crib.run(&["config"]).expect(2);
    for part in parts {
        assert!(ended.stderr.contains(part), "{part:?} is not in {ended:#?}");
    }
    ended
}

#[test]
fn without_a_file_the_defaults_hold() {
    let crib = Crib::new();
    let document = config(&crib, &[]);
    for (key, value) in [
        ("provider", json!("direct")),
        ("model", Value::Null),
        ("key", Value::Null),
        ("select", Value::Null),
        ("limits.max_steps", json!(50)),
        ("limits.call_timeout", Value::Null),
        ("limits.approval_timeout", json!("300s")),
    ] {
        assert_eq!(
            setting(&document, key),
            (value, "default".to_owned()),
            "{key}"
        );
    }
    let is_default_grant = |row: &Value| {
        row["key"] == "grants" && row["value"] == "fs:read:**" && row["origin"]["kind"] == "default"
    };
    let rows = document["settings"].as_array().unwrap();
    assert!(rows.iter().any(is_default_grant), "{document}");
    assert_eq!(document["files"][0]["role"], "user");
    assert_eq!(document["files"][0]["state"], "missing");
    let page = crib.run(&["config"]).expect(0).stdout;
    assert!(
        page.contains("missing") && page.contains(user_file(&crib).to_str().unwrap()),
        "{page}"
    );
}

const WHOLE: &str = r#"provider = "openai"
model = "qwen3"
base_url = "http://localhost:11434/v1"
key_env = "MY_KEY"
context_tokens = 4096
profile = "review"
select = ["time.*"]
grants = ["fs:write:src/**"]
within = [
    "fs:*:src/**",
]
default_grants = false
trusted = ["/nowhere"]

[limits]
max_steps = 7
call_timeout = "1.5s"

[generation]
temperature = 0.5

[profiles.review]
select = ["fs.read", "!fs.write"]
limits = { max_steps = 3 }
"#;

#[test]
fn every_setting_is_listed_with_its_line() {
    let crib = Crib::new();
    write_user(&crib, WHOLE);
    let document = config(&crib, &[]);
    for (key, value, line) in [
        ("provider", json!("openai"), 1),
        ("model", json!("qwen3"), 2),
        ("base_url", json!("http://localhost:11434/v1"), 3),
        ("key", json!({"variable": "MY_KEY", "found": false}), 4),
        ("context_tokens", json!(4096), 5),
        ("profile", json!("review"), 6),
        ("select", json!(["fs.read", "!fs.write"]), 23),
        ("grants", json!("fs:write:src/**"), 8),
        ("within", json!(["fs:*:src/**"]), 9),
        ("default_grants", json!(false), 12),
        ("limits.max_steps", json!(3), 24),
        ("limits.call_timeout", json!("1.5s"), 17),
        ("generation.temperature", json!(0.5), 20),
    ] {
        assert_eq!(
            setting(&document, key),
            (value, format!("user:{line}")),
            "{key}"
        );
    }
    let page = crib.run(&["config"]).expect(0).stdout;
    assert!(
        page.contains(&format!("{}:24", user_file(&crib).display())),
        "{page}"
    );
    assert!(page.contains("MY_KEY (not found)"), "{page}");
}

#[test]
fn the_help_shows_a_file_that_can_be_read() {
    let crib = Crib::new();
    let help = crib.run(&["config", "--help"]).expect(0).stdout;
    let start = help.find("  profile = ").unwrap();
    write_user(
        &crib,
        &help[start..help.find("  model, models, base_url").unwrap()],
    );
    let document = config(&crib, &[]);
    assert_eq!(setting(&document, "limits.max_steps").0, json!(10));
    assert_eq!(document["files"][0]["state"], "used");
}

#[test]
fn a_flag_goes_before_the_project_before_the_user() {
    let crib = Crib::new();
    write_project(&crib, "model = 'b'\nselect = ['y']\nlimits.max_steps = 9");
    trust(
        &crib,
        "provider = 'openai'\nmodel = 'a'\ndefault_grants = false\nselect = ['x']\n[profiles.p]\nselect = ['p']",
    );
    let document = config(&crib, &[]);
    assert_eq!(
        setting(&document, "default_grants"),
        (json!(false), "user:4".to_owned())
    );
    assert_eq!(
        setting(&document, "model"),
        (json!("b"), "project:1".to_owned())
    );
    assert_eq!(
        setting(&document, "select"),
        (json!(["y"]), "project:2".to_owned())
    );
    let document = config(
        &crib,
        &["--profile", "p", "--model", "c", "--max-steps", "5"],
    );
    assert_eq!(
        setting(&document, "profile"),
        (json!("p"), "--profile".to_owned())
    );
    assert_eq!(
        setting(&document, "select"),
        (json!(["p"]), "user:7".to_owned())
    );
    assert_eq!(
        setting(&document, "model"),
        (json!("c"), "--model".to_owned())
    );
    assert_eq!(
        setting(&document, "limits.max_steps"),
        (json!(5), "--max-steps".to_owned())
    );
    let document = config(&crib, &["--profile", "p", "--select", "q"]);
    assert_eq!(
        setting(&document, "select"),
        (json!(["q"]), "--select".to_owned())
    );
}

#[test]
fn the_nearest_file_above_is_the_projects() {
    let crib = Crib::new();
    write_project(&crib, "limits.max_steps = 9");
    let below = |directory: &str| {
        let mut command = crib.command(&["config", "--json"]);
        let output = command
            .current_dir(crib.root().join(directory))
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(
        setting(&below("sub"), "limits.max_steps"),
        (json!(9), "project:1".to_owned())
    );
    std::fs::write(
        crib.root().join("sub/toolcrib.toml"),
        "\nlimits.max_steps = 8",
    )
    .unwrap();
    assert_eq!(
        setting(&below("sub"), "limits.max_steps"),
        (json!(8), "project:2".to_owned())
    );
    // Neither the user's own file nor a directory of that name is a project file.
    write_user(&crib, "trusted = ['/nowhere']");
    let document = below("../config/toolcrib");
    assert_eq!(document["files"][1]["state"], "missing", "{document}");
    std::fs::remove_file(crib.root().join("sub/toolcrib.toml")).unwrap();
    std::fs::create_dir(crib.root().join("sub/toolcrib.toml")).unwrap();
    assert_eq!(
        setting(&below("sub"), "limits.max_steps"),
        (json!(9), "project:1".to_owned())
    );
}

#[test]
fn the_key_is_not_shown_but_whether_there_is_one() {
    let crib = Crib::new();
    write_user(&crib, "provider = 'openai'\nkey_env = 'CRIB_TEST_KEY'");
    let output = crib
        .command(&["config", "--json"])
        .env("CRIB_TEST_KEY", "sk-secret")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("sk-secret"));
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        setting(&document, "key").0,
        json!({"variable": "CRIB_TEST_KEY", "found": true})
    );

    write_user(&crib, "provider = 'openai'\nkey_file = 'my.key'");
    let path = user_file(&crib).with_file_name("my.key");
    let key = |found: bool| {
        (
            json!({"file": path.to_str().unwrap(), "found": found}),
            "user:2".to_owned(),
        )
    };
    assert_eq!(setting(&config(&crib, &[]), "key"), key(false));
    std::fs::write(&path, "sk-secret").unwrap();
    assert_eq!(setting(&config(&crib, &[]), "key"), key(true));
}

#[test]
fn the_place_of_a_secret_is_shown_and_whether_it_is_found() {
    let crib = Crib::new();
    let table = |name: &str, place: &str| {
        format!(
            "[[secrets]]\nname = '{name}'\norigin = 'https://h/'\nheader = 'x-key'\nprefix = 'Bearer '\n{place}\n"
        )
    };
    write_user(
        &crib,
        &(table("one", "env = 'CRIB_TEST_KEY'") + &table("two", "file = 'two.key'")),
    );
    let run = |arguments: &[&str]| {
        let ended: Ended = crib
            .command(arguments)
            .env("CRIB_TEST_KEY", "sk-secret")
            .output()
            .unwrap()
            .into();
        assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
        ended.expect(0)
    };
    let document = run(&["config", "--json"]).document();
    let path = user_file(&crib).with_file_name("two.key");
    let rows = document["settings"].as_array().unwrap();
    let secrets: Vec<_> = rows
        .iter()
        .filter(|row| row["key"] == "secrets")
        .map(|row| row["value"].clone())
        .collect();
    let value = |name: &str| json!({"name": name, "origin": "https://h", "header": "x-key", "prefix": "Bearer "});
    let [mut one, mut two] = [value("one"), value("two")];
    (one["variable"], one["found"]) = (json!("CRIB_TEST_KEY"), json!(true));
    (two["file"], two["found"]) = (json!(path.to_str().unwrap()), json!(false));
    assert_eq!(secrets, [one, two]);
    let page = run(&["config"]).stdout;
    assert!(
        page.contains("name=one") && page.contains("CRIB_TEST_KEY (found)"),
        "{page}"
    );
}

#[test]
fn the_key_of_one_search_backend_is_not_used_for_another() {
    let crib = Crib::new();
    let user = "[web]\nsearch = 'searxng'\nsearch_url = 'http://localhost:1'\nsearch_key_env = 'A'";
    write_user(&crib, user);
    let with = |name: &str| {
        let output = crib
            .command(&["config", "--json"])
            .env("TOOLCRIB_WEB_SEARCH", name)
            .output()
            .unwrap();
        Ended::from(output).expect(0).document()
    };
    let same = with("searxng");
    assert_eq!(
        setting(&same, "web.search_key_env"),
        (json!("A"), "user:4".to_owned())
    );
    let other = with("duckduckgo");
    assert_eq!(
        setting(&other, "web.search"),
        (json!("duckduckgo"), "TOOLCRIB_WEB_SEARCH".to_owned())
    );
    for key in ["web.search_url", "web.search_key_env"] {
        assert_eq!(
            setting(&other, key),
            (Value::Null, "default".to_owned()),
            "{key}"
        );
    }
}

#[test]
fn settings_of_one_provider_are_not_used_for_another() {
    let crib = Crib::new();
    write_user(
        &crib,
        "provider = 'openai'\nmodel = 'm'\nbase_url = 'http://h/v1'\nkey_env = 'A'",
    );
    let document = config(&crib, &["--provider", "openai"]);
    assert_eq!(
        setting(&document, "base_url"),
        (json!("http://h/v1"), "user:3".to_owned())
    );
    for arguments in [
        &["--provider", "anthropic"][..],
        &["--script", "turns.json"],
    ] {
        let document = config(&crib, arguments);
        assert_eq!(
            setting(&document, "base_url"),
            (Value::Null, "default".to_owned())
        );
        let (model, origin) = setting(&document, "model");
        assert!(model != json!("m") && origin == "default", "{document}");
        assert!(
            !setting(&document, "key").0.to_string().contains("\"A\""),
            "{document}"
        );
    }
    let ended = Crib::new().run(&["config", "--model", "m"]).expect(2);
    assert!(
        ended
            .stderr
            .starts_with("error: --model: model has no effect without a provider"),
        "{ended:#?}"
    );
}

#[test]
fn rules_of_a_flag_are_listed_with_their_lines() {
    let crib = Crib::new();
    let file = crib.write(
        "rules.toml",
        "\n[[policy]]\nverdict = 'deny'\ntool = 'fs.list'\n",
    );
    let document = config(&crib, &["--policy", &file]);
    let rows = document["settings"].as_array().unwrap();
    let rule = rows.iter().find(|row| row["key"] == "policy").unwrap();
    assert_eq!(rule["value"], "deny fs.list");
    assert_eq!(
        rule["origin"],
        json!({"kind": "file", "path": &file, "line": 2})
    );
}

#[test]
fn settings_of_the_command_line_alone_are_listed() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let path = |name: &str| json!(root.join(name).to_str().unwrap());
    let by_default = |value: Value| (value, "default".to_owned());
    let document = config(&crib, &[]);
    assert_eq!(
        setting(&document, "root"),
        by_default(json!(root.to_str().unwrap()))
    );
    for key in ["journal", "session"] {
        assert_eq!(setting(&document, key), by_default(Value::Null), "{key}");
    }

    let flags = ["--root", "sub", "--journal", "calls", "--session", "s"];
    let document = config(&crib, &flags);
    assert_eq!(
        setting(&document, "root"),
        (path("sub"), "--root".to_owned())
    );
    assert_eq!(
        setting(&document, "journal"),
        (path("calls"), "--journal".to_owned())
    );
    assert_eq!(
        setting(&document, "session"),
        (json!("s"), "--session".to_owned())
    );
    assert!(!crib.root().join("calls").exists());
    let page = crib
        .run(&[&["config"][..], &flags].concat())
        .expect(0)
        .stdout;
    assert!(
        page.contains("session") && page.contains("--session"),
        "{page}"
    );
}

#[test]
fn a_named_file_stands_for_both_and_counts_whole() {
    let crib = Crib::new();
    write_user(&crib, "nonsense");
    write_project(&crib, "nonsense");
    let named = crib.write("ci.toml", "grants = ['fs:write:**']\nlimits.max_steps = 3");
    let document = config(&crib, &["--config", &named]);
    assert_eq!(
        document["files"],
        json!([{"role": "named", "path": &named, "state": "used"}])
    );
    assert_eq!(setting(&document, "limits.max_steps").0, json!(3));
    assert_eq!(config(&crib, &["--no-config"])["files"], json!([]));
    crib.run(&["config", "--no-config", "--config", "x"])
        .expect(2);
}
