//! The processor time of a call on a server of tools beside that on a bare server of `rmcp`, over stdio and HTTP.
//!
//! Run with `cargo bench -p toolcrib-mcp --bench overhead` on Linux. Each server is a process of its own, and only its time counts. The
//! rounds alternate, so that the load of the machine is the same for both, and the medians are compared.

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tools::{CancellationToken, Catalog, Effects, Host, Tool, ToolContext};
use tools_mcp::server::{HttpOptions, ServedTools, ToolServer};

/// The rounds of each server.
const ROUNDS: usize = 21;
/// The calls of a round.
const CALLS: usize = 300;
/// The generations of the protocol.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("serve") => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(serve(
                arguments.get(2).is_some_and(|server| server == "tools"),
                arguments
                    .get(3)
                    .is_some_and(|transport| transport == "http"),
            )),
        _ => measure(),
    }
}

/// The bare server. It does what the tool does.
#[derive(Clone)]
struct Bare;

fn greeting(arguments: &Value) -> String {
    format!("Hello, {}!", arguments["name"].as_str().unwrap_or("nobody"))
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(greeting(&arguments))]).into())
    }
}

fn tools() -> Result<ToolServer, Failure> {
    let parameters =
        json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let tool = Tool::new("greet", "Greets.", parameters)?.with_effects(Effects::Pure);
    let mut catalog = Catalog::new();
    catalog.register(tool, async |_: ToolContext, arguments: Value| {
        greeting(&arguments)
    })?;
    let context = Host::new();
    Ok(ToolServer::new(
        ServedTools::new(catalog.list(), catalog)?,
        move |_| context.clone(),
    ))
}

