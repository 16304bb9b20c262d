//! `serve`: real clients of MCP, in both generations, over stdio and HTTP.

use std::process::Stdio;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::Crib;

pub(crate) fn modes() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }]
}

/// A client whose person gives this answer, or has no elicitation.
#[derive(Clone)]
struct Person(Option<bool>);

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.0 {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"allow": self.0 == Some(true)})))
    }
}

impl Crib {
    /// Returns the command of `serve` below the root.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Command {
        let mut command = Command::from(self.command(&["serve"]));
        command.arg("--root").arg(self.root()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Starts `serve` over HTTP. Returns the program and its URL.
    pub(crate) async fn serve_http(&self, arguments: &[&str]) -> (Child, String) {
        let mut child = self.serve(&["--http", "127.0.0.1:0"]).args(arguments).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut others = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            others += &line;
            if let Some((_, url)) = line.split_once(" at http://") {
                return (child, format!("http://{url}"));
            }
        }
        panic!("the program ended: {others}");
    }
}

async fn over_stdio(
    child: &mut Child,
    person: Person,
    mode: ClientLifecycleMode,
) -> RunningService<RoleClient, Person> {
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    person.serve_with_lifecycle(streams, mode).await.unwrap()
}

async fn over_http(url: &str, person: Person, mode: ClientLifecycleMode) -> RunningService<RoleClient, Person> {
    person.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), mode).await.unwrap()
}

async fn call(client: &RunningService<RoleClient, Person>, name: &str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)).await.unwrap()
}

fn text_of(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| Some(block.as_text()?.text.clone())).collect()
}

/// Makes the calls that a client with this person makes, and checks what became of them.
async fn check(client: &RunningService<RoleClient, Person>, crib: &Crib, person: &Person) {
    let names: Vec<_> = client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
    assert!(names.iter().all(|name| name.starts_with("fs.")) && names.contains(&"fs.read".to_owned()), "{names:?}");
    let read = call(client, "fs.read", json!({"path": "README.md"})).await;
    assert!(text_of(&read).contains("# Hello"), "{read:?}");
    let file = crib.root().join("new.txt");
    let _ = std::fs::remove_file(&file);
    let written = call(client, "fs.write", json!({"path": "new.txt", "content": "new"})).await;
    assert_eq!(file.exists(), person.0 == Some(true), "{written:?}");
    assert_eq!(written.is_error == Some(true), person.0 != Some(true), "{written:?}");
}

#[tokio::test]
async fn a_client_over_stdio_calls_tools_and_approves() {
    let crib = Crib::new();
    for mode in modes() {
        for answer in [Some(true), Some(false), None] {
            let mut child = crib.serve(&["--select", "fs.*"]).spawn().unwrap();
            let person = Person(answer);
            let client = over_stdio(&mut child, person.clone(), mode.clone()).await;
            check(&client, &crib, &person).await;
            client.cancel().await.unwrap();
            // Standard input has ended.
            assert!(child.wait().await.unwrap().success());
        }
    }
}

