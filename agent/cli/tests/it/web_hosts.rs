//! The hosts of the tools that read the web: how settings spell them, and the connections to them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::config::write_user;
use crate::{Crib, Ended};

/// A server on a loopback port, which answers connections in parallel and counts them.
struct BusyServer {
    port: u16,
    /// The time for which an answer waits for one more request than the limit allows.
    hold: Duration,
    counts: Mutex<Counts>,
    more: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    running: usize,
    /// The greatest number of requests at the same time.
    most: usize,
    /// The number of requests with the key.
    with_key: usize,
    all: usize,
}

/// The limit of connections of a session to one host.
const PER_HOST: usize = 6;

const KEY: &str = "key-of-the-server";

impl BusyServer {
    fn start(hold: Duration) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Arc::new(Self {
            port,
            hold,
            counts: Mutex::default(),
            more: Condvar::new(),
        });
        let shared = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                std::thread::spawn(move || shared.answer(&stream.unwrap()));
            }
        });
        server
    }

    fn counts(&self) -> Counts {
        *self.counts.lock().unwrap()
    }

    fn answer(&self, mut stream: &TcpStream) {
        let lines = BufReader::new(stream)
            .lines()
            .map(Result::unwrap)
            .take_while(|line| !line.is_empty());
        let head = lines.collect::<Vec<_>>().join("\n");
        let mut counts = self.counts.lock().unwrap();
        counts.all += 1;
        counts.with_key += usize::from(head.contains(KEY));
        counts.running += 1;
        counts.most = counts.most.max(counts.running);
        self.more.notify_all();
        let (mut counts, _) = self
            .more
            .wait_timeout_while(counts, self.hold, |counts| counts.most <= PER_HOST)
            .unwrap();
        // Before the answer, after which the client may send the next request.
        counts.running -= 1;
        drop(counts);
        let body =
            json!({"results": [{"title": "Hammers", "url": "https://example.org/", "content": "All."}]}).to_string();
        let length = body.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    }
}

#[test]
fn searches_and_other_requests_of_a_session_share_the_limit_of_connections() {
    let (crib, server) = (Crib::new(), BusyServer::start(Duration::from_secs(1)));
    let host = format!("127.0.0.1:{}", server.port);
    write_user(
        &crib,
        &format!(
            "grants = ['net:read:{host}']
[http]
private_hosts = ['{host}']
\
             [web]
search = 'searxng'
search_url = 'http://{host}'
"
        ),
    );
    let of_path = |path: &usize| json!({"name": "web.fetch", "arguments": {"url": format!("http://{host}/{path}")}});
    let of_query =
        |query: &usize| json!({"name": "web.search", "arguments": {"query": query.to_string()}});
    let calls: Vec<_> = (0..6)
        .flat_map(|number| [of_path(&number), of_query(&number)])
        .collect();
    let script = crib.script(&[
        &json!({ "calls": calls }).to_string(),
        r#"{"text": "finished"}"#,
    ]);
    crib.run(&["run", "x", "--script", &script]).expect(0);
    let Counts { all, most, .. } = server.counts();
    assert_eq!((all, most), (12, PER_HOST));
}

#[test]
fn a_private_host_an_origin_and_the_url_of_a_search_may_have_capitals() {
    let (crib, server) = (Crib::new(), BusyServer::start(Duration::ZERO));
    let port = server.port;
    let user = format!(
        "grants = ['net:read:localhost:{port}']\nhttp.private_hosts = ['LocalHost:{port}']\n\
         [web]\nsearch = 'searxng'\nsearch_url = 'http://LOCALHOST:{port}'\n\
         [[secrets]]\nname = 'a'\norigin = 'http://Localhost:{port}'\nheader = 'x-key'\nenv = 'CRIB_SECRET'\n"
    );
    write_user(&crib, &user);
    let run = |call: &str| {
        let command = ["run", "--provider", "direct", call];
        Ended::from(
            crib.command(&command)
                .env("CRIB_SECRET", KEY)
                .output()
                .unwrap(),
        )
    };
    run(&format!("web.fetch url=http://localhost:{port}/")).expect(0);
    run("web.search query=hammers").expect(0);
    let Counts { all, with_key, .. } = server.counts();
    assert_eq!((all, with_key), (2, 2));

    // Unicode has more than one spelling.
    for (text, spelled) in [
        ("LocalHost", "m\u{fc}nchen.example"),
        ("http://Localhost", "https://m\u{fc}nchen.example"),
    ] {
        write_user(&crib, &user.replace(text, spelled));
        let ended = run("time.now").expect(2);
        assert!(
            ended
                .stderr
                .contains("write an international name as `xn--…`"),
            "{ended:#?}"
        );
    }
}
