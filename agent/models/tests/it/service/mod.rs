//! A service on the loopback that sends prepared replies and records its requests.
#![allow(dead_code, reason = "each program of tests uses a part of it")]

// The other direction of the formats, which the product does not need.
#[path = "../../../../../protocol/tests/it/wire/read_results.rs"]
pub(crate) mod read_results;
pub(crate) mod reply;
pub(crate) mod sent;
pub(crate) mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agent::{KeySource, ProviderOptions};
use agent_models::{Remote, RetryPolicy, Timeouts};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// The reaction of the service to one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Answers in pieces of so many bytes.
    Answer {
        status: u16,
        headers: String,
        body: String,
        piece: usize,
    },
    /// Begins an answer and closes the connection.
    Broken { headers: String, body: String },
    /// Closes the connection without a word.
    Reset,
    /// Says nothing.
    Silence,
    /// Begins an answer and says no more.
    Stall(String),
    /// Sends the request to the server at this address, and its answer back.
    Relay(String),
}

pub(crate) fn json(status: u16, body: impl ToString) -> Reply {
    let headers = "content-type: application/json\r\n".to_owned();
    Reply::Answer {
        status,
        headers,
        body: body.to_string(),
        piece: 97,
    }
}

/// A stream of server-sent events.
pub(crate) fn events(body: impl Into<String>) -> Reply {
    Reply::Answer {
        status: 200,
        headers: "content-type: text/event-stream\r\n".to_owned(),
        body: body.into(),
        piece: 7,
    }
}

impl Reply {
    /// The answer, which breaks off at its end.
    pub(crate) fn broken(self) -> Self {
        match self {
            Self::Answer { headers, body, .. } => Self::Broken { headers, body },
            other => other,
        }
    }

    pub(crate) fn in_pieces(mut self, size: usize) -> Self {
        if let Self::Answer { piece, .. } = &mut self {
            *piece = size;
        }
        self
    }

    pub(crate) fn with_header(mut self, header: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push_str(&format!("{header}\r\n"));
        }
        self
    }
}

pub(crate) struct Service {
    pub(crate) url: String,
    recorded: Arc<Mutex<Vec<(String, String)>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    /// The answers about models, by path. Their requests are not recorded.
    told: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Service {
    /// Serves these replies, one for each request, in order.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
        let pending = replies.clone();
        Self::listening(replies, move |_| pending.lock().unwrap().pop_front()).await
    }

    /// Serves the reply to the body of each request.
    pub(crate) async fn answering(reply: impl Fn(&Value) -> Reply + Send + 'static) -> Self {
        Self::listening(Arc::default(), move |body| {
            Some(reply(&serde_json::from_str(body).unwrap()))
        })
        .await
    }

