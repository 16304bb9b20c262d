//! Calls that go on as tasks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, DetailedTask, GetTaskParams, Task,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tools::{Catalog, Host, Progress, ToolContext, ToolError};
use tools_mcp::server::{HttpOptions, Peer, PeerRequest, ServerLimits, ToolServer};

use crate::server_call::waiting;
use crate::server_client::{BOTH, Person, call, connect, modern, server, text_of, tool, versions};
use crate::server_http::listen;

pub(crate) type Client = RunningService<RoleClient, Person>;

/// Connects a client over HTTP.
async fn over_http(address: SocketAddr, token: Option<&str>) -> Client {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("http://{address}/mcp"));
    config.auth_header = token.map(str::to_owned);
    let transport = StreamableHttpClientTransport::from_config(config);
    Person::with_tasks()
        .serve_with_lifecycle(transport, versions(modern()))
        .await
        .unwrap()
}

/// Connects a client over streams and one over HTTP.
pub(crate) async fn clients(server: &ToolServer) -> [Client; 2] {
    let (address, ..) = listen(server, HttpOptions::new()).await;
    [
        connect(server, modern(), Person::with_tasks()).await.client,
        over_http(address, None).await,
    ]
}

/// Calls a tool that becomes a task.
pub(crate) async fn begin(client: &Client, name: &'static str) -> Task {
    match client
        .call_tool_once(CallToolRequestParams::new(name))
        .await
        .unwrap()
    {
        CallToolResponse::Task(created) => created.task,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn get(client: &Client, task: &Task) -> Result<DetailedTask, ServiceError> {
    client
        .get_task(GetTaskParams::new(&task.task_id))
        .await
        .map(|result| result.task)
}

/// Waits until a task has another status than `working`, and than those given.
pub(crate) async fn past(client: &Client, task: &Task, others: &[TaskStatus]) -> DetailedTask {
    loop {
        let task = get(client, task).await.unwrap();
        if task.status() != TaskStatus::Working && !others.contains(&task.status()) {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the text of a completed task, and true if it is an error.
pub(crate) fn completed(task: DetailedTask) -> (String, bool) {
    let TaskPayload::Completed { result } = task.payload else {
        panic!("{task:?}")
    };
    text_of(&serde_json::from_value(Value::Object(result)).unwrap())
}

fn is_unknown<T>(result: Result<T, ServiceError>) -> bool {
    result.is_err_and(|error| error.to_string().contains("-32602"))
}

/// Returns a catalog whose tool `gate` reports its progress, and ends with each permit of the semaphore.
fn gate() -> (Catalog, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let gate = permits.clone();
    let mut catalog = Catalog::new();
    let wait = move |cx: ToolContext, _: Value| {
        let gate = gate.clone();
        async move {
            cx.report(Progress::message("at the gate"));
            gate.acquire().await.unwrap().forget();
            "through"
        }
    };
    catalog.register(tool("gate"), wait).unwrap();
    (catalog, permits)
}

/// Returns the client of a call whose client takes tasks, after the call became one.
pub(crate) async fn task_peer(cx: &ToolContext) -> Result<Arc<Peer>, ToolError> {
    let peer = cx.service::<Peer>().unwrap();
    peer.continue_as_task()
        .await
        .map_err(|error| ToolError::execution_failed(error.to_string()))?;
    Ok(peer)
}

#[tokio::test]
async fn a_call_that_takes_long_goes_on_as_a_task() {
    let (catalog, permits) = gate();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::from_millis(250),
        ..ServerLimits::default()
    });
    for client in clients(&server).await {
        let task = begin(&client, "gate").await;
        assert_eq!(
            (task.status, task.ttl_ms),
            (TaskStatus::Working, Some(3_600_000))
        );
        assert_eq!(task.status_message.as_deref(), Some("at the gate"));
        assert_eq!(
            get(&client, &task).await.unwrap().status(),
            TaskStatus::Working
        );
        permits.add_permits(1);
        assert_eq!(
            completed(past(&client, &task, &[]).await),
            ("through".to_owned(), false)
        );
        // A call that ends in time is answered at once.
        permits.add_permits(1);
        let quick = client
            .call_tool_once(CallToolRequestParams::new("gate"))
            .await
            .unwrap();
        assert!(matches!(quick, CallToolResponse::Complete(_)), "{quick:?}");
    }
}

#[tokio::test]
async fn an_error_of_the_tool_completes_a_task_and_one_of_the_protocol_fails_it() {
    let mut catalog = Catalog::new();
    let full = async |cx: ToolContext, _: Value| {
        task_peer(&cx).await?;
        Err::<String, _>(ToolError::execution_failed("the disk is full"))
    };
    catalog.register(tool("full"), full).unwrap();
    let roots = async |cx: ToolContext, _: Value| {
        let roots = task_peer(&cx)
            .await?
            .request(&cx, PeerRequest::new("roots/list", json!({})))
            .await;
        roots
            .map(|roots| roots.to_string())
            .map_err(|error| ToolError::execution_failed(error.to_string()))
    };
    catalog.register(tool("roots"), roots).unwrap();
    for client in clients(&server(catalog, Host::new())).await {
        let (text, is_error) = completed(past(&client, &begin(&client, "full").await, &[]).await);
        assert!(is_error && text.contains("the disk is full"), "{text}");
        let failed = past(&client, &begin(&client, "roots").await, &[]).await;
        let TaskPayload::Failed { error } = failed.payload else {
            panic!("{failed:?}")
        };
        assert_eq!(
            (&error["code"], &error["data"]),
            (
                &json!(-32021),
                &json!({"requiredCapabilities": {"roots": {}}})
            )
        );
    }
}

#[tokio::test]
async fn a_client_cancels_a_task() {
    let (catalog, started, ended) = waiting();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        ..ServerLimits::default()
    });
    for client in clients(&server).await {
        let task = begin(&client, "wait").await;
        started.notified().await;
        let cancel = async || {
            client
                .cancel_task(CancelTaskParams::new(&task.task_id))
                .await
        };
        cancel().await.unwrap();
        ended.notified().await;
        assert_eq!(
            past(&client, &task, &[]).await.status(),
            TaskStatus::Cancelled
        );
        cancel().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_task_is_cancelled_and_forgotten() {
    let (catalog, started, ended) = waiting();
    // Shorter than the time limit of a call.
    let ttl = Duration::from_secs(20);
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_ttl: ttl,
        ..ServerLimits::default()
    });
    let client = connect(&server, modern(), Person::with_tasks())
        .await
        .client;
    let task = begin(&client, "wait").await;
    started.notified().await;
    assert_eq!(
        get(&client, &task).await.unwrap().status(),
        TaskStatus::Working
    );
    tokio::time::sleep(ttl).await;
    ended.notified().await;
    let expired = past(&client, &task, &[]).await;
    assert_eq!(expired.status(), TaskStatus::Failed, "{expired:?}");
    assert!(expired.task.ttl_ms > task.ttl_ms, "{expired:?}");
    tokio::time::sleep(ttl).await;
    assert!(is_unknown(get(&client, &task).await));
}

#[tokio::test]
async fn an_unknown_id_is_an_error_of_the_protocol() {
    let (catalog, ..) = waiting();
    for client in clients(&server(catalog, Host::new())).await {
        assert!(is_unknown(client.get_task(GetTaskParams::new("a")).await));
        assert!(is_unknown(
            client
                .update_task(UpdateTaskParams::new("a", [].into()))
                .await
        ));
        assert!(is_unknown(
            client.cancel_task(CancelTaskParams::new("a")).await
        ));
    }
}

#[tokio::test]
async fn a_client_without_tasks_waits_for_the_result() {
    let (mut catalog, permits) = gate();
    let needy = async |cx: ToolContext, _: Value| task_peer(&cx).await.map(|_| "never");
    catalog.register(tool("needy"), needy).unwrap();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        ..ServerLimits::default()
    });
    // A client of an older revision cannot read a task, even if it says that it takes them.
    let [legacy, modern] = BOTH;
    for (mode, person) in [
        (legacy.clone(), Person::silent()),
        (legacy, Person::with_tasks()),
    ] {
        let connected = connect(&server, mode, person).await;
        let (result, ()) = tokio::join!(call(&connected.client, "gate", json!({})), async {
            tokio::task::yield_now().await;
            permits.add_permits(1);
        });
        assert_eq!(text_of(&result.unwrap()).0, "through");
        let (text, is_error) = text_of(&call(&connected.client, "needy", json!({})).await.unwrap());
        assert!(
            is_error && text.contains("io.modelcontextprotocol/tasks"),
            "{text}"
        );
    }
    let connected = connect(&server, modern, Person::silent()).await;
    let (result, ()) = tokio::join!(call(&connected.client, "gate", json!({})), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        permits.add_permits(1);
    });
    assert_eq!(text_of(&result.unwrap()).0, "through");
    let Err(ServiceError::McpError(error)) = call(&connected.client, "needy", json!({})).await
    else {
        panic!()
    };
    let required =
        json!({"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    assert_eq!((error.code.0, error.data), (-32021, Some(required)));
    let error = connected
        .client
        .get_task(GetTaskParams::new("a"))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("-32021"), "{error}");
}

