//! [`Service`]: a scripted service on the loopback, in the process that starts the rounds, so that no round has its costs.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Returns the whole response to the request with this number and this body.
type Reply = dyn Fn(usize, &[u8]) -> Arc<[u8]> + Send + Sync;

/// A service that answers requests in their order, until the process ends.
pub(crate) struct Service {
    /// The base URL.
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    reply: Box<Reply>,
    /// The number of requests so far, and the body of the last one.
    last: Mutex<(usize, Vec<u8>)>,
}

impl Service {
    pub(crate) fn start(reply: impl Fn(usize, &[u8]) -> Arc<[u8]> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = Arc::new(State {
            reply: Box::new(reply),
            last: Mutex::default(),
        });
        let answering = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = answering.clone();
                std::thread::spawn(move || state.answer(&stream.unwrap()));
            }
        });
        Self { url, state }
    }

    /// Returns the number of requests so far, and the body of the last one.
    pub(crate) fn last(&self) -> (usize, Vec<u8>) {
        self.state.last.lock().unwrap().clone()
    }
}

impl State {
    /// Answers the requests of a connection, until its end.
    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let mut writer = stream;
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            let response = {
                let mut last = self.last.lock().unwrap();
                let response = (self.reply)(last.0, &body);
                *last = (last.0 + 1, body);
                response
            };
            writer.write_all(&response)?;
        }
    }
}

/// Returns the response with a JSON document.
pub(crate) fn json(status: &str, body: &str) -> Arc<[u8]> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
        .into()
}

/// Returns the response with a stream of events, each a chunk of HTTP of its own.
pub(crate) fn events(documents: impl IntoIterator<Item = String>) -> Arc<[u8]> {
    let mut response =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_owned();
    for document in documents {
        let event = format!("data: {document}\n\n");
        response += &format!("{:x}\r\n{event}\r\n", event.len());
    }
    response += "0\r\n\r\n";
    response.into_bytes().into()
}
