//! Logins to a server by OAuth, whose authorisation server is on loopback.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tools_http::Url;
use tools_testkit::http::{Received, TestServer};

use crate::collector::Collector;
use crate::mcp::write_user;
use crate::site::{self, Site};
use crate::{Crib, Ended};

const TOOL: &str = "mcp:docs/echo";

/// Starts a server whose tool returns the header `authorization` of its request.
fn start() -> (Runtime, Site) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_io()
        .build()
        .unwrap();
    let site = runtime.block_on(site::start("{origin}/authorize", answer));
    (runtime, site)
}

fn answer(request: &Received) -> Vec<u8> {
    if !request.head.starts_with("POST") {
        return TestServer::head("405 Method Not Allowed", &[]);
    }
    let message: Value = serde_json::from_slice(&request.body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
        }),
        "tools/list" => {
            json!({"tools": [{"name": "echo", "description": "Echoes.", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => {
            json!({"content": [{"type": "text", "text": request.header("authorization")}]})
        }
        _ if message.get("id").is_none() => return TestServer::head("202 Accepted", &[]),
        _ => {
            let error = json!({"code": -32601, "message": "there is no such method"});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return TestServer::ok("application/json", answer.to_string());
        }
    };
    TestServer::ok(
        "application/json",
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string(),
    )
}

fn add(crib: &Crib, site: &Site) {
    crib.run(&["mcp", "add", "docs", "--url", &site.server.url("/mcp")])
        .expect(0);
}

/// Requests a page as a browser does. Returns the head of the answer.
fn browse(url: &Url) -> String {
    let mut stream = TcpStream::connect(url.socket_addrs(|| None).unwrap()[0]).unwrap();
    write!(
        stream,
        "GET {}?{} HTTP/1.1\r\nhost: {}\r\n\r\n",
        url.path(),
        url.query().unwrap_or_default(),
        url.authority()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Runs `mcp login` with a browser that answers with this query, in which `{state}` stands for the state.
fn log_in(crib: &Crib, site: &Site, answer: &str) -> Ended {
    let mut command = crib.command(&["mcp", "login", "docs"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let Some(address) = lines.next() else {
        return child.wait_with_output().unwrap().into();
    };
    let address = Url::parse(&address.unwrap()).unwrap();
    let query: HashMap<_, _> = address.query_pairs().into_owned().collect();
    *site.challenge.lock().unwrap() = query["code_challenge"].clone();
    let mut redirect = Url::parse(&query["redirect_uri"]).unwrap();
    redirect.set_query(Some(&answer.replace("{state}", &query["state"])));
    browse(&redirect);
    child.wait_with_output().unwrap().into()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn a_login_is_used_renewed_and_removed() {
    let (_runtime, site) = start();
    let crib = Crib::new();
    add(&crib, &site);
    let call = ["call", TOOL, "--grant", "world:write:**"];
    for refused in [
        crib.run(&["mcp", "test", "docs"]).expect(10),
        crib.run(&["mcp", "tools", "docs"]).expect(10),
    ] {
        assert!(
            refused
                .stderr
                .replace('\n', " ")
                .contains("requires a login; run toolcrib mcp login docs"),
            "{refused:#?}"
        );
    }
    assert!(
        crib.run(&["list"])
            .expect(0)
            .stderr
            .contains("mcp login docs")
    );

    let ended = log_in(&crib, &site, "code=the-code&state={state}").expect(0);
    assert!(
        ended.stderr.contains("logged in to the MCP server docs"),
        "{ended:#?}"
    );
    let tokens = crib.dir.path().join("state/toolcrib/mcp/tokens");
    let stored = files(&tokens);
    assert!(stored.iter().any(|file| {
        std::fs::read_to_string(file)
            .unwrap()
            .contains("access-token-1")
    }));
    for path in stored
        .iter()
        .map(PathBuf::as_path)
        .chain([&*tokens, &tokens.join("user/docs")])
    {
        assert_eq!(
            std::fs::metadata(path).unwrap().permissions().mode() & 0o077,
            0,
            "{}",
            path.display()
        );
    }
    let tested = crib.run(&["mcp", "test", "docs"]).expect(0);
    assert!(tested.stdout.contains("1 tool"), "{tested:#?}");
    crib.run(&call).expect(0);

    // The server no longer takes the token.
    site.token.lock().unwrap().0 = "another".to_owned();
    crib.run(&call).expect(0);
    assert_eq!(site.token.lock().unwrap().0, "access-token-2");

    assert!(
        crib.run(&["mcp", "logout", "docs"])
            .expect(0)
            .stderr
            .contains("logged out")
    );
    assert!(files(&tokens).is_empty());
    let refused = crib.run(&call).expect(10);
    assert!(
        refused
            .stderr
            .replace('\n', " ")
            .contains("run toolcrib mcp login docs"),
        "{refused:#?}"
    );
    crib.run(&["mcp", "logout", "docs"]).expect(0);
}

#[test]
fn nothing_that_is_shown_or_recorded_has_a_token() {
    let (_runtime, site) = start();
    let crib = Crib::new();
    add(&crib, &site);
    log_in(&crib, &site, "code=the-code&state={state}").expect(0);
    let collector = Collector::new("200 OK");
    let call = format!(r#"{{"calls": [{{"name": "{TOOL}", "arguments": {{}}}}]}}"#);
    let script = crib.script(&[&call, r#"{"text": "finished"}"#]);
    let journal = crib.dir.path().join("calls.journal");
    for output in ["text", "json", "stream-json"] {
        let mut command =
            crib.command(&["run", "x", "--script", &script, "--allow", "world:write:**"]);
        command
            .args(["--output", output, "--journal-arguments", "--journal"])
            .arg(&journal);
        command
            .env("TOOLCRIB_TELEMETRY_ENDPOINT", &collector.url)
            .env("TOOLCRIB_TELEMETRY_CONTENT", "true");
        let ended: Ended = command.stdin(Stdio::null()).output().unwrap().into();
        let ended = ended.expect(0);
        assert!(
            output != "stream-json" || ended.stdout.contains("Bearer [secret:login]"),
            "{ended:#?}"
        );
        assert!(!format!("{ended:?}").contains("access-token"), "{ended:#?}");
    }
    let spans = format!("{:?}", collector.spans());
    assert!(
        spans.contains("[secret:login]") && !spans.contains("access-token"),
        "{spans}"
    );
    crib.run(&["call", TOOL, "--grant", "world:write:**", "--json"])
        .expect(0);
    let state = crib.dir.path().join("state");
    let recorded = files(&state)
        .into_iter()
        .filter(|file| !file.starts_with(state.join("toolcrib/mcp/tokens")));
    let recorded: Vec<_> = recorded.chain([journal]).collect();
    let has = |text: &str| {
        let holds = |file: &PathBuf| {
            std::fs::read(file)
                .unwrap()
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        };
        recorded.iter().filter(|file| holds(file)).count()
    };
    assert!(has("secret:login") > 0);
    for secret in ["access-token", "the-refresh-token"] {
        assert_eq!(has(secret), 0, "{secret}: {recorded:?}");
    }
}

#[test]
fn a_login_with_the_registration_of_the_file_registers_nothing() {
    let (_runtime, site) = start();
    *site.secret.lock().unwrap() = Some("secret-of-the-user".to_owned());
    let crib = Crib::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let oauth = json!({"clientId": "my-program", "clientSecret": "${DOCS:-secret-of-the-user}", "callbackPort": port});
    write_user(
        &crib,
        &json!({"mcpServers": {"docs": {"url": site.server.url("/mcp"), "oauth": oauth}}}),
    );
    log_in(&crib, &site, "code=the-code&state={state}").expect(0);
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(0);
    // The server no longer takes the token.
    site.token.lock().unwrap().0 = "another".to_owned();
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(0);
    let received = site.server.received();
    assert!(!received.iter().any(|request| request.path() == "/register"));
    let forms = received.iter().filter(|request| request.path() == "/token");
    let forms: Vec<_> = forms
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect();
    assert_eq!(forms.len(), 2);
    assert!(
        forms[0].contains(&format!("127.0.0.1%3A{port}%2Fcallback")),
        "{forms:?}"
    );
    assert!(
        forms
            .iter()
            .all(|form| form.contains("client_id=my-program")),
        "{forms:?}"
    );

    write_user(
        &crib,
        &json!({"mcpServers": {"docs": {"url": "http://a", "oauth": {"callbackPort": 0}}}}),
    );
    let ended = crib.run(&["mcp", "login", "docs"]).expect(2);
    assert!(
        ended
            .stderr
            .contains("mcpServers.docs.oauth.callbackPort: expected a port"),
        "{ended:#?}"
    );
}

#[test]
fn a_refused_login_is_an_error_that_stores_nothing() {
    let (_runtime, site) = start();
    let crib = Crib::new();
    add(&crib, &site);
    for answer in [
        "error=access_denied&state={state}",
        "code=canary-code&state={state}",
    ] {
        let ended = log_in(&crib, &site, answer).expect(1);
        assert!(
            ended.stderr.contains("the login failed") && !ended.stderr.contains("canary"),
            "{ended:#?}"
        );
    }
    crib.run(&["mcp", "test", "docs"]).expect(10);
    crib.run(&["mcp", "add", "program", "--", "true"]).expect(0);
    let ended = crib.run(&["mcp", "login", "program"]).expect(2);
    assert!(
        ended
            .stderr
            .contains("only a server that is reached by URL"),
        "{ended:#?}"
    );
}

#[test]
fn a_projects_server_needs_an_approval_before_a_login_and_does_not_get_the_users_tokens() {
    let (_runtime, site) = start();
    let crib = Crib::new();
    add(&crib, &site);
    log_in(&crib, &site, "code=the-code&state={state}").expect(0);
    crib.run(&["mcp", "remove", "docs"]).expect(0);
    assert!(files(&crib.dir.path().join("state/toolcrib/mcp/tokens")).is_empty());
    crib.run(&["mcp", "add", "mine", "--url", &site.server.url("/mcp")])
        .expect(0);
    let url = site.server.url("/mcp");
    crib.run(&["mcp", "add", "docs", "--project", "--url", &url])
        .expect(0);
    crib.run(&["mcp", "login", "docs"]).expect(5);
    let shown = crib.run(&["mcp", "approve", "docs"]).expect(5);
    let digest = shown
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    // The approval is kept, and the tools are not known without a login.
    let approved = crib
        .run(&["mcp", "approve", "docs", "--digest", digest])
        .expect(10);
    assert!(approved.stderr.contains("mcp login docs"), "{approved:#?}");
    log_in(&crib, &site, "code=the-code&state={state}").expect(0);
    crib.run(&["mcp", "test", "docs"]).expect(0);
    crib.run(&["mcp", "test", "mine"]).expect(10);
}