#[tokio::test]
async fn a_task_is_unknown_to_those_with_another_token() {
    let (catalog, permits) = gate();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        ..ServerLimits::default()
    });
    let tokens = ["0123456789abcdef", "fedcba9876543210"];
    let mut clients = Vec::new();
    for token in tokens {
        let (address, ..) = listen(&server, HttpOptions::new().with_token(token).unwrap()).await;
        clients.push(over_http(address, Some(token)).await);
    }
    let task = begin(&clients[0], "gate").await;
    assert!(is_unknown(get(&clients[1], &task).await));
    assert!(is_unknown(
        clients[1]
            .cancel_task(CancelTaskParams::new(&task.task_id))
            .await
    ));
    permits.add_permits(1);
    assert_eq!(completed(past(&clients[0], &task, &[]).await).0, "through");
}

#[tokio::test]
async fn calls_beyond_the_number_of_tasks_are_waited_for() {
    let (catalog, permits) = gate();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        max_tasks: 1,
        ..ServerLimits::default()
    });
    for client in clients(&server).await {
        let task = begin(&client, "gate").await;
        let (result, ()) = tokio::join!(call(&client, "gate", json!({})), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            permits.add_permits(2);
        });
        assert_eq!(text_of(&result.unwrap()).0, "through");
        assert_eq!(completed(past(&client, &task, &[]).await).0, "through");
    }
}

