//! URLs of a session that has read text of strangers, over a loopback server.

use serde_json::json;
use tools::context::{Exposure, KnownTexts};
use tools::{Decision, ErrorCode, ToolErrorKind};
use tools_testkit::http::TestServer;
use tools_testkit::{RecordingApprover, TestHost};

use crate::fetch::host;

const PAGE: &str =
    "<h1>Hi</h1><p><a href='/next?page=2#top'>next</a> <a href='https://other.example/x'>other</a>";

/// A host that records what its session has read, with a prompt of the person.
fn recording(server: &TestServer, prompt: &str) -> TestHost {
    let known = KnownTexts::new();
    known.add_prompt(prompt);
    host(server)
        .with_service(Exposure::new())
        .with_service(known)
}

async fn server() -> TestServer {
    TestServer::start(|request| {
        if request.head.starts_with("GET /moved") {
            TestServer::head("302 Found", &[("location", "/target-of-the-server")])
        } else {
            TestServer::ok("text/html", PAGE)
        }
    })
    .await
}

#[tokio::test]
async fn a_url_with_text_of_the_agents_own_is_refused_without_a_person() {
    let server = server().await;
    let host = recording(&server, "Read the weather in Berlin");
    let fetch = async |path: &str| {
        host.call("web.fetch", json!({"url": server.url(path)}))
            .await
    };
    fetch("/start?with=anything")
        .await
        .expect("a session that has read nothing may read any URL");
    for path in [
        "/start?with=anything",
        "/next?page=2",
        "/weather",
        "/Berlin",
        "/",
        "/next?page=2#part",
        "/moved",
    ] {
        if path == "/moved" {
            host.context()
                .service::<KnownTexts>()
                .unwrap()
                .add_prompt("moved");
        }
        fetch(path)
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let before = server.received().len();
    for path in [
        "/c2VjcmV0",
        "/weather?key=c2VjcmV0",
        "/next?page=c2VjcmV0",
        "/x?other.example",
        "/start?with=anythin",
        "/Berlin/weather",
        "/weather?in=Berlin",
        "/next?page=2&page=2",
        "/%6eext?page=2",
        "//next?page=2",
    ] {
        let error = fetch(path).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unapproved, "{path}: {error}");
        let ToolErrorKind::Unapproved {
            concern: Some(concern),
            unnamed,
            ..
        } = error.kind()
        else {
            panic!("{error}")
        };
        assert!(
            unnamed.is_empty() && error.to_string().contains(&concern.remedy),
            "{error}"
        );
    }
    assert_eq!(server.received().len(), before, "nothing was sent");
}

#[tokio::test]
async fn a_person_is_asked_once_for_each_url() {
    let server = server().await;
    let approver = RecordingApprover::new(Decision::Allow);
    let host = recording(&server, "").with_approver(approver.clone());
    host.call("web.fetch", json!({"url": server.url("/")}))
        .await
        .unwrap();
    for (path, asked) in [
        ("/own?x=1", 1),
        ("/own?x=1", 1),
        ("/own?x=2", 2),
        ("/own?x=1#a", 2),
        ("/next?page=2", 2),
    ] {
        host.call("web.fetch", json!({"url": server.url(path)}))
            .await
            .unwrap();
        assert_eq!(approver.requests().len(), asked, "{path}");
    }
    let request = &approver.requests()[0];
    let [concern] = &request.concerns[..] else {
        panic!("{request:?}")
    };
    assert_eq!(
        (&request.targets[..], &concern.target),
        (&[concern.target.clone()][..], &request.targets[0])
    );
    let denied = RecordingApprover::new(Decision::Deny {
        reason: "no".to_owned(),
    });
    let host = host.with_approver(denied);
    for _ in 0..2 {
        let error = host
            .call("web.fetch", json!({"url": server.url("/denied")}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::Denied, "a denied URL is not known");
    }
}

#[tokio::test]
async fn a_search_for_words_of_the_prompt_is_not_asked_about() {
    let server = server().await;
    let host = recording(&server, "Compare rust async traits with those of serde");
    for path in [
        "/find?q=rust",
        "/find?q=rust+async+traits",
        "/find?q=serde",
        "/serde",
        "/next?page=2",
    ] {
        host.call("web.fetch", json!({"url": server.url(path)}))
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

#[tokio::test]
async fn a_person_is_asked_once_after_many_urls_and_a_yes_allows_as_many_more() {
    let server = TestServer::start(|_| {
        let links: String = (0..100)
            .map(|number| format!("<a href='/{number}'>{number}</a> "))
            .collect();
        TestServer::ok("text/html", links)
    })
    .await;
    let approver = RecordingApprover::new(Decision::Allow);
    let host = recording(&server, "").with_approver(approver.clone());
    let fetch = async |number: usize, offset: u32| {
        let arguments =
            json!({"url": server.url(&format!("/{number}")), "offset": offset, "format": "text"});
        host.call("web.fetch", arguments).await.unwrap();
    };
    host.call("web.fetch", json!({"url": server.url("/")}))
        .await
        .unwrap();
    // An ordinary session reads a long document in parts, and returns to pages.
    for number in 0..20 {
        fetch(number % 15, 0).await;
        fetch(number % 15, 10).await;
    }
    assert!(approver.requests().is_empty());
    for (number, asked) in [(30, 1), (31, 1), (0, 1)] {
        fetch(number, 0).await;
        assert_eq!(approver.requests().len(), asked, "{number}");
    }
    for number in 40..70 {
        fetch(number, 0).await;
    }
    assert_eq!(approver.requests().len(), 2);
    let host = host.with_approver(RecordingApprover::new(Decision::Deny {
        reason: "no".to_owned(),
    }));
    let mut refused = 0;
    for number in 70..99 {
        refused += usize::from(
            host.call(
                "web.fetch",
                json!({"url": server.url(&format!("/{number}"))}),
            )
            .await
            .is_err(),
        );
    }
    assert!(refused > 10, "a no allows no more: {refused}");
}

#[tokio::test]
async fn a_host_without_the_service_asks_about_no_url() {
    let server = server().await;
    for _ in 0..2 {
        host(&server)
            .call("web.fetch", json!({"url": server.url("/any?text=x")}))
            .await
            .unwrap();
    }
}