    async fn listening(
        replies: Arc<Mutex<VecDeque<Reply>>>,
        next: impl Fn(&str) -> Option<Reply> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let record = recorded.clone();
        let told = Arc::new(Mutex::new(BTreeMap::new()));
        let answers = told.clone();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let (head, body) = read(&mut stream).await;
                if head.starts_with("GET ") || head.starts_with("POST /api/show ") {
                    let told: Option<Value> = answers
                        .lock()
                        .unwrap()
                        .get(head.split(' ').nth(1).unwrap())
                        .cloned();
                    let (status, body) =
                        told.map_or((404, String::new()), |told| (200, told.to_string()));
                    let _ = stream.write_all(&written(status, "", &body, 97)).await;
                    continue;
                }
                record.lock().unwrap().push((head.clone(), body.clone()));
                match next(&body).unwrap_or_else(|| json(599, "nothing left to say")) {
                    Reply::Answer {
                        status,
                        headers,
                        body,
                        piece,
                    } => {
                        let _ = stream
                            .write_all(&written(status, &headers, &body, piece))
                            .await;
                        let _ = stream.shutdown().await;
                    }
                    Reply::Broken { headers, body } => {
                        let mut text = written(200, &headers, &body, 50);
                        text.truncate(text.len() - END.len());
                        let _ = stream.write_all(&text).await;
                        let _ = stream.shutdown().await;
                    }
                    Reply::Reset => drop(stream),
                    Reply::Relay(address) => {
                        let mut server = TcpStream::connect(address).await.unwrap();
                        // The server ends a stream of HTTP/1.1 five seconds after its last event.
                        let head = head.replacen("HTTP/1.1", "HTTP/1.0", 1);
                        server
                            .write_all(format!("{head}\r\n\r\n{body}").as_bytes())
                            .await
                            .unwrap();
                        let _ = copy(&mut server, &mut stream).await;
                        let _ = stream.shutdown().await;
                    }
                    Reply::Silence => silent.push(stream),
                    Reply::Stall(body) => {
                        let mut text =
                            written(200, "content-type: text/event-stream\r\n", &body, 50);
                        text.truncate(text.len() - END.len());
                        let _ = stream.write_all(&text).await;
                        silent.push(stream);
                    }
                }
            }
        });
        Self {
            url,
            recorded,
            replies,
            told,
        }
    }

    /// Answers questions about models at this path.
    pub(crate) fn tell(&self, path: &str, answer: Value) {
        self.told.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// Replaces the remaining replies by these.
    pub(crate) fn serve(&self, replies: impl IntoIterator<Item = Reply>) {
        *self.replies.lock().unwrap() = replies.into_iter().collect();
    }

    pub(crate) fn requests(&self) -> usize {
        self.recorded.lock().unwrap().len()
    }

    /// The head of a request, in lower case.
    pub(crate) fn head(&self, index: usize) -> String {
        self.recorded.lock().unwrap()[index].0.to_lowercase()
    }

    /// The body of a request.
    pub(crate) fn body(&self, index: usize) -> Value {
        serde_json::from_str(&self.text(index)).unwrap_or_default()
    }

    /// The body of a request as it was sent.
    pub(crate) fn text(&self, index: usize) -> String {
        self.recorded.lock().unwrap()[index].1.clone()
    }

    pub(crate) fn openai(&self, streaming: bool) -> Remote {
        self.limited_openai(streaming, timeouts(), retry_policy())
    }

    pub(crate) fn limited_openai(
        &self,
        streaming: bool,
        timeouts: Timeouts,
        policy: RetryPolicy,
    ) -> Remote {
        let options = ProviderOptions {
            base_url: Some(format!("{}/v1", self.url)),
            ..self.options("gpt-test", streaming)
        };
        Remote::openai(&ProviderOptions {
            timeouts: Some(timeouts),
            retry_policy: Some(policy),
            ..options
        })
        .unwrap()
    }

    pub(crate) fn anthropic(&self, streaming: bool) -> Remote {
        Remote::anthropic(&ProviderOptions {
            base_url: Some(self.url.clone()),
            ..self.options("claude-test", streaming)
        })
        .unwrap()
    }

    pub(crate) fn options(&self, model: &str, streaming: bool) -> ProviderOptions {
        let options = ProviderOptions {
            model: Some(model.into()),
            key: Some(key_file()),
            streaming: Some(streaming),
            ..ProviderOptions::default()
        };
        ProviderOptions {
            timeouts: Some(timeouts()),
            retry_policy: Some(retry_policy()),
            ..options
        }
    }
}

pub(crate) fn timeouts() -> Timeouts {
    let mut timeouts = Timeouts::default();
    timeouts.connect = Duration::from_secs(5);
    timeouts.first_byte = Duration::from_secs(5);
    timeouts.idle = Duration::from_secs(5);
    timeouts
}

pub(crate) fn retry_policy() -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    (policy.max_retries, policy.first_delay) = (2, Duration::from_millis(1));
    policy
}

/// Written once: tests that run side by side read it.
pub(crate) fn key_file() -> KeySource {
    static FILE: OnceLock<KeySource> = OnceLock::new();
    FILE.get_or_init(|| file_with("service", KEY)).clone()
}

/// Writes a key to a file of this name.
pub(crate) fn file_with(name: &str, key: &str) -> KeySource {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{name}-{}.key", std::process::id()));
    std::fs::write(&path, format!("{key}\n")).unwrap();
    KeySource::File(path)
}

async fn read(stream: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let fields = head.to_lowercase();
            let length = fields
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            let body = &bytes[end + 4..];
            if body.len() >= length.unwrap_or_default() {
                return (head, String::from_utf8_lossy(body).into_owned());
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => bytes.extend_from_slice(&piece[..length]),
            _ => return (String::new(), String::new()),
        }
    }
}

/// The last chunk of a body.
const END: &[u8] = b"0\r\n\r\n";

/// Each piece is a chunk of its own, so that the client sees it as one.
fn written(status: u16, headers: &str, body: &str, piece: usize) -> Vec<u8> {
    let mut text =
        format!("HTTP/1.1 {status} Status\r\n{headers}connection: close\r\ntransfer-encoding: chunked\r\n\r\n")
            .into_bytes();
    for chunk in body.as_bytes().chunks(piece) {
        text.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        text.extend_from_slice(chunk);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(END);
    text
}