async fn serve(is_tools: bool, is_http: bool) -> Result<(), Failure> {
    if !is_http {
        return if is_tools {
            Ok(tools()?.serve_stdio(CancellationToken::new()).await?)
        } else {
            let streams = (tokio::io::stdin(), tokio::io::stdout());
            Bare.serve(streams)
                .await?
                .waiting()
                .await
                .map(drop)
                .map_err(Into::into)
        };
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    if is_tools {
        return Ok(tools()?
            .serve_http(listener, &HttpOptions::new(), CancellationToken::new())
            .await?);
    }
    // The same checks of hosts and origins.
    let config = StreamableHttpServerConfig::default().with_allowed_origins(["http://localhost:*"]);
    let service =
        StreamableHttpService::new(|| Ok(Bare), Arc::<LocalSessionManager>::default(), config);
    // Without it, each answer waits for the client's acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?)
}

/// A server that runs as a process of its own.
struct Server {
    child: Child,
    wire: Wire,
    /// The `_meta` of each request, from 2026-07-28 on.
    meta: Option<Value>,
}

enum Wire {
    Streams(ChildStdin, BufReader<ChildStdout>),
    Http {
        stream: BufReader<TcpStream>,
        session: String,
    },
}

impl Server {
    fn start(server: &str, transport: &str, revision: &str) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command
            .args(["serve", server, transport])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let wire = if transport == "http" {
            let mut address = String::new();
            output.read_line(&mut address)?;
            let stream = TcpStream::connect(address.trim())?;
            stream.set_nodelay(true)?;
            Wire::Http {
                stream: BufReader::new(stream),
                session: String::new(),
            }
        } else {
            Wire::Streams(child.stdin.take().ok_or("no input")?, output)
        };
        let client = json!({"name": "bench", "version": "1"});
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let is_modern = revision != REVISIONS[0];
        let mut server = Self {
            child,
            wire,
            meta: is_modern.then_some(meta),
        };
        if is_modern {
            server.request("server/discover", Some(0), json!({}))?;
        } else {
            let params =
                json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
            server.request("initialize", Some(0), params)?;
            server.request("notifications/initialized", None, json!({}))?;
        }
        Ok(server)
    }

    fn round(&mut self, calls: usize) -> Result<(), Failure> {
        for number in 1..=calls {
            let params = json!({"name": "greet", "arguments": {"name": "world"}});
            let answer = self.request("tools/call", Some(number), params)?;
            if !answer.contains("Hello, world!") {
                return Err(answer.into());
            }
        }
        Ok(())
    }

    fn request(
        &mut self,
        method: &str,
        id: Option<usize>,
        mut params: Value,
    ) -> Result<String, Failure> {
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        let (body, mut answer) = (message.to_string(), String::new());
        match &mut self.wire {
            Wire::Streams(input, output) => {
                input.write_all(format!("{body}\n").as_bytes())?;
                if id.is_some() {
                    output.read_line(&mut answer)?;
                }
            }
            Wire::Http { stream, session } => {
                let standard = match &self.meta {
                    Some(_) => {
                        let name = params["name"]
                            .as_str()
                            .map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
                        format!(
                            "MCP-Protocol-Version: {}\r\nMcp-Method: {method}\r\n{name}",
                            REVISIONS[1]
                        )
                    }
                    None => String::new(),
                };
                let head = format!(
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\n{session}{standard}Content-Length: {}\r\n\r\n",
                    body.len()
                );
                stream
                    .get_mut()
                    .write_all(format!("{head}{body}").as_bytes())?;
                let (mut length, mut is_chunked) = (0, false);
                loop {
                    let mut line = String::new();
                    stream.read_line(&mut line)?;
                    let (name, value) = line.trim().split_once(": ").unwrap_or((line.trim(), ""));
                    match name.to_ascii_lowercase().as_str() {
                        "" => break,
                        "content-length" => length = value.parse()?,
                        "transfer-encoding" => is_chunked = true,
                        "mcp-session-id" => *session = format!("Mcp-Session-Id: {value}\r\n"),
                        _ => {}
                    }
                }
                read_body(stream, length, is_chunked, &mut answer)?;
            }
        }
        Ok(answer)
    }

    /// Returns the processor time of all threads, in nanoseconds.
    fn time(&self) -> Result<u64, Failure> {
        let mut time = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let statistics =
                std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            time += statistics
                .split_whitespace()
                .next()
                .and_then(|time| time.parse::<u64>().ok())
                .unwrap_or_default();
        }
        Ok(time)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_body(
    stream: &mut BufReader<TcpStream>,
    length: usize,
    is_chunked: bool,
    answer: &mut String,
) -> Result<(), Failure> {
    let mut length = length;
    loop {
        if is_chunked {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            length = usize::from_str_radix(line.trim(), 16)?;
        }
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes)?;
        *answer += &String::from_utf8_lossy(&bytes);
        if is_chunked {
            stream.read_line(&mut String::new())?;
        }
        if !is_chunked || length == 0 {
            return Ok(());
        }
    }
}

fn measure() -> Result<(), Failure> {
    let mut out = io::stdout();
    writeln!(
        out,
        "{:<17} {:>12} {:>12} {:>6}",
        "", "bare rmcp", "tools", "ratio"
    )?;
    for (transport, revision) in ["stdio", "http"]
        .iter()
        .flat_map(|transport| REVISIONS.map(|revision| (transport, revision)))
    {
        let mut servers = [
            Server::start("bare", transport, revision)?,
            Server::start("tools", transport, revision)?,
        ];
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            for (server, times) in servers.iter_mut().zip(&mut times) {
                let before = server.time()?;
                server.round(CALLS)?;
                // The first round warms up.
                if round > 0 {
                    times.push(server.time()? - before);
                }
            }
        }
        let [bare, tools] = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2] as f64 / CALLS as f64 / 1_000.0
        });
        writeln!(
            out,
            "{transport:<6}{revision:<11} {bare:>9.1} µs {tools:>9.1} µs {:>6.2}",
            tools / bare
        )?;
    }
    Ok(())
}
