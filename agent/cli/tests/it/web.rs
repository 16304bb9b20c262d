//! The tools that read the web, against servers on the loopback.

use std::path::Path;

use serde_json::json;
use tools_testkit::http::{Received, TestServer};

#[cfg(feature = "default")]
use crate::collector::Collector;
use crate::config::{trust, write_project, write_user};
use crate::loopback::Loopback;
use crate::terminal::{QUESTION, on_terminal, rest, say};
use crate::{Crib, Ended};

/// A secret that may be in a request to its server, and nowhere else.
pub(crate) const CANARY: &str = "canary-5d1f0c77";

const PAGE: &str = "<title>Stock</title><h1>Stock</h1><p>There are <b>42</b> hammers.</p>";

/// A server that answers a request by its path.
pub(crate) struct PageServer {
    server: Loopback,
    /// The address: `127.0.0.1:PORT`.
    pub(crate) host: String,
}

impl PageServer {
    pub(crate) fn new(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let server = Loopback::new(answer);
        Self {
            host: server.address().to_string(),
            server,
        }
    }

    /// Starts a server with one page at every path.
    fn with_page() -> Self {
        Self::new(|_| TestServer::ok("text/html", PAGE))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// Returns the call that fetches a path.
    pub(crate) fn fetch(&self, path: &str) -> String {
        format!("web.fetch url={}", self.url(path))
    }

    /// Returns the flag's value that grants the server.
    pub(crate) fn clause(&self) -> String {
        format!("net:read:{}", self.host)
    }

    /// Returns the settings that let tools request the server.
    pub(crate) fn settings(&self) -> String {
        format!(
            "grants = ['{}']\nhttp.private_hosts = ['{}']\n",
            self.clause(),
            self.host
        )
    }

    #[cfg(feature = "default")]
    pub(crate) fn bodies(&self) -> Vec<String> {
        let mut received = self.server.received();
        // Questions about a model have none.
        received.retain(|request| !request.body.is_empty());
        let bodies = received.iter();
        bodies
            .map(|request| String::from_utf8_lossy(&request.body).into_owned())
            .collect()
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.server
            .received()
            .into_iter()
            .map(|request| request.head)
            .collect()
    }
}

#[test]
fn a_page_of_a_host_that_the_user_names_is_read() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    write_user(&crib, &server.settings());
    let ended = crib
        .run(&["run", "--provider", "direct", &server.fetch("/stock")])
        .expect(0);
    assert!(
        ended.stdout.contains("# Stock") && ended.stdout.contains("**42** hammers"),
        "{ended:#?}"
    );
    let ended = crib
        .run(&[
            "call",
            "web.fetch",
            &format!("url={}", server.url("/stock")),
        ])
        .expect(0);
    assert!(ended.stdout.contains("**42** hammers"), "{ended:#?}");
    assert!(
        server.heads()[0].starts_with("GET /stock HTTP/1.1\r\n"),
        "{:?}",
        server.heads()
    );
}

#[test]
fn flags_name_a_host_as_the_users_file_does() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let flags = ["--private-host", &server.host, "--grant", &server.clause()];
    crib.run(
        &[
            &["run", "--provider", "direct", &*server.fetch("/")],
            &flags[..],
        ]
        .concat(),
    )
    .expect(0);
    crib.run(
        &[
            &["call", "web.fetch", &*format!("url={}", server.url("/"))],
            &flags[..],
        ]
        .concat(),
    )
    .expect(0);
}

#[test]
fn a_private_host_that_the_user_does_not_name_is_not_connected_to() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let port = server.host.split_once(':').unwrap().1;
    let run = |flags: &[&str]| {
        let url = [
            server.fetch("/"),
            format!("web.fetch url=http://localhost:{port}/"),
        ];
        for fetch in url {
            let grants = [
                "--grant",
                &*server.clause(),
                "--grant",
                &*format!("net:read:localhost:{port}"),
            ];
            let ended = crib
                .run(
                    &[
                        &["run", "--provider", "direct", &*fetch],
                        &grants[..],
                        flags,
                    ]
                    .concat(),
                )
                .expect(1);
            let shown = format!("{}{}", ended.stdout, ended.stderr);
            assert!(
                shown.contains("not public") && shown.contains("private_hosts"),
                "{ended:#?}"
            );
        }
    };
    run(&[]);
    run(&[
        "--private-host",
        "127.0.0.1:1",
        "--private-host",
        "localhost:1",
    ]);
    assert_eq!(server.heads(), [""; 0]);
}

#[test]
fn a_project_cannot_name_a_private_host_unless_the_user_trusts_it() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    write_project(
        &crib,
        &format!("[http]\nprivate_hosts = ['{}']", server.host),
    );
    let call = [
        "call",
        "web.fetch",
        &*format!("url={}", server.url("/")),
        "--grant",
        &*server.clause(),
    ];
    let ended = crib.run(&call).expect(2);
    assert!(
        ended
            .stderr
            .contains("toolcrib.toml:2: http.private_hosts is not accepted"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("write trusted = "), "{ended:#?}");
    assert_eq!(server.heads(), [""; 0]);
    trust(&crib, "");
    crib.run(&call).expect(0);
}

