//! The tools that read the web, against servers on the loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

#[cfg(feature = "otel")]
use crate::collector::Collector;
use crate::config::{trust, user_file, write_project, write_user};
#[cfg(unix)]
use crate::terminal::{QUESTION, on_terminal, rest, say};
use crate::{Crib, Ended};

/// A secret that may be in a request to its server, and nowhere else.
const CANARY: &str = "canary-5d1f0c77";

const PAGE: &str = "<title>Stock</title><h1>Stock</h1><p>There are <b>42</b> hammers.</p>";

/// A server on a loopback port. It answers a request by its path, and keeps the heads of all requests.
struct PageServer {
    /// The address: `127.0.0.1:PORT`.
    host: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    /// Starts a server that returns the type and the body for a head.
    fn new(answer: impl Fn(&str) -> (&'static str, String) + Send + 'static) -> Self {
        Self::with_answer(move |head| {
            let (media_type, body) = answer(head);
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        })
    }

    /// Starts a server that returns the whole answer for a head.
    fn with_answer(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let received = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
                }
                let length =
                    head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                stream.read_exact(&mut vec![0; length.unwrap_or(0)]).unwrap();
                let answer = answer(&head);
                received.lock().unwrap().push(head);
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { host, heads }
    }

    /// Starts a server with one page at every path.
    fn with_page() -> Self {
        Self::new(|_| ("text/html", PAGE.to_owned()))
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// Returns the call that fetches a path.
    fn fetch(&self, path: &str) -> String {
        format!("web.fetch url={}", self.url(path))
    }

    /// Returns the flag's value that grants the server.
    fn clause(&self) -> String {
        format!("net:read:{}", self.host)
    }

    /// Returns the settings that let tools request the server.
    fn settings(&self) -> String {
        format!("grants = ['{}']\nhttp.private_hosts = ['{}']\n", self.clause(), self.host)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

#[test]
fn a_page_of_a_host_that_the_user_names_is_read() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    write_user(&crib, &server.settings());
    let ended = crib.run(&["run", "--provider", "direct", &server.fetch("/stock")]).expect(0);
    assert!(ended.stdout.contains("# Stock") && ended.stdout.contains("**42** hammers"), "{ended:#?}");
    let ended = crib.run(&["call", "web.fetch", &format!("url={}", server.url("/stock"))]).expect(0);
    assert!(ended.stdout.contains("**42** hammers"), "{ended:#?}");
    assert!(server.heads()[0].starts_with("GET /stock HTTP/1.1\r\n"), "{:?}", server.heads());
}

#[test]
fn the_session_of_the_readme_reads_a_page_and_answers_from_it() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let port = server.host.split_once(':').unwrap().1;
    let readme = include_str!("../../../../README.md").replace(":8000", &format!(":{port}"));
    let block = readme.split_once("<!-- web -->\n```text\n$ toolcrib ").unwrap().1.split_once("```").unwrap().0;
    let (command, expected) = block.split_once("\n-> ").unwrap();
    let expected = format!("-> {expected}");

    let url = format!("http://localhost:{port}/stock.html");
    let call = json!({"calls": [{"name": "web.fetch", "arguments": {"url": url}}]}).to_string();
    std::fs::write(
        crib.root().join("turns.json"),
        format!(r#"[{call}, {{"text": "There are 42 hammers in stock."}}]"#),
    )
    .unwrap();
    let ended =
        crib.run(&shlex::split(&command.replace("\\\n", "")).unwrap().iter().map(String::as_str).collect::<Vec<_>>());
    let ended = ended.expect(0);
    let shown = format!("{}{}", ended.stdout, ended.stderr);
    for line in expected.lines() {
        // Times and the size vary.
        let stable =
            line.split_once("ms").map_or(line, |(before, _)| before.trim_end_matches(|c: char| c.is_ascii_digit()));
        assert!(shown.lines().any(|shown| shown.starts_with(stable)), "{line} is not in {shown}");
    }
    assert!(expected.lines().count() == 4 && server.heads().len() == 1, "{expected}");
}

#[test]
fn flags_name_a_host_as_the_users_file_does() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let flags = ["--private-host", &server.host, "--grant", &server.clause()];
    crib.run(&[&["run", "--provider", "direct", &*server.fetch("/")], &flags[..]].concat()).expect(0);
    crib.run(&[&["call", "web.fetch", &*format!("url={}", server.url("/"))], &flags[..]].concat()).expect(0);
}

#[test]
fn a_private_host_that_the_user_does_not_name_is_not_connected_to() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let port = server.host.split_once(':').unwrap().1;
    let run = |flags: &[&str]| {
        let url = [server.fetch("/"), format!("web.fetch url=http://localhost:{port}/")];
        for fetch in url {
            let grants = ["--grant", &*server.clause(), "--grant", &*format!("net:read:localhost:{port}")];
            let ended = crib.run(&[&["run", "--provider", "direct", &*fetch], &grants[..], flags].concat()).expect(1);
            let shown = format!("{}{}", ended.stdout, ended.stderr);
            assert!(shown.contains("not public") && shown.contains("configuration"), "{ended:#?}");
        }
    };
    run(&[]);
    run(&["--private-host", "127.0.0.1:1", "--private-host", "localhost:1"]);
    assert_eq!(server.heads(), [""; 0]);
}

