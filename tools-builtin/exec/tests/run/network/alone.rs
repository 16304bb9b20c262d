//! Programs without bubblewrap, which reach every host or none.

use std::net::SocketAddr;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tools::policy::{Policy, Rule, Verdict};
use tools::{Answer, Decision, Host, Tasks};
use tools_exec::Sandbox;
use tools_exec::walls::Layers;
use tools_http::HttpClient;
use tools_testkit::http::TestServer;
use tools_testkit::{RecordingApprover, RecordingPerson, TempWorkspace, TestHost};
use tools_workspace::Workspace;

use super::setup::{runtime, trial_alone};

const CURL: &str = "/usr/bin/curl";

/// A client, and clauses for programs that write nothing.
fn host(workspace: &TempWorkspace, network: &[&str]) -> TestHost {
    let grant = ["fs:read:**", "exec:write:**", "program:read:**"];
    TestHost::new(tools_exec::register)
        .with_grant(&[&grant[..], network].concat())
        .with_service(Workspace::open(workspace.path()).unwrap())
        .with_service(Sandbox {
            layers: Layers::probe().without_bubblewrap().into(),
            ..Sandbox::default()
        })
        .with_context(with_programs)
}

fn with_programs(cx: Host) -> Host {
    let mut services = cx.services().clone();
    Tasks::offer(&mut services);
    cx.with_services(services)
}

fn call(host: &TestHost, tool: &str, arguments: Value) -> String {
    runtime()
        .block_on(host.call(tool, arguments))
        .unwrap()
        .to_text()
}

