//! Programs that use the network.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tools::policy::{Policy, Rule, Verdict};
use tools::{Answer, Decision, Tasks};
use tools_http::HttpOptions;
use tools_testkit::http::{TestAuthority, TestResolver, TestServer};
use tools_testkit::{RecordingApprover, RecordingPerson, TempWorkspace};

use super::setup::{host, names, run, runtime, sh, trial};

const CURL: &str = "/usr/bin/curl";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_program_reaches_the_hosts_that_the_grant_names",
            &[CURL],
            || {
                let server = runtime()
                    .block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
                let options =
                    || names([("a.test", server.address()), ("b.test", server.address())]);
                let workspace = TempWorkspace::new();
                let host = host(&workspace, options(), &["net:read:a.test", "net:*:c.test"]);
                let answer = sh(&host, "curl -sS http://a.test/x; curl -sS http://b.test/y");
                assert!(
                    answer.contains("\n[connections of the program: a.test (1)]\n"),
                    "{answer}"
                );
                assert!(
                    answer.contains("stdout:\nhellotoolcrib: b.test is not among the hosts"),
                    "{answer}"
                );
                assert!(
                answer
                    .contains("refused: b.test is not among the hosts that the grant names; ask for net:read:b.test]")
            );
                let received = server.received();
                assert_eq!(received.len(), 1);
                assert_eq!(
                    (received[0].path(), received[0].header("host")),
                    ("/x", Some("a.test"))
                );
            },
        ),
        trial(
            "a_clause_for_reading_permits_no_upload_and_no_tunnel",
            &[CURL],
            || {
                let server = runtime()
                    .block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
                let options = || names([("a.test", server.address())]);
                let workspace = TempWorkspace::new();
                let script = "curl -sS -d x=y http://a.test/; curl -sS -X DELETE http://a.test/; curl -sS https://a.test/";
                let read = host(&workspace, options(), &["net:read:a.test"]);
                let answer = sh(&read, script);
                assert!(
                    answer.contains("ask for net:write:a.test]") && server.connections() == 0,
                    "{answer}"
                );
                let write = host(&workspace, options(), &["net:write:a.test"]);
                let answer = sh(&write, script);
                assert!(
                    answer.contains("ask for net:read:a.test]") && server.connections() == 0,
                    "{answer}"
                );
                sh(
                    &host(&workspace, options(), &["net:*:a.test"]),
                    "curl -sS -d x=y http://a.test/",
                );
                assert_eq!(server.received()[0].body, b"x=y");
            },
        ),
        trial("a_tunnel_carries_tls_to_a_named_host", &[CURL], || {
            let authority = TestAuthority::new();
            let hello = |_: &_| TestServer::ok("text/plain", "hello");
            let server = runtime().block_on(TestServer::start_tls(&authority, &["a.test"], hello));
            let options = names([("a.test", server.address())]);
            let workspace = TempWorkspace::from_files([("ca.pem", authority.pem())]);
            let host = host(&workspace, options, &["net:*:a.test"]);
            let answer = sh(
                &host,
                "for i in 1 2; do curl -sS --cacert ca.pem https://a.test/; done",
            );
            assert!(
                answer.ends_with("\n[connections of the program: a.test (2)]\nstdout:\nhellohello"),
                "{answer}"
            );
        }),
        trial("rules_of_the_policy_hold_for_programs", &[CURL], || {
            let server =
                runtime().block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
            let clauses = ["net:*:a.test"];
            for (verdict, target, is_reached) in [
                (None, "", true),
                (Some(Verdict::Deny), "net:read:a.test", false),
                (Some(Verdict::Deny), "net:write:a.test", false),
                (Some(Verdict::Ask), "net:write:**", false),
                (Some(Verdict::Deny), "net:write:b.test", true),
            ] {
                let workspace = TempWorkspace::new();
                let host = host(&workspace, names([("a.test", server.address())]), &clauses);
                let approver = RecordingApprover::new(Decision::Allow);
                let rule =
                    verdict.map(|verdict| Rule::for_target(verdict, target.parse().unwrap()));
                // It asks about writes by default, and the question about the program was answered.
                let policy = Policy::by_effects().with_rules(rule);
                let host = host
                    .with_context(|cx| cx.with_policy(policy))
                    .with_approver(approver.clone());
                let answer = sh(&host, "curl -sS -d x=y http://a.test/");
                assert_eq!(
                    answer.contains("hello"),
                    is_reached,
                    "{verdict:?} {target} {answer}"
                );
                assert_eq!(
                    approver.requests().len(),
                    1,
                    "only the program is asked about"
                );
            }
        }),
        trial("a_host_that_no_clause_names_is_refused", &[CURL], || {
            let server =
                runtime().block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
            for clause in ["net:*:**", "net:*:*.test", "*:*:**"] {
                let workspace = TempWorkspace::new();
                let host = host(&workspace, names([("a.test", server.address())]), &[clause]);
                assert!(
                    sh(&host, "curl -sS http://a.test/").contains("ask for net:read:a.test"),
                    "{clause}"
                );
            }
            assert_eq!(server.connections(), 0);
        }),
        trial(
            "without_a_clause_about_hosts_there_is_no_proxy",
            &[CURL],
            || {
                let server = runtime()
                    .block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
                let workspace = TempWorkspace::new();
                let host = host(&workspace, names([("a.test", server.address())]), &[]);
                let script = "env | grep -i proxy; curl -sS -x http://127.0.0.1:3128 http://a.test/ || echo failed";
                let answer = sh(&host, script);
                assert!(
                    answer.contains("failed") && !answer.contains("http_proxy"),
                    "{answer}"
                );
                assert_eq!(server.connections(), 0);
            },
        ),
        trial(
            "a_program_has_its_own_loopback_with_and_without_a_network",
            &["/usr/bin/python3"],
            || {
                let outside = TcpListener::bind("127.0.0.1:0").unwrap();
                outside.set_nonblocking(true).unwrap();
                let port = outside.local_addr().unwrap().port();
                // The same port is free in its network, and a server there is reached in spite of the proxy.
                let script = format!(
                    "import http.server, threading, urllib.request
server = http.server.HTTPServer(('127.0.0.1', {port}), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for name in ['127.0.0.1', 'localhost']:
    print(urllib.request.urlopen(f'http://{{name}}:{port}/file').read())"
                );
                for network in [&[][..], &["net:read:a.test"]] {
                    let workspace = TempWorkspace::from_files([("file", "content")]);
                    let host = host(&workspace, HttpOptions::default(), network);
                    let answer = run(
                        &host,
                        json!({"program": "/usr/bin/python3", "args": ["-c", script]}),
                    );
                    assert!(
                        answer.contains("stdout:\nb'content'\nb'content'\n"),
                        "{answer}"
                    );
                }
                assert!(outside.accept().is_err());
            },
        ),
        trial(
            "a_program_with_a_network_has_its_own_input_and_no_other_descriptor",
            &[],
            || {
                let workspace = TempWorkspace::new();
                // Input for a shell is asked about.
                let host = host(&workspace, HttpOptions::default(), &["net:read:a.test"])
                    .with_approver(RecordingApprover::new(Decision::Allow));
                let script = "cat; for fd in /proc/self/fd/*; do readlink $fd; done | sed 's/[0-9]*//g' | sort | uniq -c";
                let answer = run(
                    &host,
                    json!({"program": "bash", "args": ["-c", script], "stdin": "input\n"}),
                );
                assert!(answer.contains("stdout:\ninput\n"), "{answer}");
                assert!(
                    answer.contains("3 pipe:[]") && !answer.contains("socket"),
                    "{answer}"
                );
            },
        ),
        trial("the_connections_of_a_program_end_with_it", &[CURL], || {
            let ended = Arc::new((AtomicBool::new(false), tokio::sync::Notify::new()));
            let told = ended.clone();
            let server = runtime().block_on(TestServer::start_streaming(move |_, mut stream| {
                let told = told.clone();
                async move {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nbegin\n").await;
                    while stream.write_all(&[b'x'; 1000]).await.is_ok() {}
                    told.0.store(true, Ordering::SeqCst);
                    told.1.notify_one();
                }
            }));
            let workspace = TempWorkspace::new();
            let host = host(
                &workspace,
                names([("a.test", server.address())]),
                &["net:read:a.test"],
            );
            let script = "setsid curl -sSN http://a.test/ > got & until grep -q begin got; do sleep 0.05; done; echo over";
            assert!(sh(&host, script).contains("over"));
            runtime().block_on(ended.1.notified());
            assert!(ended.0.load(Ordering::SeqCst));
        }),
        trial(
            "a_background_program_has_a_network_also_on_a_terminal",
            &[CURL],
            || {
                let server = runtime()
                    .block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
                let network = ["net:read:a.test", "program:read:**", "program:write:**"];
                for terminal in [false, true] {
                    let workspace = TempWorkspace::new();
                    let person = RecordingPerson::new([Answer::Confirmation(true)]);
                    let host = host(&workspace, names([("a.test", server.address())]), &network)
                        .with_context(|cx| {
                            let mut services = cx.services().clone();
                            Tasks::offer(&mut services);
                            cx.with_services(services)
                        });
                    let host = host.with_person(person);
                    let call = |tool: &str, arguments| {
                        runtime()
                            .block_on(host.call(tool, arguments))
                            .unwrap()
                            .to_text()
                    };
                    let mut shown =
                        call("exec.start", json!({"program": "sh", "terminal": terminal}));
                    // The call that started it has ended.
                    let script = "test -t 0 && echo terminal; curl -sS http://a.test/ http://b.test/; echo over-$((1 + 1))\n";
                    shown += &call("exec.write", json!({"handle": "t1", "text": script}));
                    for _ in 0..30 {
                        if shown.contains("over-2") {
                            break;
                        }
                        shown += &call("exec.read", json!({"handle": "t1"}));
                    }
                    shown += &call("exec.read", json!({"handle": "t1"}));
                    assert!(
                        shown.contains("hello") && shown.contains("ask for net:read:b.test]"),
                        "{shown}"
                    );
                    assert_eq!(
                        shown.contains("\nterminal") || shown.contains("terminal\r\n"),
                        terminal,
                        "{shown}"
                    );
                }
            },
        ),
        trial("nothing_serves_a_program_that_has_ended", &[], || {
            let workspace = TempWorkspace::new();
            let resolver = Arc::new(TestResolver::new());
            let options = HttpOptions {
                resolver: Some(resolver.clone()),
                ..HttpOptions::default()
            };
            let host = host(&workspace, options, &["net:read:a.test"]);
            assert!(sh(&host, "echo over").contains("over"));
            drop(host);
            // The proxy holds the client, and its task ends soon.
            let is_held = || Arc::strong_count(&resolver) > 1;
            (0..2000)
                .take_while(|_| is_held())
                .for_each(|_| std::thread::sleep(Duration::from_millis(5)));
            assert!(!is_held());
        }),
        trial("an_approval_shows_the_hosts", &[], || {
            let workspace = TempWorkspace::new();
            let approver = RecordingApprover::new(Decision::Allow);
            let network = [
                "net:*:b.test",
                r"net:read:\[2000::1\]:*",
                "net:read:*.test",
                "net:write:c.test",
            ];
            let host =
                host(&workspace, HttpOptions::default(), &network).with_approver(approver.clone());
            let host = host.with_context(|cx| cx.with_policy(Policy::by_effects()));
            run(&host, json!({"program": "true"}));
            let shown = format!("{:?}", approver.requests());
            assert!(
                shown.contains("network: [2000::1]:*, b.test, through a proxy"),
                "{shown}"
            );
        }),
    ]
}
