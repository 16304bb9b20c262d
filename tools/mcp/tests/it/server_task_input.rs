//! Tasks that ask their client.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DetailedTask, Task, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use serde_json::{Value, json};
use tools::{Catalog, Host, ToolContext, ToolError};
use tools_mcp::server::{Peer, PeerError, PeerRequest, ServerLimits};

use crate::server_client::{server, tool};
use crate::server_tasks::{Client, begin, clients, completed, get, past, task_peer};

async fn answer(client: &Client, task: &Task, key: &str, answer: Value) {
    let answers = [(key.to_owned(), answer)].into();
    client
        .update_task(UpdateTaskParams::new(&task.task_id, answers))
        .await
        .unwrap();
}

fn keys(task: &DetailedTask) -> Vec<&str> {
    let TaskPayload::InputRequired { input_requests } = &task.payload else {
        panic!("{task:?}")
    };
    input_requests.keys().map(String::as_str).collect()
}

fn elicit(key: &str) -> PeerRequest {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    PeerRequest::new(
        "elicitation/create",
        json!({"message": key, "requestedSchema": schema}),
    )
    .with_key(key)
}

#[tokio::test]
async fn a_task_requires_input_until_all_is_answered() {
    let mut catalog = Catalog::new();
    let asking = async |cx: ToolContext, _: Value| {
        let peer = task_peer(&cx).await?;
        let failed = |error: PeerError| ToolError::execution_failed(error.to_string());
        let first = peer
            .request_all(&cx, [elicit("a"), elicit("b")])
            .await
            .map_err(failed)?;
        let again = peer.request(&cx, elicit("a")).await.map_err(failed)?;
        Ok::<_, ToolError>(format!(
            "{} {} {}",
            first[0]["content"], first[1]["content"], again["content"]
        ))
    };
    catalog.register(tool("ask"), asking).unwrap();
    let number = |n: i32| json!({"action": "accept", "content": {"n": n}});
    for client in clients(&server(catalog, Host::new())).await {
        let task = begin(&client, "ask").await;
        while keys(&past(&client, &task, &[]).await) != ["a", "b"] {
            tokio::task::yield_now().await;
        }
        for (key, wrong) in [("c", number(0)), ("b", json!("no elicitation"))] {
            answer(&client, &task, key, wrong).await;
        }
        answer(&client, &task, "a", number(1)).await;
        assert_eq!(keys(&get(&client, &task).await.unwrap()), ["b"]);
        answer(&client, &task, "b", number(2)).await;
        // A key is never used again, because the client may take the request for one that it has answered.
        assert_eq!(keys(&past(&client, &task, &[]).await), ["a-2"]);
        answer(&client, &task, "a-2", number(3)).await;
        let (text, _) = completed(past(&client, &task, &[TaskStatus::InputRequired]).await);
        assert_eq!(text, r#"{"n":1} {"n":2} {"n":3}"#);
    }
}

#[tokio::test]
async fn a_call_asks_with_its_answer_before_it_is_a_task_and_with_its_status_afterwards() {
    let mut catalog = Catalog::new();
    let asking = async |cx: ToolContext, _: Value| {
        let failed = |error: PeerError| ToolError::execution_failed(error.to_string());
        let before = cx
            .service::<Peer>()
            .unwrap()
            .request(&cx, elicit("before"))
            .await
            .map_err(failed)?;
        let after = task_peer(&cx)
            .await?
            .request(&cx, elicit("after"))
            .await
            .map_err(failed)?;
        Ok::<_, ToolError>(format!("{} {}", before["content"], after["content"]))
    };
    catalog.register(tool("ask"), asking).unwrap();
    let number = |n: i32| json!({"action": "accept", "content": {"n": n}});
    for client in clients(&server(catalog, Host::new())).await {
        let params = CallToolRequestParams::new("ask");
        let first = client.call_tool_once(params.clone()).await.unwrap();
        let CallToolResponse::InputRequired(required) = first else {
            panic!("{first:?}")
        };
        let params = params.with_request_state(required.request_state.unwrap());
        let params = params.with_input_responses([("before".to_owned(), number(1))].into());
        let second = client.call_tool_once(params).await.unwrap();
        let CallToolResponse::Task(created) = second else {
            panic!("{second:?}")
        };
        assert_eq!(keys(&past(&client, &created.task, &[]).await), ["after"]);
        answer(&client, &created.task, "after", number(2)).await;
        let (text, _) = completed(past(&client, &created.task, &[TaskStatus::InputRequired]).await);
        assert_eq!(text, r#"{"n":1} {"n":2}"#);
    }
}

#[tokio::test]
async fn a_person_approves_what_a_task_does() {
    let effects = serde_json::from_value(json!({"writes": ["fs:a.txt"]})).unwrap();
    let write = tools::Tool::new("write", "Writes.", json!({"type": "object"}))
        .unwrap()
        .with_effects(effects);
    let mut catalog = Catalog::new();
    catalog
        .register(write, async |_: ToolContext, _: Value| "written")
        .unwrap();
    let outer = async |cx: ToolContext, _: Value| {
        task_peer(&cx).await?;
        Ok::<_, ToolError>(cx.execute("write", json!({})).await?.to_text())
    };
    catalog.register(tool("outer"), outer).unwrap();
    for client in clients(&server(catalog, Host::new())).await {
        for (is_allowed, expected) in [(true, "written"), (false, "denied")] {
            let task = begin(&client, "outer").await;
            let asked = past(&client, &task, &[]).await;
            let content = json!({"action": "accept", "content": {"allow": is_allowed}});
            answer(&client, &task, keys(&asked)[0], content).await;
            let (text, is_error) =
                completed(past(&client, &task, &[TaskStatus::InputRequired]).await);
            assert!(text.contains(expected) && is_error != is_allowed, "{text}");
        }
    }
}

#[tokio::test]
async fn a_task_that_requires_input_leaves_room_for_other_calls() {
    let mut catalog = Catalog::new();
    let asking = async |cx: ToolContext, _: Value| {
        let failed = |error: PeerError| ToolError::execution_failed(error.to_string());
        let answer = task_peer(&cx)
            .await?
            .request(&cx, elicit("a"))
            .await
            .map_err(failed)?;
        Ok::<_, ToolError>(answer["content"].to_string())
    };
    catalog.register(tool("ask"), asking).unwrap();
    catalog
        .register(tool("now"), async |_: ToolContext, _: Value| "now")
        .unwrap();
    for client in clients(&server(catalog, Host::new()).with_limits(ServerLimits {
        max_calls: 1,
        ..ServerLimits::default()
    }))
    .await
    {
        let task = begin(&client, "ask").await;
        assert_eq!(keys(&past(&client, &task, &[]).await), ["a"]);
        let result = client
            .call_tool_once(CallToolRequestParams::new("now"))
            .await
            .unwrap();
        let CallToolResponse::Complete(result) = result else {
            panic!("{result:?}")
        };
        assert_eq!(
            crate::server_client::text_of(&result),
            ("now".to_owned(), false)
        );
        answer(
            &client,
            &task,
            "a",
            json!({"action": "accept", "content": {"n": 1}}),
        )
        .await;
        let (text, _) = completed(past(&client, &task, &[TaskStatus::InputRequired]).await);
        assert_eq!(text, r#"{"n":1}"#);
    }
}
