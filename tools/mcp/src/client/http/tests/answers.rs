//! Answers of servers, in raw bytes.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient as _, StreamableHttpPostResponse as Answer,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tools_http::{HeaderName, HeaderValue};
use tools_testkit::http::{Received, TestServer};

use super::super::HttpServer;
use super::super::requests::Failure;
use crate::client::message_limit::MAX_MESSAGE_BYTES;

fn message(value: Value) -> ClientJsonRpcMessage {
    serde_json::from_value(value).unwrap()
}

fn ping() -> ClientJsonRpcMessage {
    message(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
}

fn notification() -> ClientJsonRpcMessage {
    message(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

/// Returns a response with a status, a content type and a body.
fn response(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Posts a message to a server that answers with these bytes.
async fn post(
    bytes: Vec<u8>,
    message: ClientJsonRpcMessage,
    session: Option<&str>,
) -> (Result<Answer, Failure>, Received) {
    let server = TestServer::start(move |_| bytes.clone()).await;
    let requests = HttpServer::new(&server.url("/mcp"))
        .unwrap()
        .requests()
        .unwrap();
    let headers = HashMap::from([(
        HeaderName::from_static("mcp-method"),
        HeaderValue::from_static("ping"),
    )]);
    let uri: Arc<str> = server.url("/mcp").into();
    let token = Some("the-token".to_owned());
    let answer = requests
        .post_message(uri, message, session.map(Arc::from), token, headers)
        .await;
    (answer, server.received().remove(0))
}

const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#;

#[tokio::test]
async fn a_message_is_posted_with_its_headers_and_answered_by_json() {
    let answered = b"HTTP/1.1 200 OK\r\nContent-Type: Application/JSON; charset=utf-8\r\nmcp-session-id: s2\r\n\r\n";
    let (answer, received) = post([answered, PONG.as_bytes()].concat(), ping(), Some("s1")).await;
    assert!(
        matches!(answer, Ok(Answer::Json(ServerJsonRpcMessage::Response(_), Some(id))) if id == "s2")
    );
    for (name, value) in [
        ("accept", "text/event-stream, application/json"),
        ("content-type", "application/json"),
        ("mcp-session-id", "s1"),
        ("mcp-method", "ping"),
        ("authorization", "Bearer the-token"),
    ] {
        assert_eq!(received.header(name), Some(value), "{}", received.head);
    }
    assert_eq!(
        serde_json::from_slice::<Value>(&received.body).unwrap()["method"],
        "ping"
    );
}

/// Returns the message of an error that answers the request.
fn error_of(answer: Result<Answer, Failure>) -> String {
    let Ok(Answer::Json(ServerJsonRpcMessage::Error(error), _)) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(json!(error.id), json!(1));
    error.error.message.into_owned()
}

#[tokio::test]
async fn an_answer_that_does_not_name_its_request_ends_it_at_once() {
    let no_id = ERROR.replace("\"id\":1", "\"id\":null");
    for status in ["200 OK", "400 Bad Request"] {
        let (answer, _) = post(response(status, "application/json", &no_id), ping(), None).await;
        assert_eq!(error_of(answer), "no");
    }
    let (accepted, _) = post(TestServer::head("202 Accepted", &[]), ping(), Some("s1")).await;
    assert!(error_of(accepted).contains("202"));
}

#[tokio::test]
async fn a_bad_request_about_a_session_renews_it_and_an_answer_of_the_tool_does_not() {
    let about = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"Bad Request: No valid session ID provided"}}}}"#
        )
    };
    let statuses = [
        "400 Bad Request",
        "401 Unauthorized",
        "410 Gone",
        "422 Unprocessable Content",
    ];
    let uninitialized =
        about("null").replace("No valid session ID provided", "Server not initialized");
    for (kind, body) in [
        ("application/json", about("null")),
        ("application/json", about("1")),
        ("application/json", uninitialized),
        ("application/json", about("\"server-error\"")),
        ("text/plain", "Invalid or missing session ID".to_owned()),
    ] {
        for status in statuses {
            let (answer, _) = post(response(status, kind, &body), ping(), Some("s1")).await;
            assert!(matches!(answer, Err(Failure::SessionExpired)), "{answer:?}");
            let (answer, _) = post(response(status, kind, &body), ping(), None).await;
            assert!(
                !matches!(answer, Err(Failure::SessionExpired)),
                "{answer:?}"
            );
        }
    }
    let unknown = about("1").replace("-32000", "-32001");
    let (answer, _) = post(
        response("200 OK", "application/json", &unknown),
        ping(),
        Some("s1"),
    )
    .await;
    assert!(matches!(answer, Err(Failure::SessionExpired)), "{answer:?}");
    // The words of a tool.
    for (status, code) in [("400 Bad Request", "-32602"), ("200 OK", "-32000")] {
        let own = about("1").replace("-32000", code);
        let (own, _) = post(
            response(status, "application/json", &own),
            ping(),
            Some("s1"),
        )
        .await;
        assert!(error_of(own).contains("session"));
    }
}

