//! The settings of the HTTP client of tools: its secrets, and the lines of doctor on it.

use crate::config::{user_file, write_user};
use crate::{Crib, Ended};

const CANARY: &str = "canary-5d1f0c";

/// Returns a table of a secret for `https://h` with this place.
fn secret(place: &str) -> String {
    format!(
        "[[secrets]]\nname = 'forge'\norigin = 'https://h'\nheader = 'authorization'\nprefix = 'Bearer '\n{place}\n"
    )
}

fn with_variable(crib: &Crib, arguments: &[&str], value: &str) -> Ended {
    crib.command(arguments)
        .env("CRIB_SECRET", value)
        .output()
        .unwrap()
        .into()
}

#[test]
fn doctor_shows_the_client_and_whether_each_secret_is_found() {
    let crib = Crib::new();
    let shown = crib
        .run(&["doctor"])
        .expect(0)
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        shown.contains("http: proxy none; private hosts none"),
        "{shown}"
    );
    write_user(
        &crib,
        &format!(
            "{}[http]\nprivate_hosts = ['localhost:8080', '[::1]']\nproxy = 'http://p:3128'\n",
            secret("env = 'CRIB_SECRET'")
        ),
    );
    for (value, found) in [(CANARY, "(found)"), ("", "(not found)")] {
        let ended = with_variable(&crib, &["doctor"], value).expect(0);
        assert!(!format!("{ended:?}").contains(CANARY), "{ended:#?}");
        let shown = ended
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        for part in [
            "proxy http://p:3128; private hosts localhost:8080 [::1]",
            "secret forge: ",
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert!(
            shown.contains(&format!("from CRIB_SECRET {found}")),
            "{shown}"
        );
    }
}

#[test]
fn a_secret_that_cannot_be_used_is_reported_with_its_line_and_without_its_value() {
    let crib = Crib::new();
    write_user(&crib, &format!("\n{}", secret("env = 'CRIB_SECRET'")));
    let place = format!("{}:2: ", user_file(&crib).display());
    let bad = format!("{CANARY} x");
    for (arguments, code) in [
        (&["call", "time.now"][..], 2),
        (&["run", "time.now"], 2),
        (&["doctor"], 8),
    ] {
        let ended = with_variable(&crib, arguments, &bad).expect(code);
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            shown.contains(&place) && shown.contains("secrets: forge"),
            "{ended:#?}"
        );
        assert!(!shown.contains(CANARY), "{ended:#?}");
    }
    let ended = with_variable(&crib, &["call", "time.now"], "").expect(0);
    assert!(
        ended.stderr.starts_with(&format!("warning: {place}")),
        "{ended:#?}"
    );
    assert!(
        ended.stderr.contains("CRIB_SECRET is empty or missing"),
        "{ended:#?}"
    );
    assert_eq!(
        with_variable(&crib, &["call", "time.now"], CANARY)
            .expect(0)
            .stderr,
        ""
    );
}

#[test]
fn a_header_that_cannot_be_sent_is_reported_with_its_line() {
    let crib = Crib::new();
    write_user(
        &crib,
        &secret("env = 'CRIB_SECRET'").replace("authorization", "no header"),
    );
    let ended = with_variable(&crib, &["call", "time.now"], CANARY).expect(2);
    assert!(
        ended.stderr.contains("toolcrib.toml:1: secrets: forge"),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains(CANARY), "{ended:#?}");
}

#[test]
fn certificates_that_cannot_be_read_are_reported() {
    let crib = Crib::new();
    write_user(&crib, "[http]\nca_file = 'missing.pem'");
    let ended = crib.run(&["call", "time.now"]).expect(2);
    assert!(
        ended.stderr.contains("toolcrib.toml:2: http.ca_file"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stderr
            .contains("config/toolcrib/missing.pem cannot be read"),
        "{ended:#?}"
    );
}

#[test]
fn no_tool_reaches_the_file_of_a_secret() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("forge.key"), CANARY).unwrap();
    let key = crib.root().join("forge.key");
    crib.run(&["call", "fs.read", "path=forge.key"]).expect(0);
    for settings in [
        secret(&format!("file = {key:?}")),
        format!("[web]\nsearch = 'brave'\nsearch_key_file = {key:?}\n"),
    ] {
        write_user(&crib, &settings);
        crib.run(&["call", "fs.read", "path=forge.key", "--no-config"])
            .expect(1);
        for call in [
            "fs.read path=forge.key",
            "fs.write path=forge.key content=x",
        ] {
            let ended = crib.run(&["run", call, "--allow", "fs:*:**"]).expect(1);
            assert!(!format!("{ended:?}").contains(CANARY), "{ended:#?}");
        }
        let found = crib.run(&["call", "fs.search", "pattern=canary"]).expect(0);
        assert!(found.stdout.contains("no line matches"), "{found:#?}");
    }
    assert_eq!(std::fs::read_to_string(key).unwrap(), CANARY);
}