/// Returns the ways to run curl.
fn ways(server: SocketAddr) -> [(&'static str, Value); 3] {
    let url = format!("http://{server}/");
    let program = json!({"program": CURL, "args": ["-sS", url]});
    [
        ("exec.run", program.clone()),
        ("exec.shell", json!({"script": format!("{CURL} -sS {url}")})),
        ("exec.start", program),
    ]
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial_alone(
            "a_person_decides_about_the_network_of_each_program",
            &[CURL],
            || {
                let server = runtime()
                    .block_on(TestServer::start(|_| TestServer::ok("text/plain", "hello")));
                let url = format!("http://{}/", server.address());
                for (tool, arguments) in ways(server.address()) {
                    for answer in [
                        Some(Answer::Confirmation(true)),
                        Some(Answer::Confirmation(false)),
                        Some(Answer::Declined),
                        None,
                    ] {
                        let is_reached = answer == Some(Answer::Confirmation(true));
                        let before = server.connections();
                        let workspace = TempWorkspace::new();
                        let person = RecordingPerson::new(answer.clone());
                        let host = host(&workspace, &["net:*:a.test", "net:read:b.test:1"])
                            .with_service(HttpClient::default());
                        let host = if answer.is_some() {
                            host.with_person(person.clone())
                        } else {
                            host
                        };
                        let mut shown = call(&host, tool, arguments.clone());
                        for _ in 0..30 {
                            if tool != "exec.start" || shown.contains("exit code") {
                                break;
                            }
                            shown += &call(&host, "exec.read", json!({"handle": "t1", "wait": 60}));
                        }
                        assert_eq!(
                            shown.contains("hello"),
                            is_reached,
                            "{tool} {answer:?} {shown}"
                        );
                        assert_eq!(
                            server.connections() > before,
                            is_reached,
                            "{tool} {answer:?} {shown}"
                        );
                        assert_eq!(
                            shown.contains("had no network, because without bubblewrap"),
                            !is_reached,
                            "{tool} {shown}"
                        );
                        assert_eq!(
                            shown.contains("had the whole network, as the user agreed"),
                            is_reached,
                            "{tool} {shown}"
                        );
                        let questions = person.questions();
                        assert_eq!(questions.len(), usize::from(answer.is_some()), "{tool}");
                        for part in questions.iter().flat_map(|_| {
                        [
                            "every host, the local network and the services of this machine, and send",
                            "only a.test, b.test:1,",
                            &url,
                        ]
                    }) {
                        assert!(questions[0].text().contains(part), "{tool} {part} {questions:?}");
                    }
                        for question in &questions {
                            assert_eq!(
                                question.text().contains("the agent may write to it"),
                                tool == "exec.start"
                            );
                        }
                    }
                }
            },
        ),
        trial_alone(
            "a_program_with_the_network_of_the_machine_has_no_proxy_and_no_more_files",
            &[CURL],
            || {
                let outside = TempWorkspace::from_files([("file", "outside")]);
                let workspace = TempWorkspace::new();
                let person = RecordingPerson::new([Answer::Confirmation(true)]);
                let host = host(&workspace, &["net:*:a.test"])
                    .with_service(HttpClient::default())
                    .with_person(person);
                let script = format!(
                    "env | grep -i proxy; cat {}; echo new > file",
                    outside.join("file").display()
                );
                let shown = call(
                    &host,
                    "exec.run",
                    json!({"program": "sh", "args": ["-c", script]}),
                );
                assert!(
                    shown.starts_with("[exit code ") && shown.contains("Permission denied"),
                    "{shown}"
                );
                assert!(
                    !shown.contains("http_proxy") && !shown.contains("\noutside"),
                    "{shown}"
                );
                assert!(!workspace.contains("file"));
            },
        ),
        trial_alone("hosts_with_long_names_are_asked_about", &[], || {
            let workspace = TempWorkspace::new();
            let person = RecordingPerson::new([Answer::Confirmation(false)]);
            let clauses: Vec<String> = (0..12)
                .map(|n| format!("net:read:{n:02}{}.{}.test", "a".repeat(60), "b".repeat(58)))
                .collect();
            let clauses: Vec<&str> = clauses.iter().map(String::as_str).collect();
            let host = host(&workspace, &clauses)
                .with_service(HttpClient::default())
                .with_person(person.clone());
            let answer = call(&host, "exec.run", json!({"program": "true"}));
            let questions = person.questions();
            assert!(
                answer.starts_with("[exit code 0,") && questions[0].text().contains("…, 2 more,"),
                "{questions:?}"
            );
        }),
        trial_alone(
            "an_approval_says_that_the_network_is_asked_about",
            &[],
            || {
                let workspace = TempWorkspace::new();
                let approver = RecordingApprover::new(Decision::Allow);
                let host = host(&workspace, &["net:*:a.test"])
                    .with_service(HttpClient::default())
                    .with_approver(approver.clone());
                call(
                    &host.with_context(|cx| cx.with_policy(Policy::by_effects())),
                    "exec.run",
                    json!({"program": "true"}),
                );
                let shown = format!("{:?}", approver.requests());
                assert!(
                    shown.contains("network: a.test, which is asked about at the start"),
                    "{shown}"
                );
            },
        ),
        trial_alone(
            "nobody_is_asked_about_a_network_that_a_program_cannot_have",
            &[],
            || {
                let workspace = TempWorkspace::new();
                let run = |host: TestHost| {
                    let person = RecordingPerson::new([Answer::Confirmation(true)]);
                    let shown = call(
                        &host.with_person(person.clone()),
                        "exec.run",
                        json!({"program": "true"}),
                    );
                    assert_eq!(person.questions(), [], "{shown}");
                    shown
                };
                let client = || HttpClient::default();
                // These name no host, so that nothing is missed.
                for clauses in [
                    &[][..],
                    &["net:*:**"],
                    &["net:read:*.test"],
                    &["*:read:**"],
                    &["net:write:a.test"],
                ] {
                    let host = host(&workspace, clauses).with_service(client());
                    assert!(!run(host).contains("network"), "{clauses:?}");
                }
                assert!(
                    run(host(&workspace, &["net:read:a.test"]))
                        .contains("because the host has no HTTP client")
                );
                let rule = Rule::for_target(Verdict::Deny, "net:*:b.test".parse().unwrap());
                let denied = host(&workspace, &["net:read:a.test"]).with_service(client());
                let denied =
                    denied.with_context(|cx| cx.with_policy(Policy::new().with_rules([rule])));
                assert!(run(denied).contains("because a rule denies hosts"));
            },
        ),
    ]
}
