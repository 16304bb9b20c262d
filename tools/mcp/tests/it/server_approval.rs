//! Approvals and questions by elicitation.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;
use tools::question::AnswerKind;
use tools::{Catalog, Host, Question, ToolContext, ToolError};
use tools_mcp::server::{Peer, PeerRequest, ServerLimits, ToolServer};

use crate::server_client::{BOTH, Person, call, connect, legacy, modern, server, text_of, tool};
use crate::server_messages::Raw;

/// Returns a catalog with a tool that needs an approval, and one that asks a question.
fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    let parameters =
        json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
    let write = tools::Tool::new("write", "Writes.", parameters)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(write, async |_: ToolContext, _: Value| "written")
        .unwrap();
    let ask = async |cx: ToolContext, _: Value| {
        let options = ["red", "blue"].map(str::to_owned).to_vec();
        let color = cx
            .ask(Question::new(
                "Which color?",
                AnswerKind::Choice { options },
            )?)
            .await?;
        Ok::<_, ToolError>(format!("{color:?}"))
    };
    catalog.register(tool("ask"), ask).unwrap();
    catalog
}

#[tokio::test]
async fn a_person_at_the_client_approves_or_denies_a_call() {
    let server = server(catalog(), Host::new());
    let arguments = json!({"path": "a\u{202e}.txt"});
    for mode in BOTH {
        let (person, _heard) = Person::new(Some(json!({"allow": true})));
        let connected = connect(&server, mode.clone(), person.clone()).await;
        let result = call(&connected.client, "write", arguments.clone())
            .await
            .unwrap();
        assert_eq!(text_of(&result), ("written".to_owned(), false));
        let asked = person.asked.lock().unwrap().clone();
        assert!(
            asked[0].starts_with("The tool write asks for:\n  fs:write:a<U+202E>.txt"),
            "{asked:?}"
        );
        assert!(asked[0].contains("{\"path\":"), "{asked:?}");

        for no in [
            json!({"allow": false}),
            json!({}),
            json!({"allow": "yes"}),
            Value::Null,
        ] {
            let connected = connect(&server, mode.clone(), Person::new(Some(no)).0).await;
            let (text, is_error) = text_of(
                &call(&connected.client, "write", arguments.clone())
                    .await
                    .unwrap(),
            );
            assert!(is_error && text.contains("denied"), "{text}");
        }
    }
}

