//! The search of the web, against backends on the loopback.

use serde_json::json;
use tools_testkit::http::{Received, TestServer};

use crate::config::{user_file, write_user};
use crate::web::{CANARY, PageServer, is_below};
use crate::{Crib, Ended};

#[test]
fn a_search_asks_the_backend_that_the_user_names() {
    let crib = Crib::new();
    let results = json!({"results": [
        {"title": "Hammers", "url": "https://example.org/hammers", "content": "All about hammers."}
    ]});
    let server = PageServer::new(move |_| TestServer::ok("application/json", results.to_string()));
    let search = ["run", "--provider", "direct", "web.search query=hammers"];

    let ended = crib
        .run(&[
            "call",
            "web.search",
            "query=hammers",
            "--grant",
            "search:read:web",
        ])
        .expect(10);
    assert!(
        ended.stderr.contains("search = ") && ended.stderr.contains("[web]"),
        "{ended:#?}"
    );

    let user = format!(
        "\n[web]\nsearch = 'searxng'\nsearch_url = '{}'\n",
        server.url("")
    );
    write_user(&crib, &user);
    let ended = crib.run(&search).expect(0);
    for part in [
        "Hammers",
        "https://example.org/hammers",
        "All about hammers.",
    ] {
        assert!(ended.stdout.contains(part), "{part} is not in {ended:#?}");
    }
    assert!(
        server.heads()[0].contains("q=hammers"),
        "{:?}",
        server.heads()
    );

    // The setting grants the search, and says so.
    let why = crib.run(&["why", "web.search", "query=hammers"]).expect(0);
    assert!(
        why.stdout
            .contains(&format!("{}:3", user_file(&crib).display())),
        "{why:#?}"
    );
    let ended = crib
        .run(&[&search[..], &["--no-default-grants"]].concat())
        .expect(5);
    assert!(
        ended.stderr.contains("--grant search:read:web"),
        "{ended:#?}"
    );
    assert_eq!(server.heads().len(), 1);

    let doctor = crib
        .run(&["doctor"])
        .expect(0)
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        doctor.contains("search: searxng at http://127.0.0.1"),
        "{doctor}"
    );
    for backend in ["brave", "duckduckgo", "tavily"] {
        assert!(doctor.contains(backend), "{doctor}");
    }
}

#[test]
fn the_host_of_a_search_is_for_the_search_alone() {
    let results =
        json!({"results": [{"title": "Hammers", "url": "https://example.org/", "content": ""}]});
    let backend = PageServer::new(move |_| TestServer::ok("application/json", results.to_string()));
    let location = backend.url("/stolen");
    let other = PageServer::new(move |_| TestServer::head("302 Found", &[("location", &location)]));
    let user = format!(
        "{}[web]\nsearch = 'searxng'\nsearch_url = '{}'\n",
        other.settings(),
        backend.url("")
    );
    let crib = Crib::new();
    write_user(&crib, &user);
    let run = |call: &str, flags: &[&str]| {
        crib.run(&[&["run", "--provider", "direct", call], flags].concat())
    };

    // A tool for any URL asks about the host, and reaches no private address there even if it is granted.
    let ended = run(&backend.fetch("/"), &[]).expect(5);
    assert!(
        ended
            .stderr
            .contains(&format!("--grant {}", backend.clause())),
        "{ended:#?}"
    );
    let ended = run(&backend.fetch("/"), &["--grant", &backend.clause()]).expect(1);
    assert!(format!("{ended:?}").contains("not public"), "{ended:#?}");
    let typed = crib
        .run(&["call", "web.fetch", &format!("url={}", backend.url("/"))])
        .expect(1);
    assert!(typed.stderr.contains("not public"), "{typed:#?}");
    // No redirect leads there.
    run(&other.fetch("/"), &[]).expect(0);
    let ended = run(&other.fetch("/"), &["--grant", &backend.clause()]).expect(1);
    assert!(format!("{ended:?}").contains("not public"), "{ended:#?}");
    assert!(
        other.heads().len() == 2 && backend.heads().is_empty(),
        "{:?}",
        backend.heads()
    );

    run("web.search query=hammers", &[]).expect(0);
    crib.run(&["call", "web.search", "query=hammers"]).expect(0);
    assert_eq!(backend.heads().len(), 2);
    // A rule that denies the host still holds.
    write_user(
        &crib,
        &format!(
            "{user}[[policy]]\nverdict = 'deny'\ntarget = '{}'\n",
            backend.clause()
        ),
    );
    run("web.search query=hammers", &[]).expect(5);
    assert_eq!(backend.heads().len(), 2);
}

#[test]
fn the_key_of_a_search_goes_to_the_backend_alone() {
    // The answer of either backend, which repeats the head of the request.
    let echo = |request: &Received| {
        let hit =
            json!({"title": request.head, "url": "https://h/", "description": "d", "content": "d"});
        TestServer::ok(
            "application/json",
            json!({"web": {"results": [hit]}, "results": [hit]}).to_string(),
        )
    };
    for (backend, variable, method) in [
        ("brave", "BRAVE_API_KEY", "GET"),
        ("tavily", "TAVILY_API_KEY", "POST"),
    ] {
        let (crib, server) = (Crib::new(), PageServer::new(echo));
        write_user(
            &crib,
            &format!(
                "[web]\nsearch = '{backend}'\nsearch_url = '{}'\n",
                server.url("")
            ),
        );
        let run = |value: &str| {
            let search = [
                "run",
                "--provider",
                "direct",
                "web.search query=hammers",
                "--output",
                "stream-json",
            ];
            let ended: Ended = crib
                .command(&search)
                .env(variable, value)
                .output()
                .unwrap()
                .into();
            assert!(!format!("{ended:?}").contains(CANARY), "{ended:#?}");
            ended
        };
        let ended = run("");
        assert!(
            ended
                .stderr
                .contains(&format!("{variable} is empty or missing")),
            "{ended:#?}"
        );
        assert_eq!(server.heads(), [""; 0]);
        let ended = run(CANARY).expect(0);
        assert!(ended.stdout.contains("https://h/"), "{ended:#?}");
        let heads = server.heads();
        assert!(
            heads.len() == 1 && heads[0].starts_with(method) && heads[0].contains(CANARY),
            "{heads:?}"
        );
        assert!(!is_below(&crib.dir.path().join("state"), CANARY));
    }
}

#[test]
fn a_search_backend_that_cannot_be_used_is_reported_with_its_line() {
    let crib = Crib::new();
    for (text, line, parts) in [
        (
            "search = 'brvae'",
            2,
            &["web.search cannot be used", "brave"][..],
        ),
        (
            "search = 'searxng'",
            2,
            &["web.search cannot be used", "searxng"],
        ),
        (
            "search = 'duckduckgo'\nsearch_key_env = 'A'",
            3,
            &["web.search_key has no effect"],
        ),
        (
            "search = 'duckduckgo'\nsearch_language = 'de'",
            3,
            &["web.search_language cannot be used"],
        ),
    ] {
        write_user(&crib, &format!("[web]\n{text}\n"));
        let ended = crib.run(&["run", "time.now"]).expect(2);
        assert!(
            ended.stderr.contains(&format!("toolcrib.toml:{line}: ")),
            "{text}: {ended:#?}"
        );
        for part in parts {
            assert!(
                ended.stderr.contains(part),
                "{text}: {part} is not in {ended:#?}"
            );
        }
        crib.run(&["doctor"]).expect(8);
    }
}
