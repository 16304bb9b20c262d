//! The processor time of a call on a server of tools beside that on a bare server of `rmcp`, over stdio and HTTP.
//!
//! Run with `cargo bench -p toolcrib-mcp` on Linux. Each server is a process of its own, and only its time counts. The rounds
//! alternate, so that the load of the machine is the same for both.

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tools::{CancellationToken, Catalog, Effects, Tool, ToolContext};
use tools_mcp::server::{HttpOptions, ServedTools, ToolServer};

/// The rounds of each server.
const ROUNDS: usize = 10;
/// The calls of a round.
const CALLS: usize = 1_000;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("serve") => tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(
            arguments.get(2).is_some_and(|server| server == "tools"),
            arguments.get(3).is_some_and(|transport| transport == "http"),
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
    let parameters = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let tool = Tool::new("greet", "Greets.", parameters)?.with_effects(Effects::Pure);
    let mut catalog = Catalog::new();
    catalog.register(tool, async |_: ToolContext, arguments: Value| greeting(&arguments))?;
    let context = ToolContext::new();
    Ok(ToolServer::new(ServedTools::new(catalog.list(), catalog)?, move |_| context.clone()))
}

async fn serve(is_tools: bool, is_http: bool) -> Result<(), Failure> {
    if !is_http {
        let (read, write) = (tokio::io::stdin(), tokio::io::stdout());
        return match is_tools {
            true => Ok(tools()?.serve_streams(read, write, CancellationToken::new()).await?),
            false => Bare.serve((read, write)).await?.waiting().await.map(drop).map_err(Into::into),
        };
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    if is_tools {
        return Ok(tools()?.serve_http(listener, &HttpOptions::new(), CancellationToken::new()).await?);
    }
    // The same checks of hosts and origins.
    let config = StreamableHttpServerConfig::default().with_allowed_origins(["http://localhost:*"]);
    let service = StreamableHttpService::new(|| Ok(Bare), Arc::<LocalSessionManager>::default(), config);
    Ok(axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?)
}

/// A server that runs as a process of its own.
struct Server {
    child: Child,
    wire: Wire,
}

enum Wire {
    Streams(ChildStdin, BufReader<ChildStdout>),
    Http { stream: BufReader<TcpStream>, session: String },
}

impl Server {
    fn start(server: &str, transport: &str) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child =
            command.args(["serve", server, transport]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let wire = if transport == "http" {
            let mut address = String::new();
            output.read_line(&mut address)?;
            let stream = TcpStream::connect(address.trim())?;
            stream.set_nodelay(true)?;
            Wire::Http { stream: BufReader::new(stream), session: String::new() }
        } else {
            Wire::Streams(child.stdin.take().ok_or("no input")?, output)
        };
        let mut server = Self { child, wire };
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        server
            .request(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(), true)?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        server.request(&initialized, false)?;
        Ok(server)
    }

    fn round(&mut self, calls: usize) -> Result<(), Failure> {
        for number in 1..=calls {
            let params = json!({"name": "greet", "arguments": {"name": "world"}});
            let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
            let answer = self.request(&call.to_string(), true)?;
            if !answer.contains("Hello, world!") {
                return Err(answer.into());
            }
        }
        Ok(())
    }

    fn request(&mut self, body: &str, has_answer: bool) -> Result<String, Failure> {
        let mut answer = String::new();
        match &mut self.wire {
            Wire::Streams(input, output) => {
                input.write_all(format!("{body}\n").as_bytes())?;
                if has_answer {
                    output.read_line(&mut answer)?;
                }
            }
            Wire::Http { stream, session } => {
                let head = format!(
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n",
                    body.len()
                );
                stream.get_mut().write_all(format!("{head}{body}").as_bytes())?;
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
            let statistics = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            time += statistics.split_whitespace().next().and_then(|time| time.parse::<u64>().ok()).unwrap_or_default();
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
    writeln!(out, "{:<8} {:>12} {:>12} {:>6}", "", "bare rmcp", "tools", "ratio")?;
    for transport in ["stdio", "http"] {
        let mut servers = [Server::start("bare", transport)?, Server::start("tools", transport)?];
        let mut times = [0, 0];
        for round in 0..=ROUNDS {
            for (server, time) in servers.iter_mut().zip(&mut times) {
                let before = server.time()?;
                server.round(CALLS)?;
                // The first round warms up.
                *time += if round == 0 { 0 } else { server.time()? - before };
            }
        }
        let [bare, tools] = times.map(|time| time as f64 / (ROUNDS * CALLS) as f64 / 1_000.0);
        writeln!(out, "{transport:<8} {bare:>9.1} µs {tools:>9.1} µs {:>6.2}", tools / bare)?;
    }
    Ok(())
}