#[tokio::test]
async fn no_call_is_approved_of_which_a_part_is_not_shown() {
    let server = server(catalog(), Host::new());
    let arguments = |length: usize| json!({"path": "a.txt", "text": format!("{}tail", "\u{202e}".repeat(length))});
    for mode in BOTH {
        let (person, _heard) = Person::new(Some(json!({"allow": true})));
        let connected = connect(&server, mode, person.clone()).await;
        let result = call(&connected.client, "write", arguments(5000))
            .await
            .unwrap();
        assert_eq!(text_of(&result), ("written".to_owned(), false));
        let asked = person.asked.lock().unwrap().clone();
        assert!(asked[0].contains("tail\"}"), "{}", asked[0].len());

        let (text, is_error) = text_of(
            &call(&connected.client, "write", arguments(9000))
                .await
                .unwrap(),
        );
        assert!(is_error && text.contains("shorter"), "{text}");
        assert_eq!(person.asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_client_without_elicitation_is_refused() {
    let server = server(catalog(), Host::new());
    for mode in BOTH {
        let connected = connect(&server, mode, Person::silent()).await;
        let (text, is_error) = text_of(
            &call(&connected.client, "write", json!({"path": "a.txt"}))
                .await
                .unwrap(),
        );
        assert!(is_error && text.contains("fs:write:a.txt"), "{text}");
        let (text, is_error) = text_of(&call(&connected.client, "ask", json!({})).await.unwrap());
        assert!(is_error && text.contains("nobody is there"), "{text}");
    }
}

#[tokio::test]
async fn a_person_at_the_client_answers_a_question() {
    let server = server(catalog(), Host::new());
    for mode in BOTH {
        for (given, expected) in [
            (json!({"answer": "blue"}), "Choice(\"blue\")"),
            (Value::Null, "Declined"),
            (json!({"answer": "green"}), "nobody is there"),
            (json!({"answer": 1}), "nobody is there"),
        ] {
            let connected = connect(&server, mode.clone(), Person::new(Some(given)).0).await;
            let (text, _) = text_of(&call(&connected.client, "ask", json!({})).await.unwrap());
            assert!(text.contains(expected), "{text}");
        }
    }
}

/// Calls a tool once and returns the state of the call, which waits for input, and the keys of its requests.
async fn begin(
    connected: &crate::server_client::Connected,
    params: CallToolRequestParams,
) -> (String, Vec<String>) {
    match connected.client.call_tool_once(params).await.unwrap() {
        CallToolResponse::InputRequired(required) => {
            let keys = required
                .input_requests
                .unwrap_or_default()
                .into_keys()
                .collect();
            (required.request_state.unwrap(), keys)
        }
        other => panic!("{other:?}"),
    }
}

fn write_to(path: &str) -> CallToolRequestParams {
    let Value::Object(arguments) = json!({"path": path}) else {
        unreachable!()
    };
    CallToolRequestParams::new("write").with_arguments(arguments)
}

#[tokio::test]
async fn a_request_state_holds_once_and_for_its_request_only() {
    let server = server(catalog(), Host::new());
    let yes = || {
        [(
            "request-1".to_owned(),
            json!({"action": "accept", "content": {"allow": true}}),
        )]
        .into()
    };
    let connected = connect(&server, modern(), Person::new(Some(json!({}))).0).await;
    let (state, keys) = begin(&connected, write_to("a.txt")).await;
    assert_eq!(keys, ["request-1"]);
    let resume = async |path, state: String| {
        let params = write_to(path)
            .with_input_responses(yes())
            .with_request_state(state);
        connected.client.call_tool_once(params).await
    };
    for wrong in [
        resume("b.txt", state.clone()).await,
        resume("a.txt", format!("{state}x")).await,
    ] {
        assert!(wrong.unwrap_err().to_string().contains("-32602"));
    }
    let Ok(CallToolResponse::Complete(result)) = resume("a.txt", state.clone()).await else {
        panic!()
    };
    assert_eq!(text_of(&result).0, "written");
    assert!(
        resume("a.txt", state)
            .await
            .unwrap_err()
            .to_string()
            .contains("-32602")
    );
}

#[tokio::test]
async fn calls_that_wait_for_their_client_leave_room_for_others() {
    let mut catalog = catalog();
    catalog
        .register(tool("now"), async |_: ToolContext, _: Value| "now")
        .unwrap();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        max_calls: 1,
        ..ServerLimits::default()
    });
    let modern = connect(&server, modern(), Person::new(Some(json!({}))).0).await;
    let mut states = Vec::new();
    for _ in 0..3 {
        states.push(begin(&modern, write_to("a.txt")).await.0);
    }
    let mut legacy = Raw::connect(&server).await;
    for id in 0..3 {
        let params = json!({"name": "write", "arguments": {"path": "a.txt"}});
        legacy
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
        let asked = legacy.next().await;
        assert_eq!(asked["method"], "elicitation/create");
        states.push(asked["id"].to_string());
    }
    assert_eq!(
        text_of(&call(&modern.client, "now", json!({})).await.unwrap()).0,
        "now"
    );

    // Each goes on when it is answered.
    for id in states.split_off(3) {
        let id: Value = serde_json::from_str(&id).unwrap();
        let result = json!({"action": "accept", "content": {"allow": true}});
        legacy
            .send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
        assert_eq!(
            legacy.next().await["result"]["content"][0]["text"],
            "written"
        );
    }
    for state in states {
        let yes = [(
            "request-1".to_owned(),
            json!({"action": "accept", "content": {"allow": true}}),
        )]
        .into();
        let params = write_to("a.txt")
            .with_input_responses(yes)
            .with_request_state(state);
        let Ok(CallToolResponse::Complete(result)) = modern.client.call_tool_once(params).await
        else {
            panic!()
        };
        assert_eq!(text_of(&result).0, "written");
    }
}

#[tokio::test]
async fn an_answered_call_that_goes_on_takes_room_again() {
    let mut catalog = Catalog::new();
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begun, end) = (started.clone(), release.clone());
    let ask = move |cx: ToolContext, _: Value| {
        let (begun, end) = (begun.clone(), end.clone());
        async move {
            let _ = cx
                .service::<Peer>()
                .unwrap()
                .request(&cx, PeerRequest::new("elicitation/create", elicitation()))
                .await;
            begun.notify_one();
            end.notified().await;
            "done"
        }
    };
    catalog.register(tool("ask"), ask).unwrap();
    catalog
        .register(tool("now"), async |_: ToolContext, _: Value| "now")
        .unwrap();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        max_calls: 1,
        ..ServerLimits::default()
    });
    let mut asking = Raw::connect(&server).await;
    asking
        .send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}),
        )
        .await;
    let id = asking.next().await["id"].clone();
    asking
        .send(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}}))
        .await;
    started.notified().await;
    let other = connect(&server, modern(), Person::silent()).await;
    let (text, is_error) = text_of(&call(&other.client, "now", json!({})).await.unwrap());
    assert!(is_error && text.contains("too many calls"), "{text}");
    release.notify_one();
    assert_eq!(asking.next().await["result"]["content"][0]["text"], "done");
    assert_eq!(
        text_of(&call(&other.client, "now", json!({})).await.unwrap()).0,
        "now"
    );
}