#[test]
fn a_project_cannot_name_a_private_host_unless_the_user_trusts_it() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    write_project(&crib, &format!("[http]\nprivate_hosts = ['{}']", server.host));
    let call = ["call", "web.fetch", &*format!("url={}", server.url("/")), "--grant", &*server.clause()];
    let ended = crib.run(&call).expect(2);
    assert!(ended.stderr.contains("toolcrib.toml:2: http.private_hosts is not accepted"), "{ended:#?}");
    assert!(ended.stderr.contains("write trusted = "), "{ended:#?}");
    assert_eq!(server.heads(), [""; 0]);
    trust(&crib, "");
    crib.run(&call).expect(0);
}

#[test]
fn a_host_that_is_not_granted_is_refused_with_the_flag_that_grants_it() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let private = ["--private-host", &server.host];
    let call = ["call", "web.fetch", &*format!("url={}", server.url("/?q=42"))];
    let run = ["run", "--provider", "direct", &*server.fetch("/?q=42")];
    for command in [&call[..], &run] {
        let ended = crib.run(&[command, &private].concat()).expect(5);
        assert!(ended.stderr.contains(&format!("--grant {}", server.clause())), "{ended:#?}");
    }
    // A port that is not the scheme's own needs a grant that names it.
    let ended = crib.run(&[&run[..], &private, &["--grant", "net:read:127.0.0.1"]].concat()).expect(5);
    assert!(ended.stderr.contains(&format!("--grant {}", server.clause())), "{ended:#?}");
    // A wildcard grants the host and does not name it. Typing the call does.
    let wildcard = ["--grant", "net:read:**"];
    let ended = crib.run(&[&run[..], &private, &wildcard].concat()).expect(5);
    assert!(ended.stderr.contains(&format!("--grant {}", server.clause())), "{ended:#?}");
    assert_eq!(server.heads(), [""; 0]);
    crib.run(&[&call[..], &private, &wildcard].concat()).expect(0);
}

#[test]
fn a_rule_for_the_tool_switches_the_question_off() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let rule = "[[policy]]\nverdict = 'allow'\ntool = 'web.fetch'\ntarget = 'net:read:**'\n";
    write_user(&crib, &format!("grants = ['net:read:**']\nhttp.private_hosts = ['{}']\n{rule}", server.host));
    crib.run(&["run", "--provider", "direct", &server.fetch("/")]).expect(0);
}

#[test]
fn the_limits_of_the_settings_hold() {
    let crib = Crib::new();
    let server = PageServer::new(|_| ("text/plain", "x".repeat(3000)));
    write_user(&crib, &format!("{}http.max_body = '2kB'\n", server.settings()));
    let ended = crib.run(&["call", "web.fetch", &format!("url={}", server.url("/"))]).expect(1);
    assert!(ended.stderr.contains("2000 bytes"), "{ended:#?}");
}

/// Returns true if a file below the folder has these bytes.
fn is_below(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_below(&path, needle);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes.windows(needle.len()).any(|part| part == needle.as_bytes())
    })
}