#[tokio::test]
async fn a_client_comes_back_for_its_task() {
    let (catalog, permits) = gate();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        ..ServerLimits::default()
    });
    let (address, ..) = listen(&server, HttpOptions::new()).await;
    let client = over_http(address, None).await;
    let task = begin(&client, "gate").await;
    client.cancel().await.unwrap();
    let client = over_http(address, None).await;
    permits.add_permits(1);
    assert_eq!(completed(past(&client, &task, &[]).await).0, "through");
}

#[tokio::test]
async fn a_shutdown_cancels_tasks_at_once() {
    let (mut catalog, started, ended) = waiting();
    let (busy, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (busy.clone(), done.clone());
    let work = move |_: ToolContext, _: Value| {
        let (busy, done) = signals.clone();
        async move {
            busy.notify_one();
            done.notified().await;
            "done"
        }
    };
    catalog.register(tool("work"), work).unwrap();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        task_after: Duration::ZERO,
        max_tasks: 1,
        ..ServerLimits::default()
    });
    let connected = connect(&server, modern(), Person::with_tasks()).await;
    begin(&connected.client, "wait").await;
    started.notified().await;
    connected.shutdown.cancel();
    ended.notified().await;
    connected.serving.await.unwrap().unwrap();

    let mut options = HttpOptions::new();
    options.shutdown_grace = Duration::from_secs(3600);
    let (address, serving, shutdown) = listen(&server, options).await;
    let client = over_http(address, None).await;
    begin(&client, "wait").await;
    started.notified().await;
    // A call that is no task may end.
    let (result, ()) = tokio::join!(call(&client, "work", json!({})), async {
        busy.notified().await;
        shutdown.cancel();
        ended.notified().await;
        done.notify_one();
    });
    assert_eq!(text_of(&result.unwrap()).0, "done");
    serving.await.unwrap().unwrap();
}