#[tokio::test]
async fn the_calls_that_wait_for_their_client_are_limited() {
    let server = server(catalog(), Host::new());
    let connected = connect(&server, modern(), Person::new(Some(json!({}))).0).await;
    for number in 0..ToolServer::MAX_WAITING {
        begin(&connected, write_to(&format!("{number}.txt"))).await;
    }
    let result = connected
        .client
        .call_tool_once(write_to("b.txt"))
        .await
        .unwrap();
    let CallToolResponse::Complete(result) = result else {
        panic!("{result:?}")
    };
    assert_eq!(result.is_error, Some(true));
    let mut legacy = Raw::connect(&server).await;
    let params = json!({"name": "write", "arguments": {"path": "a.txt"}});
    legacy
        .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        .await;
    assert_eq!(legacy.next().await["result"]["isError"], true);
}

fn elicitation() -> Value {
    json!({"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}})
}

#[tokio::test]
async fn an_approval_that_nobody_was_asked_for_has_no_effect() {
    let server = server(catalog(), Host::new());
    let connected = connect(&server, modern(), Person::new(Some(json!({}))).0).await;
    let yes = [(
        "request-1".to_owned(),
        json!({"action": "accept", "content": {"allow": true}}),
    )]
    .into();
    begin(&connected, write_to("a.txt").with_input_responses(yes)).await;
}

#[tokio::test]
async fn a_retry_without_all_answers_is_asked_again() {
    let mut catalog = Catalog::new();
    let both = async |cx: ToolContext, _: Value| {
        let ask = |key: &str| {
            let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
            let params = json!({"message": key, "requestedSchema": schema});
            PeerRequest::new("elicitation/create", params).with_key(key)
        };
        let answers = cx
            .service::<Peer>()
            .unwrap()
            .request_all(&cx, [ask("one"), ask("two")])
            .await
            .unwrap();
        format!(
            "{} {}",
            answers[0]["content"]["n"], answers[1]["content"]["n"]
        )
    };
    catalog.register(tool("both"), both).unwrap();
    let server = server(catalog, Host::new());
    let connected = connect(&server, modern(), Person::new(Some(json!({}))).0).await;
    let answer = |key: &str, n: i32| {
        (
            key.to_owned(),
            json!({"action": "accept", "content": {"n": n}}),
        )
    };
    let params = || CallToolRequestParams::new("both");
    let (state, keys) = begin(&connected, params()).await;
    assert_eq!(keys, ["one", "two"]);
    let some = [
        answer("one", 1),
        ("two".to_owned(), json!(2)),
        answer("three", 3),
    ]
    .into();
    let (next, keys) = begin(
        &connected,
        params()
            .with_request_state(state)
            .with_input_responses(some),
    )
    .await;
    assert_eq!(keys, ["two"]);
    let rest = params()
        .with_request_state(next)
        .with_input_responses([answer("two", 2)].into());
    let Ok(CallToolResponse::Complete(result)) = connected.client.call_tool_once(rest).await else {
        panic!()
    };
    assert_eq!(text_of(&result).0, "1 2");

    // Answers to requests that a tool names may come with the call.
    let early = params().with_input_responses([answer("one", 3), answer("two", 4)].into());
    let Ok(CallToolResponse::Complete(result)) = connected.client.call_tool_once(early).await
    else {
        panic!()
    };
    assert_eq!(text_of(&result).0, "3 4");
}

/// The time limit of a call, and that of a person, who takes longer.
const LIMIT: Duration = Duration::from_secs(2);
const WAIT: Duration = Duration::from_secs(60);

/// Returns a catalog with a tool that asks the client itself, and then works for a time in seconds.
fn eliciting() -> Catalog {
    let mut catalog = catalog();
    let ask = async |cx: ToolContext, arguments: Value| {
        let params =
            json!({"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}});
        let answer = cx
            .service::<Peer>()
            .unwrap()
            .request(&cx, PeerRequest::new("elicitation/create", params))
            .await;
        sleep(Duration::from_secs(
            arguments["work"].as_u64().unwrap_or_default(),
        ))
        .await;
        answer
            .map(|answer| answer["action"].to_string())
            .map_err(|error| ToolError::execution_failed(error.to_string()))
    };
    catalog.register(tool("elicit"), ask).unwrap();
    catalog
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_person_does_not_count_against_the_call() {
    let server = server(eliciting(), Host::new().with_timeout(LIMIT));
    for mode in BOTH {
        for (name, arguments, given, expected) in [
            (
                "write",
                json!({"path": "a.txt"}),
                json!({"allow": true}),
                "written",
            ),
            (
                "ask",
                json!({}),
                json!({"answer": "blue"}),
                "Choice(\"blue\")",
            ),
            ("elicit", json!({"work": 1}), json!({}), "\"accept\""),
            (
                "elicit",
                json!({"work": 3}),
                json!({}),
                "took longer than 2s",
            ),
        ] {
            let person = Person {
                delay: WAIT,
                ..Person::new(Some(given)).0
            };
            let connected = connect(&server, mode.clone(), person).await;
            let (text, _) = text_of(&call(&connected.client, name, arguments).await.unwrap());
            assert!(text.contains(expected), "{name}: {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_person_never_answers_ends_at_its_own_limit() {
    let server = server(
        eliciting(),
        Host::new().with_timeout(LIMIT).with_approval_timeout(WAIT),
    );
    for (mode, delay) in [
        (legacy(), WAIT * 2),
        (modern(), WAIT * 2),
        (modern(), WAIT * 10),
    ] {
        let person = Person {
            delay,
            ..Person::new(Some(json!({}))).0
        };
        let connected = connect(&server, mode, person).await;
        let (text, is_error) =
            text_of(&call(&connected.client, "elicit", json!({})).await.unwrap());
        assert!(
            is_error && text.contains("not answered within 60s"),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_may_take_as_long_as_the_host_permits() {
    let server = server(
        eliciting(),
        Host::new()
            .with_timeout(LIMIT)
            .with_approval_timeout(WAIT * 60),
    );
    for mode in BOTH {
        let person = Person {
            delay: WAIT * 30,
            ..Person::new(Some(json!({}))).0
        };
        let connected = connect(&server, mode, person).await;
        let result = call(&connected.client, "elicit", json!({})).await.unwrap();
        assert_eq!(text_of(&result), ("\"accept\"".to_owned(), false));
    }
}