#[cfg(all(feature = "journal", feature = "otel"))]
#[test]
fn a_secret_goes_to_its_own_host_and_is_in_no_output() {
    // Repeats the whole head of the request, as some services do.
    let echo = |head: &str| ("text/plain", format!("read 42 bytes\n{head}"));
    for place in ["env = 'CRIB_SECRET'", "file = '../../root/forge.key'"] {
        let (crib, collector) = (Crib::new(), Collector::new("200 OK"));
        let (own, other) = (PageServer::new(echo), PageServer::new(echo));
        let user = format!(
            "grants = ['{}', '{}']\nhttp.private_hosts = ['{}', '{}']\n[telemetry]\nendpoint = '{}'\ncontent = true\n",
            own.clause(),
            other.clause(),
            own.host,
            other.host,
            collector.url,
        );
        let table = format!(
            "[[secrets]]\nname = 'forge'\norigin = 'http://{}'\nheader = 'authorization'\nprefix = 'Bearer '\n{place}\n",
            own.host
        );
        write_user(&crib, &format!("{user}{table}"));
        if place.starts_with("file") {
            std::fs::write(crib.root().join("forge.key"), CANARY).unwrap();
        }
        let prompt = format!("{} ; {} ; fs.read path=forge.key", own.fetch("/"), other.fetch("/"));
        for flags in [&["--output", "stream-json"][..], &["--journal-arguments"]] {
            let mut command = crib.command(&[&["run", "--provider", "direct", &*prompt], flags].concat());
            let ended = Ended::from(command.env("CRIB_SECRET", CANARY).output().unwrap()).expect(1);
            assert!(ended.stdout.contains("read 42 bytes") && !format!("{ended:?}").contains(CANARY), "{ended:#?}");
        }
        let is_sent = |head: &String| head.contains(&format!("authorization: Bearer {CANARY}"));
        assert!(own.heads().len() == 2 && own.heads().iter().all(is_sent), "{:?}", own.heads());
        assert!(other.heads().len() == 2 && !other.heads().concat().contains(CANARY), "{:?}", other.heads());
        let state = crib.dir.path().join("state");
        assert!(is_below(&state, "read 42 bytes") && !is_below(&state, CANARY));
        assert!(collector.has("read 42 bytes") && !collector.has(CANARY));
    }
}

#[test]
fn a_search_asks_the_backend_that_the_user_names() {
    let crib = Crib::new();
    let results = json!({"results": [
        {"title": "Hammers", "url": "https://example.org/hammers", "content": "All about hammers."}
    ]});
    let server = PageServer::new(move |_| ("application/json", results.to_string()));
    let search = ["run", "--provider", "direct", "web.search query=hammers"];

    let ended = crib.run(&["call", "web.search", "query=hammers", "--grant", "search:read:web"]).expect(10);
    assert!(ended.stderr.contains("search = ") && ended.stderr.contains("[web]"), "{ended:#?}");

    let user = format!("\n[web]\nsearch = 'searxng'\nsearch_url = '{}'\n", server.url(""));
    write_user(&crib, &user);
    let ended = crib.run(&search).expect(0);
    for part in ["Hammers", "https://example.org/hammers", "All about hammers."] {
        assert!(ended.stdout.contains(part), "{part} is not in {ended:#?}");
    }
    assert!(server.heads()[0].contains("q=hammers"), "{:?}", server.heads());

    // The setting grants the search, and says so.
    let why = crib.run(&["why", "web.search", "query=hammers"]).expect(0);
    assert!(why.stdout.contains(&format!("{}:3", user_file(&crib).display())), "{why:#?}");
    let ended = crib.run(&[&search[..], &["--no-default-grants"]].concat()).expect(5);
    assert!(ended.stderr.contains("--grant search:read:web"), "{ended:#?}");
    assert_eq!(server.heads().len(), 1);

    let doctor = crib.run(&["doctor"]).expect(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.contains("search: searxng at http://127.0.0.1"), "{doctor}");
    for backend in ["brave", "duckduckgo", "tavily"] {
        assert!(doctor.contains(backend), "{doctor}");
    }
}

#[test]
fn the_host_of_a_search_is_for_the_search_alone() {
    let results = json!({"results": [{"title": "Hammers", "url": "https://example.org/", "content": ""}]});
    let backend = PageServer::new(move |_| ("application/json", results.to_string()));
    let location = backend.url("/stolen");
    let other = PageServer::with_answer(move |_| {
        format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    });
    let user = format!("{}[web]\nsearch = 'searxng'\nsearch_url = '{}'\n", other.settings(), backend.url(""));
    let crib = Crib::new();
    write_user(&crib, &user);
    let run = |call: &str, flags: &[&str]| crib.run(&[&["run", "--provider", "direct", call], flags].concat());

    // A tool for any URL asks about the host, and reaches no private address there even if it is granted.
    let ended = run(&backend.fetch("/"), &[]).expect(5);
    assert!(ended.stderr.contains(&format!("--grant {}", backend.clause())), "{ended:#?}");
    let ended = run(&backend.fetch("/"), &["--grant", &backend.clause()]).expect(1);
    assert!(format!("{ended:?}").contains("not public"), "{ended:#?}");
    let typed = crib.run(&["call", "web.fetch", &format!("url={}", backend.url("/"))]).expect(1);
    assert!(typed.stderr.contains("not public"), "{typed:#?}");
    // No redirect leads there.
    run(&other.fetch("/"), &[]).expect(0);
    let ended = run(&other.fetch("/"), &["--grant", &backend.clause()]).expect(1);
    assert!(format!("{ended:?}").contains("not public"), "{ended:#?}");
    assert!(other.heads().len() == 2 && backend.heads().is_empty(), "{:?}", backend.heads());

    run("web.search query=hammers", &[]).expect(0);
    crib.run(&["call", "web.search", "query=hammers"]).expect(0);
    assert_eq!(backend.heads().len(), 2);
    // A rule that denies the host still holds.
    write_user(&crib, &format!("{user}[[policy]]\nverdict = 'deny'\ntarget = '{}'\n", backend.clause()));
    run("web.search query=hammers", &[]).expect(5);
    assert_eq!(backend.heads().len(), 2);
}