#[tokio::test]
async fn clients_over_http_call_tools_and_approve() {
    let crib = Crib::new();
    let (mut child, url) = crib.serve_http(&["--select", "fs.*"]).await;
    for mode in modes() {
        for answer in [Some(true), Some(false), None] {
            let person = Person(answer);
            check(&over_http(&url, person.clone(), mode.clone()).await, &crib, &person).await;
        }
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_grant_allows_calls_without_a_person() {
    let crib = Crib::new();
    let mut child = crib.serve(&["--grant", "fs:write:*.txt"]).spawn().unwrap();
    let [legacy, _] = modes();
    let client = over_stdio(&mut child, Person(None), legacy).await;
    let tools = client.list_all_tools().await.unwrap();
    assert!(!tools.iter().any(|tool| tool.name == "agent.spawn"), "there is no model that a sub-agent could have");
    let written = call(&client, "fs.write", json!({"path": "new.txt", "content": "new"})).await;
    assert_ne!(written.is_error, Some(true), "{written:?}");
}

#[cfg(feature = "journal")]
#[tokio::test]
async fn calls_are_in_the_journal() {
    let crib = Crib::new();
    let journal = crib.write("journal.db", "");
    std::fs::remove_file(&journal).unwrap();
    let mut child = crib.serve(&["--journal", &journal]).spawn().unwrap();
    let [legacy, _] = modes();
    let client = over_stdio(&mut child, Person(None), legacy).await;
    call(&client, "fs.read", json!({"path": "README.md"})).await;
    call(&client, "fs.write", json!({"path": "new.txt", "content": "new"})).await;
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());
    let shown = crib.run(&["audit", "show", &journal, "--json"]).expect(0).stdout;
    assert!(shown.contains("fs.read") && shown.contains("fs.write"), "{shown}");
    crib.run(&["audit", "verify", &journal]).expect(0);
}

/// Sends one HTTP request and returns the status line.
async fn status(address: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    // The server may refuse a large body before its end.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";

fn initialize() -> Vec<u8> {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string().into_bytes()
}

#[tokio::test]
async fn hostile_hosts_and_origins_are_refused() {
    let crib = Crib::new();
    let (mut child, url) = crib.serve_http(&[]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let port = address.rsplit(':').next().unwrap();
    let good_hosts = [address.to_owned(), format!("localhost:{port}"), format!("[::1]:{port}"), "localhost".to_owned()];
    for host in &good_hosts {
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://localhost:{port}\r\n{JSON}");
        assert!(status(address, &head, &initialize()).await.contains("200"), "{host}");
    }
    let hosts = [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "0.0.0.0", "[::]",
        "127.0.0.2", "localhost@evil.example", "10.0.0.1", "xn--lcalhost-n6a",
    ];
    let origins = [
        "http://evil.example", "https://localhost", "http://localhost:1", "null", "file://",
        "http://127.0.0.1.evil.example", "http://evil.example/http://localhost", "chrome-extension://abc",
        "http://localhost.", "data:text/html,x",
    ];
    let mut refused = 0;
    for host in hosts {
        for origin in ["http://localhost", "", "http://evil.example", "null", "http://127.0.0.1"] {
            let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}{JSON}");
            let answer = status(address, &head, &initialize()).await;
            assert!(answer.contains("403") || answer.contains("400"), "{host} {origin}: {answer}");
            refused += 1;
        }
    }
    for origin in origins {
        for host in good_hosts.iter().chain([&format!("127.0.0.1:{}", 1)]) {
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n{JSON}");
            let answer = status(address, &head, &initialize()).await;
            assert!(answer.contains("403"), "{host} {origin}: {answer}");
            refused += 1;
        }
    }
    let own = format!("http://localhost:{port}");
    for head in [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: localhost".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: evil.example@localhost".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost/evil".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost:".to_owned(),
        "POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost".to_owned(),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {own}\r\nOrigin: http://evil.example"),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nOrigin: {own}"),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example@localhost:{port}"),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {own}/evil"),
    ] {
        let answer = status(address, &format!("{head}\r\n{JSON}"), &initialize()).await;
        assert!(answer.contains("403") || answer.contains("400"), "{head}: {answer}");
        refused += 1;
    }
    assert_eq!(refused, 110);
    assert!(status(address, "GET /healthz HTTP/1.1\r\nHost: localhost", b"").await.contains("200"));
    child.kill().await.unwrap();
}

#[tokio::test]
async fn an_address_that_others_reach_requires_a_token() {
    let crib = Crib::new();
    let ended = crib.serve(&["--http", "0.0.0.0:0"]).output().await.unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("a bearer token is required"));

    let short = crib.write_private("short", "0123456789abcde\n");
    let ended = crib.serve(&["--http", "127.0.0.1:0", "--token-file", &short]).output().await.unwrap();
    assert_eq!(ended.status.code(), Some(2));

    #[cfg(unix)]
    {
        let readable = crib.write("readable", "0123456789abcdef\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
        std::fs::set_permissions(&readable, mode).unwrap();
        let ended = crib.serve(&["--http", "127.0.0.1:0", "--token-file", &readable]).output().await.unwrap();
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(2) && error.contains("other users have access to it"), "{error}");
    }

    let token = crib.write_private("token", "0123456789abcdef\n");
    let (mut child, url) = crib.serve_http(&["--token-file", &token]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    for (authorization, expected) in [
        ("", "401"),
        ("Authorization: Bearer 0123456789abcdeg\r\n", "401"),
        ("Authorization: Bearer 0123456789abcdef0\r\n", "401"),
        ("Authorization: Basic 0123456789abcdef\r\n", "401"),
        ("Authorization: Bearer 0123456789abcdef\r\nAuthorization: Bearer 0123456789abcdef\r\n", "401"),
        ("Authorization: Bearer 0123456789abcdef\r\n", "200"),
    ] {
        let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{authorization}{JSON}");
        assert!(status(address, &head, &initialize()).await.contains(expected), "{authorization}");
    }
    assert!(status(address, "GET /healthz HTTP/1.1\r\nHost: localhost", b"").await.contains("200"));
    child.kill().await.unwrap();
}

/// Returns the peak of the resident memory, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id().unwrap())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn huge_messages_are_refused_without_memory() {
    const MOST: u64 = 48 * 1024;
    let crib = Crib::new();
    let deep = ["[".repeat(5_000_000), "]".repeat(5_000_000)].concat();
    let nested = |deep: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"fs.read","arguments":{{"path":{deep}}}}}}}"#
        )
    };
    let huge = nested(&format!("\"{}\"", "a".repeat(64 * 1024 * 1024)));
    // Deep, and short enough to be read.
    let shallow = nested(&["[".repeat(1_000_000), "]".repeat(1_000_000)].concat());

    let (mut child, url) = crib.serve_http(&[]).await;
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}");
    assert!(status(address, &head, &initialize()).await.contains("200"));
    let before = peak_memory(&child);
    for body in [&huge, &nested(&deep), &shallow] {
        let answer = status(address, &head, body.as_bytes()).await;
        // A connection that ends before the whole body was sent may lose the answer.
        assert!(answer.is_empty() || answer.contains(" 4"), "{answer}");
    }
    assert!(status(address, &head, &initialize()).await.contains("200"));
    assert!(peak_memory(&child) - before < MOST, "{} KiB", peak_memory(&child) - before);
    child.kill().await.unwrap();

    let mut child = crib.serve(&[]).spawn().unwrap();
    let (mut input, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    input.write_all(&initialize()).await.unwrap();
    input.write_all(b"\n").await.unwrap();
    assert!(lines.next_line().await.unwrap().unwrap().contains("\"result\""));
    let before = peak_memory(&child);
    for line in [&huge, &nested(&deep), &shallow] {
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }
    for _ in 0..2 {
        let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    }
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n").await.unwrap();
    assert!(lines.next_line().await.unwrap().unwrap().contains("\"id\":8"));
    assert!(peak_memory(&child) - before < MOST, "{} KiB", peak_memory(&child) - before);
    drop(input);
    assert!(child.wait().await.unwrap().success());
}

#[cfg(all(unix, feature = "journal"))]
#[tokio::test]
async fn a_termination_during_a_call_lets_it_end_and_records_it() {
    let crib = Crib::new();
    let journal = crib.dir.path().join("journal.db").to_str().unwrap().to_owned();
    let (mut child, url) = crib.serve_http(&["--journal", &journal, "--allow", "exec:write:sh **"]).await;
    let [legacy, _] = modes();
    let client = over_http(&url, Person(None), legacy).await;
    let peer = client.peer().clone();
    let started = crib.root().join("started");
    let arguments = json!({"program": "sh", "args": ["-c", "touch started; sleep 1; echo ended"]});
    let Value::Object(arguments) = arguments else { unreachable!() };
    let params = CallToolRequestParams::new("exec.run").with_arguments(arguments);
    let running = tokio::spawn(async move { peer.call_tool(params).await });
    while !started.exists() && !running.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let result = running.await.unwrap().unwrap();
    assert!(text_of(&result).contains("ended"), "{result:?}");
    assert!(child.wait().await.unwrap().success());
    crib.run(&["audit", "verify", &journal]).expect(0);
}