#[test]
fn a_host_that_is_not_granted_is_refused_with_the_flag_that_grants_it() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let private = ["--private-host", &server.host];
    let call = [
        "call",
        "web.fetch",
        &*format!("url={}", server.url("/?q=42")),
    ];
    let run = ["run", "--provider", "direct", &*server.fetch("/?q=42")];
    for command in [&call[..], &run] {
        let ended = crib.run(&[command, &private].concat()).expect(5);
        assert!(
            ended
                .stderr
                .contains(&format!("--grant {}", server.clause())),
            "{ended:#?}"
        );
    }
    // A port that is not the scheme's own needs a grant that names it.
    let ended = crib
        .run(&[&run[..], &private, &["--grant", "net:read:127.0.0.1"]].concat())
        .expect(5);
    assert!(
        ended
            .stderr
            .contains(&format!("--grant {}", server.clause())),
        "{ended:#?}"
    );
    // A wildcard grants the host and does not name it. Typing the call does.
    let wildcard = ["--grant", "net:read:**"];
    let ended = crib
        .run(&[&run[..], &private, &wildcard].concat())
        .expect(5);
    assert!(
        ended
            .stderr
            .contains(&format!("--grant {}", server.clause())),
        "{ended:#?}"
    );
    assert_eq!(server.heads(), [""; 0]);
    crib.run(&[&call[..], &private, &wildcard].concat())
        .expect(0);
}

#[test]
fn a_rule_for_the_tool_switches_the_question_off() {
    let (crib, server) = (Crib::new(), PageServer::with_page());
    let rule = "[[policy]]\nverdict = 'allow'\ntool = 'web.fetch'\ntarget = 'net:read:**'\n";
    write_user(
        &crib,
        &format!(
            "grants = ['net:read:**']\nhttp.private_hosts = ['{}']\n{rule}",
            server.host
        ),
    );
    crib.run(&["run", "--provider", "direct", &server.fetch("/")])
        .expect(0);
}

/// Returns true if a file below the folder has these bytes.
pub(crate) fn is_below(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_below(&path, needle);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes
            .windows(needle.len())
            .any(|part| part == needle.as_bytes())
    })
}

#[cfg(feature = "default")]
#[test]
fn a_secret_goes_to_its_own_host_and_is_in_no_output() {
    // Repeats the whole head of the request, as some services do.
    let echo = |request: &Received| {
        TestServer::ok("text/plain", format!("read 42 bytes\n{}", request.head))
    };
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
        let prompt = format!(
            "{} ; {} ; fs.read path=forge.key",
            own.fetch("/"),
            other.fetch("/")
        );
        for flags in [&["--output", "stream-json"][..], &["--journal-arguments"]] {
            let mut command =
                crib.command(&[&["run", "--provider", "direct", &*prompt], flags].concat());
            let ended = Ended::from(command.env("CRIB_SECRET", CANARY).output().unwrap()).expect(1);
            assert!(
                ended.stdout.contains("read 42 bytes") && !format!("{ended:?}").contains(CANARY),
                "{ended:#?}"
            );
        }
        let is_sent = |head: &String| head.contains(&format!("authorization: Bearer {CANARY}"));
        assert!(
            own.heads().len() == 2 && own.heads().iter().all(is_sent),
            "{:?}",
            own.heads()
        );
        assert!(
            other.heads().len() == 2 && !other.heads().concat().contains(CANARY),
            "{:?}",
            other.heads()
        );
        let state = crib.dir.path().join("state");
        assert!(is_below(&state, "read 42 bytes") && !is_below(&state, CANARY));
        assert!(collector.has("read 42 bytes") && !collector.has(CANARY));
    }
}

#[test]
fn the_weather_needs_a_grant_for_both_services() {
    let crib = Crib::new();
    for command in [
        &["call", "weather.get", "place=Oslo"][..],
        &["run", "--provider", "direct", "weather.get place=Oslo"],
    ] {
        let ended = crib.run(command).expect(5);
        for host in ["api.open-meteo.com", "geocoding-api.open-meteo.com"] {
            assert!(
                ended.stderr.contains(&format!("--grant net:read:{host}")),
                "{ended:#?}"
            );
        }
    }
}

#[test]
fn a_host_is_asked_about_once_in_a_session() {
    let page = |_: &Received| TestServer::ok("text/html", "<h1>Stock</h1><a href=/two>two</a>");
    let (crib, server) = (Crib::new(), PageServer::new(page));
    write_user(
        &crib,
        &format!(
            "grants = ['net:read:**']\nhttp.private_hosts = ['{}']\n",
            server.host
        ),
    );
    let call = |path: &str| {
        json!({"calls": [{"name": "web.fetch", "arguments": {"url": server.url(path)}}]})
            .to_string()
    };
    let script = crib.script(&[&call("/one?q=42"), &call("/two"), r#"{"text": "finished"}"#]);
    let mut session = on_terminal(&crib, &["run", "x", "--script", &script]);
    let question = session.exp_string(QUESTION).unwrap();
    assert!(question.contains(&server.url("/one?q=42")), "{question}");
    say(&mut session, "y", &["finished"]);
    assert_eq!(rest(session).1, 0);
    assert_eq!(server.heads().len(), 2);
}