#[test]
fn the_key_of_a_search_goes_to_the_backend_alone() {
    // The answer of either backend, which repeats the head of the request.
    let echo = |head: &str| {
        let hit = json!({"title": head, "url": "https://h/", "description": "d", "content": "d"});
        ("application/json", json!({"web": {"results": [hit]}, "results": [hit]}).to_string())
    };
    for (backend, variable, method) in [("brave", "BRAVE_API_KEY", "GET"), ("tavily", "TAVILY_API_KEY", "POST")] {
        let (crib, server) = (Crib::new(), PageServer::new(echo));
        write_user(&crib, &format!("[web]\nsearch = '{backend}'\nsearch_url = '{}'\n", server.url("")));
        let run = |value: &str| {
            let search = ["run", "--provider", "direct", "web.search query=hammers", "--output", "stream-json"];
            let ended: Ended = crib.command(&search).env(variable, value).output().unwrap().into();
            assert!(!format!("{ended:?}").contains(CANARY), "{ended:#?}");
            ended
        };
        let ended = run("");
        assert!(ended.stderr.contains(&format!("{variable} is empty or missing")), "{ended:#?}");
        assert_eq!(server.heads(), [""; 0]);
        let ended = run(CANARY).expect(0);
        assert!(ended.stdout.contains("https://h/"), "{ended:#?}");
        let heads = server.heads();
        assert!(heads.len() == 1 && heads[0].starts_with(method) && heads[0].contains(CANARY), "{heads:?}");
        assert!(!is_below(&crib.dir.path().join("state"), CANARY));
    }
}

#[test]
fn a_search_backend_that_cannot_be_used_is_reported_with_its_line() {
    let crib = Crib::new();
    for (text, line, parts) in [
        ("search = 'brvae'", 2, &["web.search cannot be used", "brave"][..]),
        ("search = 'searxng'", 2, &["web.search cannot be used", "searxng"]),
        ("search = 'duckduckgo'\nsearch_key_env = 'A'", 3, &["web.search_key has no effect"]),
        ("search = 'searxng'\nsearch_url = 'http://h'\nsearch_count = 99", 4, &["web.search_count cannot be used"]),
        ("search = 'searxng'\nsearch_url = 'http://h'\nsafe_search = 'x'", 4, &["web.safe_search cannot be used"]),
    ] {
        write_user(&crib, &format!("[web]\n{text}\n"));
        let ended = crib.run(&["run", "time.now"]).expect(2);
        assert!(ended.stderr.contains(&format!("toolcrib.toml:{line}: ")), "{text}: {ended:#?}");
        for part in parts {
            assert!(ended.stderr.contains(part), "{text}: {part} is not in {ended:#?}");
        }
        crib.run(&["doctor"]).expect(8);
    }
}

#[test]
fn the_weather_needs_a_grant_for_both_services() {
    let crib = Crib::new();
    for command in
        [&["call", "weather.get", "place=Oslo"][..], &["run", "--provider", "direct", "weather.get place=Oslo"]]
    {
        let ended = crib.run(command).expect(5);
        for host in ["api.open-meteo.com", "geocoding-api.open-meteo.com"] {
            assert!(ended.stderr.contains(&format!("--grant net:read:{host}")), "{ended:#?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_host_is_asked_about_once_in_a_session() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    write_user(&crib, &format!("grants = ['net:read:**']\nhttp.private_hosts = ['{}']\n", server.host));
    let call =
        |path: &str| json!({"calls": [{"name": "web.fetch", "arguments": {"url": server.url(path)}}]}).to_string();
    let script = crib.script(&[&call("/one?q=42"), &call("/two"), r#"{"text": "finished"}"#]);
    let mut session = on_terminal(&crib, &["run", "x", "--script", &script]);
    let question = session.exp_string(QUESTION).unwrap();
    assert!(question.contains(&server.url("/one?q=42")), "{question}");
    say(&mut session, "y", &["finished"]);
    assert_eq!(rest(session).1, 0);
    assert_eq!(server.heads().len(), 2);
}
