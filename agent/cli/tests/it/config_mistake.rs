use crate::Crib;
use crate::config::{refused, user_file, write_user};

#[test]
fn a_mistake_is_told_with_its_line_its_key_and_what_to_do() {
    let crib = Crib::new();
    for (text, line, parts) in [
        ("\nmodle = 'x'", 2, &["there is no setting modle", "did you mean model?"][..]),
        ("zzz = 1", 1, &["there is no setting zzz", "there are provider, model"]),
        ("[limits]\nmax_step = 1", 2, &["limits.max_step", "did you mean limits.max_steps?"]),
        ("[patience]\n\nretry = 1", 3, &["patience.retry", "patience.retries"]),
        ("[profiles.a]\ngrant = ['x']", 2, &["profiles.a.grant", "profiles.a.grants"]),
        ("[profiles.a]\nmodel = 'x'", 2, &["profiles.a.model", "there are select"]),
        ("[profiles]\na = 1", 2, &["profiles.a has to be a table, and this is 1"]),
        ("model = 1", 1, &["model has to be a string, and this is 1"]),
        ("model = ' '", 1, &["model is empty"]),
        ("streaming = 'yes'", 1, &["streaming has to be true or false, and this is a string"]),
        ("select = 'fs.*'", 1, &["select has to be a list of strings"]),
        ("select = [\n'fs.*',\n1]", 3, &["select has to be a string"]),
        ("select = ['[']", 1, &["select cannot be read", "glob"]),
        ("grants = ['fs']", 1, &["grants cannot be read", "scheme:access:pattern"]),
        ("within = ['fs:peek:**']", 1, &["within cannot be read"]),
        ("limits = 3", 1, &["limits has to be a table"]),
        ("limits.max_steps = 0", 1, &["limits.max_steps has to be a whole number from 1"]),
        ("limits.max_steps = 99999999999999999999", 1, &["limits.max_steps", "99999999999999999999"]),
        ("limits.max_steps = 1.5", 1, &["this is 1.5"]),
        ("limits.call_timeout = 30", 1, &["limits.call_timeout has to be a text such as \"30s\", and this is 30"]),
        ("patience.idle = 1.5", 1, &["patience.idle has to be a text such as \"30s\", and this is 1.5"]),
        ("limits.call_timeout = 'soon'", 1, &["limits.call_timeout is no duration", "500ms"]),
        ("patience.idle = '0s'", 1, &["patience.idle is no duration"]),
        ("patience.retries = -1", 1, &["patience.retries has to be a whole number from 0"]),
        ("trusted = ['work']", 1, &["trusted has to hold absolute paths"]),
        ("key_env = 'A'\nkey_file = 'b'", 2, &["key_file stands beside key_env"]),
        ("profile = 'a'", 1, &["there is no profile \"a\"", "[profiles.a]"]),
        ("profile = 'a'\n[profiles.b]", 1, &["there is no profile \"a\"; there are b"]),
        ("\nmodel = 'm'", 2, &["model is of no use without a provider", "--provider"]),
        ("base_url = 'http://h'", 1, &["base_url is of no use without a provider"]),
        ("model = 'a'\nmodel = 'b'", 2, &["not TOML: duplicate key"]),
        ("model =", 1, &["not TOML"]),
    ] {
        write_user(&crib, text);
        let place = format!("error: {}:{line}: ", user_file(&crib).display());
        refused(&crib, &[&[place.as_str()], parts].concat());
        let ended = crib.run(&["run", "time.now"]).expect(2);
        assert!(ended.stdout.is_empty() && ended.stderr.contains(&place), "{ended:#?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
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
            assert!(ended.stderr.contains("key_env") && ended.stderr.contains("key_file"), "{ended:#?}");
        }
    }
}

#[test]
fn a_password_in_a_flag_is_not_repeated() {
    let crib = Crib::new();
    for command in [&["config"][..], &["run", "x"]] {
        let flags = ["--provider", "direct", "--base-url", "https://me:sk-secret@example.org"];
        let ended = crib.run(&[command, &flags].concat()).expect(2);
        assert!(ended.stderr.contains("--base-url: base_url has to be http(s)://host/path"), "{ended:#?}");
        assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    }
}