#[tokio::test]
async fn an_event_that_says_that_the_session_is_unknown_renews_it() {
    let error = |code: i32, text: &str| {
        let error = json!({"code": code, "message": text});
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        format!("id: 1\ndata: \n\ndata: {error}\n\n")
    };
    for (code, text, is_renewed) in [
        (-32001, "Session not found", true),
        (-32001, "Bad Request: server not initialized", true),
        (-32001, "Request timed out", false),
        (-32000, "The session of the calendar is full", false),
    ] {
        for session in [None, Some("s1")] {
            let body = error(code, text);
            let answer = response("200 OK", "text/event-stream", &body);
            let (answer, _) = post(answer, ping(), session).await;
            if is_renewed && session.is_some() {
                assert!(matches!(answer, Err(Failure::SessionExpired)), "{answer:?}");
                continue;
            }
            let Ok(Answer::Sse(events, _)) = answer else {
                panic!("{answer:?}")
            };
            let events: Vec<_> = events.map(|event| event.unwrap().data).collect().await;
            assert!(
                events.last().unwrap().as_ref().unwrap().contains(text),
                "{events:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_careless_body_or_event_is_read() {
    let careless: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"mean\":NaN,\"name\":\"caf\xe9\"}}";
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let (answer, _) = post([head, careless].concat(), ping(), None).await;
    assert!(
        matches!(
            answer,
            Ok(Answer::Json(ServerJsonRpcMessage::Response(_), None))
        ),
        "{answer:?}"
    );
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";
    let (answer, _) = post([head, careless, b"\n\n"].concat(), ping(), None).await;
    let Ok(Answer::Sse(mut events, _)) = answer else {
        panic!("{answer:?}")
    };
    let data: Value =
        serde_json::from_str(&events.next().await.unwrap().unwrap().data.unwrap()).unwrap();
    assert_eq!(data["result"], json!({"mean": null, "name": "caf\u{fffd}"}));
}

#[tokio::test]
async fn the_only_answer_to_a_request_is_read_whatever_its_type_form_and_id() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    let batch = format!("[{note},{PONG}]");
    for (kind, body) in [
        ("text/plain", PONG),
        ("application/octet-stream", PONG),
        ("text/html; charset=utf-8", PONG),
        ("application/json", &batch),
        (
            "application/json",
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        ),
        (
            "application/json",
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        ),
        ("application/json", r#"{"result":{}}"#),
        (
            "application/json",
            &format!("event: message\ndata: {PONG}\n\n"),
        ),
    ] {
        let (answer, _) = post(response("200 OK", kind, body), ping(), None).await;
        let Ok(Answer::Json(ServerJsonRpcMessage::Response(read), None)) = answer else {
            panic!("{body}: {answer:?}")
        };
        assert_eq!(json!(read.id), 1);
    }
    for status in [
        "202 Accepted",
        "400 Bad Request",
        "500 Internal Server Error",
    ] {
        let (answer, _) = post(response(status, "application/json", PONG), ping(), None).await;
        assert!(
            matches!(
                answer,
                Ok(Answer::Json(ServerJsonRpcMessage::Response(_), None))
            ),
            "{answer:?}"
        );
    }
    for (kind, body) in [("text/html", "<h1>It works</h1>"), ("text/plain", note)] {
        let (answer, _) = post(response("200 OK", kind, body), ping(), None).await;
        assert!(
            matches!(answer, Err(Failure::UnexpectedContentType(Some(_)))),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_with_the_only_answer_is_read_whatever_its_kind_and_end() {
    for body in [
        format!("data: {PONG}"),
        format!("data: {PONG}\n"),
        format!("event: response\ndata: {PONG}\n\n"),
        PONG.to_owned(),
        format!("data: {}\n\n", PONG.replace("\"id\":1", "\"id\":99")),
    ] {
        let (answer, _) = post(response("200 OK", "text/event-stream", &body), ping(), None).await;
        let Ok(Answer::Sse(mut events, _)) = answer else {
            panic!("{answer:?}")
        };
        let event = events.next().await.unwrap().unwrap();
        let data: Value = serde_json::from_str(&event.data.unwrap()).unwrap();
        assert_eq!(
            (event.event, &data["id"], &data["result"]),
            (None, &json!(1), &json!({})),
            "{body}"
        );
    }
}

#[tokio::test]
async fn each_message_of_an_event_is_one_of_the_stream() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    let body =
        format!("data: [{note},\ndata: {{\"jsonrpc\":\"2.0\",\"result\":{{}}}}]\n\nevent: end\n\n");
    let (answer, _) = post(response("200 OK", "text/event-stream", &body), ping(), None).await;
    let Ok(Answer::Sse(events, _)) = answer else {
        panic!("{answer:?}")
    };
    let data: Vec<_> = events
        .map(|event| event.unwrap().data.unwrap_or_default())
        .collect()
        .await;
    let read: Vec<Value> = data
        .iter()
        .map(|data| serde_json::from_str(data).unwrap_or_default())
        .collect();
    assert_eq!(
        (&read[0]["method"], &read[1]["id"]),
        (&json!("notifications/message"), &json!(1)),
        "{data:?}"
    );
}

#[tokio::test]
async fn a_notification_is_accepted_however_the_server_says_so() {
    for bytes in [
        TestServer::head("202 Accepted", &[]),
        TestServer::head("204 No Content", &[]),
        TestServer::head("200 OK", &[]),
        response("200 OK", "application/json", "{}"),
        response("200 OK", "text/plain", "ok"),
        b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        response("200 OK", "text/event-stream", ""),
        response("200 OK", "text/event-stream", &format!("data: {PONG}\n\n")),
        response("200 OK", "text/html", "<h1>It works</h1>"),
        response("500 Internal Server Error", "text/html", "<h1>Oops</h1>"),
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nno gzip".to_vec(),
        b"HTTP/1.1 500 Oops\r\ncontent-encoding: other\r\n\r\n?".to_vec(),
    ] {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(
            matches!(
                post(bytes, notification(), None).await.0,
                Ok(Answer::Accepted)
            ),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_server_that_knows_no_notifications_is_no_reason_to_end_the_connection() {
    for status in [
        "400 Bad Request",
        "404 Not Found",
        "405 Method Not Allowed",
        "500 Internal Server Error",
        "503 Service Unavailable",
    ] {
        for session in [None, Some("s1")] {
            let bytes = response(status, "application/json", ERROR);
            let answer = post(bytes, notification(), session).await.0;
            assert!(
                matches!(answer, Ok(Answer::Accepted)),
                "{status}: {answer:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_renewed_whatever_the_text() {
    for status in ["404 Not Found", "410 Gone"] {
        let (answer, _) = post(response(status, "text/plain", "no"), ping(), Some("s1")).await;
        assert!(matches!(answer, Err(Failure::SessionExpired)), "{answer:?}");
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let challenge =
        |status, challenge| TestServer::head(status, &[("www-authenticate", challenge)]);
    let (unauthorised, _) = post(
        challenge("401 Unauthorized", "Bearer realm=\"a\""),
        ping(),
        None,
    )
    .await;
    let Err(Failure::AuthRequired(error)) = unauthorised else {
        panic!("{unauthorised:?}")
    };
    assert_eq!(error.www_authenticate_header, "Bearer realm=\"a\"");
    let (forbidden, _) = post(
        challenge("403 Forbidden", "Bearer scope=\"a b\""),
        ping(),
        None,
    )
    .await;
    let Err(Failure::InsufficientScope(error)) = forbidden else {
        panic!("{forbidden:?}")
    };
    assert_eq!(error.required_scope.as_deref(), Some("a b"));
    let (expired, _) = post(TestServer::head("404 Not Found", &[]), ping(), Some("s1")).await;
    assert!(
        matches!(expired, Err(Failure::SessionExpired)),
        "{expired:?}"
    );
    for (bytes, status, retry_after) in [
        (
            TestServer::head("429 Too Many Requests", &[("retry-after", "7")]),
            429,
            Some("7"),
        ),
        (
            TestServer::head("503 Service Unavailable", &[("retry-after", "soon")]),
            503,
            Some("soon"),
        ),
        (
            response("500 Internal Server Error", "text/html", "<h1>"),
            500,
            None,
        ),
        (
            response("502 Bad Gateway", "application/json", "{}"),
            502,
            None,
        ),
    ] {
        let (later, _) = post(bytes, ping(), None).await;
        let Err(Failure::HttpStatus(error)) = later else {
            panic!("{later:?}")
        };
        assert_eq!(
            (error.status, error.retry_after.as_deref()),
            (status, retry_after)
        );
    }
    for status in ["400 Bad Request", "500 Internal Server Error"] {
        let (error, _) = post(response(status, "application/json", ERROR), ping(), None).await;
        assert!(
            matches!(
                error,
                Ok(Answer::Json(ServerJsonRpcMessage::Error(_), None))
            ),
            "{error:?}"
        );
    }
    // A refusal does not pass as an answer of the protocol.
    for status in ["403 Forbidden", "404 Not Found"] {
        let (error, _) = post(response(status, "text/plain", "\u{1b}[2Jno"), ping(), None).await;
        let Err(Failure::UnexpectedServerResponse(text)) = error else {
            panic!("{error:?}")
        };
        assert!(
            text.starts_with(&format!("HTTP {}", &status[..3])) && !text.contains('\u{1b}'),
            "{text}"
        );
    }
    let (error, _) = post(
        response("401 Unauthorized", "application/json", ERROR),
        ping(),
        None,
    )
    .await;
    assert!(matches!(error, Err(Failure::AuthRequired(_))), "{error:?}");
}

#[tokio::test]
async fn a_server_of_the_older_generation_refuses_discovery_in_its_own_way() {
    let discover =
        || message(json!({"jsonrpc": "2.0", "id": 9, "method": "server/discover", "params": {}}));
    let echoed = ERROR.replace("\"id\":1", "\"id\":\"server-error\"");
    for (bytes, code) in [
        (
            response("400 Bad Request", "application/json", &echoed),
            -32001,
        ),
        (
            response("400 Bad Request", "text/plain", "Missing session ID"),
            -32600,
        ),
        (TestServer::head("404 Not Found", &[]), -32600),
    ] {
        let (answer, _) = post(bytes, discover(), None).await;
        let Ok(Answer::Json(ServerJsonRpcMessage::Error(error), None)) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!((json!(error.id), error.error.code.0), (json!(9), code));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_or_no_message_is_refused() {
    let text = "x".repeat(MAX_MESSAGE_BYTES);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{text}"}}}}"#);
    for status in ["200 OK", "400 Bad Request"] {
        let (refused, _) = post(response(status, "application/json", &long), ping(), None).await;
        let is_refused = match status {
            "200 OK" => matches!(
                refused,
                Err(Failure::ResponseBodyTooLarge {
                    max_size: MAX_MESSAGE_BYTES
                })
            ),
            _ => matches!(refused, Err(Failure::UnexpectedServerResponse(_))),
        };
        assert!(is_refused, "{status}");
    }
    for body in ["", "{}", "<html>", "[1]"] {
        let (refused, _) = post(response("200 OK", "application/json", body), ping(), None).await;
        assert!(error_of(refused).contains("is no message"));
    }
    let (refused, _) = post(response("200 OK", "text/html", "<html>"), ping(), None).await;
    assert!(
        matches!(refused, Err(Failure::UnexpectedContentType(Some(_)))),
        "{refused:?}"
    );
    let event = |length: usize| format!("data: {}\n\n", "x".repeat(length));
    let events = event(500).repeat(5) + &event(MAX_MESSAGE_BYTES);
    let streamed = response("200 OK", "text/event-stream", &events);
    let server = TestServer::start(move |_| streamed.clone()).await;
    let requests = HttpServer::new(&server.url("/mcp")).unwrap().requests();
    let (requests, uri) = (requests.unwrap(), server.url("/mcp").into());
    let sent = requests.post_message(uri, ping(), None, None, HashMap::new());
    let Ok(Answer::Sse(mut events, None)) = sent.await else {
        panic!("no stream");
    };
    // The bytes of an event that is too long may come with those of others.
    let mut seen = 0;
    let error = loop {
        match events.next().await {
            Some(Ok(_)) => seen += 1,
            Some(Err(error)) => break error,
            None => panic!("the stream ended"),
        }
    };
    let reason = format!("longer than {MAX_MESSAGE_BYTES} bytes");
    assert!(
        seen <= 5 && error.to_string().contains(&reason),
        "{seen} {error}"
    );
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn events_arrive_one_by_one_and_a_dropped_stream_closes_the_connection() {
    let (report, mut reports) = mpsc::unbounded_channel();
    let (next, parts) = mpsc::unbounded_channel::<()>();
    let parts = Arc::new(tokio::sync::Mutex::new(parts));
    let server = TestServer::start_streaming(move |_, mut stream| {
        let (report, parts) = (report.clone(), parts.clone());
        async move {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                .await
                .unwrap();
            for part in [
                "id: e1\ndata: {\"a\":\ndata: 1}\n\n",
                ": comment\n\nevent: message\nda",
                "ta: 2\r\n\r\n",
            ] {
                parts.lock().await.recv().await.unwrap();
                stream.write_all(part.as_bytes()).await.unwrap();
            }
            let _ = stream.read(&mut [0]).await;
            report.send(()).unwrap();
        }
    })
    .await;
    let requests = HttpServer::new(&server.url("/mcp"))
        .unwrap()
        .requests()
        .unwrap();
    let (session, last) = (Some(Arc::from("s1")), Some("e0".to_owned()));
    let uri: Arc<str> = server.url("/mcp").into();
    let mut events = requests
        .get_stream(uri, session, last, None, HashMap::new())
        .await
        .unwrap();
    next.send(()).unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(
        (event.id.as_deref(), event.data.as_deref()),
        (Some("e1"), Some("{\"a\":\n1}"))
    );
    next.send(()).unwrap();
    next.send(()).unwrap();
    let event = loop {
        let event = events.next().await.unwrap().unwrap();
        if event.data.is_some() {
            break event;
        }
    };
    assert_eq!(
        (event.event.as_deref(), event.data.as_deref()),
        (Some("message"), Some("2"))
    );
    let received = server.received().remove(0);
    assert!(received.head.starts_with("GET /mcp "));
    assert_eq!(
        (
            received.header("mcp-session-id"),
            received.header("last-event-id")
        ),
        (Some("s1"), Some("e0"))
    );
    drop(events);
    reports.recv().await.unwrap();
}

#[tokio::test]
async fn a_server_without_streams_or_sessions_says_so() {
    let server = TestServer::start(|request| match request.path() {
        "/none" => TestServer::head("405 Method Not Allowed", &[]),
        "/gone" => TestServer::head("503 Service Unavailable", &[("retry-after", "1")]),
        _ => TestServer::ok("text/html", "<html>"),
    })
    .await;
    let requests = HttpServer::new(&server.url("/"))
        .unwrap()
        .requests()
        .unwrap();
    let get = async |path: &str| {
        let uri: Arc<str> = server.url(path).into();
        requests
            .get_stream(uri, None, None, None, HashMap::new())
            .await
            .map(drop)
    };
    assert!(matches!(
        get("/none").await,
        Err(Failure::ServerDoesNotSupportSse)
    ));
    assert!(matches!(get("/gone").await, Err(Failure::HttpStatus(error)) if error.status == 503));
    assert!(matches!(
        get("/html").await,
        Err(Failure::UnexpectedContentType(Some(_)))
    ));
    let delete = async |path: &str| {
        let uri: Arc<str> = server.url(path).into();
        requests
            .delete_session(uri, Arc::from("s1"), None, HashMap::new())
            .await
    };
    assert!(matches!(
        delete("/none").await,
        Err(Failure::ServerDoesNotSupportDeleteSession)
    ));
    assert!(delete("/ok").await.is_ok());
    assert_eq!(
        server.received().last().unwrap().header("mcp-session-id"),
        Some("s1")
    );
}

#[tokio::test]
async fn an_answer_to_a_call_that_cannot_be_read_says_that_the_call_may_have_run() {
    let call = || {
        message(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}))
    };
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\"";
    let coded = response("200 OK", "application/json\r\ncontent-encoding: zstd", PONG);
    for bytes in [
        response("200 OK", "text/html", "<h1>It works</h1>"),
        cut.into(),
        coded,
    ] {
        let (answer, _) = post(bytes, call(), None).await;
        let Ok(Answer::Json(ServerJsonRpcMessage::Error(error), None)) = answer else {
            panic!("{answer:?}");
        };
        assert!(
            error.id.is_some() && error.error.message.contains("may have run"),
            "{error:?}"
        );
    }
}
