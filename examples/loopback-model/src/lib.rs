//! Run by `cargo run -p example-plain-http` and `cargo run -p example-rig-agent`: a model on the loopback, which needs no key.
//!
//! The model speaks the part of OpenAI's chat completions that these examples need. In its first turn it makes two calls. In its second
//! turn it repeats the results.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use protocol::ToolCall;
use protocol::wire::{Format, WireCall};
use serde_json::{Value, json};

/// The format that the model speaks. It has all calls of a turn in one message.
const FORMAT: Format = Format::OpenAiChat;

/// Serves the model on a free port until the process ends, and returns its base URL.
///
/// # Errors
/// Returns an error if no port can be opened.
pub fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming() {
            if let Err(error) = stream.and_then(answer) {
                eprintln!("the model on the loopback could not answer: {error}");
            }
        }
    });
    Ok(url)
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let message = turn(&serde_json::from_slice(&body)?);
    let reason = if message["content"].is_null() {
        "tool_calls"
    } else {
        "stop"
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let reply = json!({"id": "1", "object": "chat.completion", "created": 0, "model": "loopback", "choices": [choice]});
    let reply = reply.to_string();
    let length = reply.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{reply}"
    )
}

/// Returns the message of the model for a request.
fn turn(request: &Value) -> Value {
    let messages = request["messages"].as_array().into_iter().flatten();
    let results: Vec<_> = messages
        .filter(|message| message["role"] == "tool")
        .collect();
    if results.is_empty() {
        let calls = [
            ToolCall::new("1", "fs__list", json!({"path": "examples"})),
            ToolCall::new("2", "fs__read", json!({"path": "Cargo.toml"})),
        ];
        return FORMAT
            .write_calls(&calls.map(WireCall::from))
            .pop()
            .unwrap_or_default();
    }
    let report: Vec<_> = results
        .iter()
        .map(|result| format!("- {}", result["content"].as_str().unwrap_or_default()))
        .collect();
    json!({"role": "assistant", "content": format!("My calls returned:\n{}", report.join("\n"))})
}
