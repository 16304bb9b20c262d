//! Calls of a tool over stdio: `toolcrib serve`, beside a bare server of rmcp.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tools::tool;
// Links the command `serve`.
use tools_mcp_host as _;

use crate::chat::runtime;
use crate::figure::Figure;
use crate::round::{ROUNDS, Round, SIDES, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "mcp-server",
    measure,
    round,
};

/// The calls of a round, and those before it.
const CALLS: usize = 3_000;
const WARM: usize = 300;

/// Greets somebody.
#[tool(name = "greet", pure)]
pub(crate) async fn greet(
    /// The name.
    name: String,
) -> String {
    greeting(&name)
}

fn greeting(name: &str) -> String {
    format!("Hello, {name}!")
}

/// The bare server. It does what the tool does.
#[derive(Clone)]
struct Bare;

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
        let name = arguments["name"].as_str().unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(greeting(name))]).into())
    }
}

/// Runs the bare server until standard input ends.
pub fn serve_bare() {
    let serve = async {
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        let server = Bare.serve(streams).await.unwrap();
        server.waiting().await.unwrap();
    };
    runtime().block_on(serve);
}

fn measure(table: &mut Table) {
    let [toolcrib, peer] = in_turn(ROUNDS, |side| {
        Round::start("compare", &["round", FIGURE.name, SIDES[side]])
    });
    table.compare(
        "calls of a tool per second over stdio, one after the other: `toolcrib serve`, beside a bare server of rmcp",
        "/s",
        [toolcrib[0], peer[0]],
        "",
    );
    table.compare(
        "processor time of the server in one of them",
        "µs",
        [toolcrib[1], peer[1]],
        "",
    );
}

fn round(arguments: &[String]) -> Round {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&arguments[0], folder.path());
    let mut result = String::new();
    (0..WARM).for_each(|number| result = server.call(number));
    let (time, start) = (server.micros(), Instant::now());
    (0..CALLS).for_each(|number| result = server.call(WARM + number));
    let seconds = start.elapsed().as_secs_f64();
    let micros = server.micros() - time;
    Round {
        figures: vec![CALLS as f64 / seconds, micros / CALLS as f64],
        result,
    }
}

/// A server in a process of its own.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(side: &str, folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if side == SIDES[0] {
            command.args(["serve", "--no-config", "--select", "greet", "--root"]);
            command.arg(folder);
        } else {
            command.arg("serve-bare");
        }
        for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
            command.env(variable, folder.join("home"));
        }
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut server = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        let client = json!({"name": "compare", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        server.send(
            &json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}),
        );
        server.receive();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// Calls the tool, and returns the text of its result.
    fn call(&mut self, number: usize) -> String {
        let params = json!({"name": "greet", "arguments": {"name": "world"}});
        self.send(
            &json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}),
        );
        let answer = self.receive();
        assert_eq!(answer["id"], number);
        answer["result"]["content"][0]["text"].to_string()
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Receives the next message with an id.
    fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the server ended"
            );
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Returns the processor time of all threads in microseconds, as Linux counts it. 0 on other systems.
    fn micros(&self) -> f64 {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.child.id())) else {
            return 0.0;
        };
        let nanos = threads.map(|thread| {
            let counted = std::fs::read_to_string(thread.unwrap().path().join("schedstat"));
            let counted = counted.unwrap_or_default();
            let nanos = counted.split_whitespace().next().unwrap_or_default();
            nanos.parse::<f64>().unwrap_or_default()
        });
        nanos.sum::<f64>() / 1e3
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
