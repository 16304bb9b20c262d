//! [`Editor`]: a client whose whole connection the judge checks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_acp::EditorServer;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tools::CancellationToken;

use crate::judge::Judge;
use crate::program::{Program, root};

/// Answers a request of the agent: the result or the error. `None` leaves it open.
pub(crate) type Answers = Box<dyn Fn(&Value) -> Option<Result<Value, Value>> + Send>;

/// A client whose whole connection the judge checks.
pub(crate) struct Editor {
    link: Arc<Link>,
    reading: JoinHandle<()>,
    serving: JoinHandle<()>,
    next: u64,
}

/// The connection, which the reader shares.
struct Link {
    judge: Mutex<Judge>,
    /// The messages of the agent.
    log: Mutex<Vec<Value>>,
    asked: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    write: tokio::sync::Mutex<Option<WriteHalf<DuplexStream>>>,
    arrived: tokio::sync::Notify,
}

impl Link {
    async fn send(&self, message: Value) {
        self.send_line(&message.to_string()).await;
    }

    async fn send_line(&self, line: &str) {
        let mut write = self.write.lock().await;
        self.judge.lock().unwrap().client(line);
        if let Some(write) = &mut *write {
            // The agent may have ended the connection.
            let _ = write.write_all(format!("{line}\n").as_bytes()).await;
        }
    }

    async fn read(&self, read: ReadHalf<DuplexStream>, answers: Answers) {
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            self.judge.lock().unwrap().agent(&line);
            let message: Value = serde_json::from_str(&line).unwrap();
            self.log.lock().unwrap().push(message.clone());
            let id = &message["id"];
            if message["method"].is_string() && !id.is_null() {
                match answers(&message) {
                    Some(Ok(result)) => {
                        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}))
                            .await;
                    }
                    Some(Err(error)) => {
                        self.send(json!({"jsonrpc": "2.0", "id": id, "error": error}))
                            .await;
                    }
                    None => {}
                }
            } else if let Some(id) = id.as_u64()
                && let Some(asked) = self.asked.lock().unwrap().remove(&id)
            {
                let _ = asked.send(message);
            }
            self.arrived.notify_waiters();
        }
    }
}

impl Editor {
    /// Connects to a program and begins.
    pub(crate) async fn start(program: &Program, capabilities: Value, answers: Answers) -> Self {
        let mut editor = Self::connect(program, answers);
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let begun = editor.request("initialize", params).await;
        assert_eq!(begun["result"]["protocolVersion"], 1, "{begun}");
        editor
    }

    /// Connects to a program.
    pub(crate) fn connect(program: &Program, answers: Answers) -> Self {
        let (own, agent) = tokio::io::duplex(64 * 1024);
        let (agent_read, agent_write) = tokio::io::split(agent);
        let (read, write) = tokio::io::split(own);
        let server = EditorServer::new(Arc::new(program.clone()), "test", "1");
        let serving = tokio::spawn(async move {
            let served = server.serve_streams(agent_read, agent_write, CancellationToken::new());
            served.await.unwrap();
        });
        let link = Arc::new(Link {
            judge: Mutex::new(Judge::new()),
            log: Mutex::default(),
            asked: Mutex::default(),
            write: tokio::sync::Mutex::new(Some(write)),
            arrived: tokio::sync::Notify::new(),
        });
        let reader = link.clone();
        let reading = tokio::spawn(async move { reader.read(read, answers).await });
        Self {
            link,
            reading,
            serving,
            next: 0,
        }
    }

    /// Sends a request. Returns the receiver of its answer.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> oneshot::Receiver<Value> {
        let (sender, receiver) = oneshot::channel();
        let id = self.next;
        self.next += 1;
        self.link.asked.lock().unwrap().insert(id, sender);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.link.send(message).await;
        receiver
    }

    /// Sends a request and returns the answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.begin(method, params).await;
        within(answer).await.unwrap()
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.link.send(message).await;
    }

    pub(crate) async fn line(&mut self, line: &str) {
        self.link.send_line(line).await;
    }

    /// Begins a session. Returns its id.
    pub(crate) async fn new_session(&mut self) -> String {
        let params = json!({"cwd": root(), "mcpServers": []});
        let answer = self.request("session/new", params).await;
        let id = answer["result"]["sessionId"].as_str();
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Sends a prompt. Returns the receiver of its answer.
    pub(crate) async fn begin_prompt(
        &mut self,
        session: &str,
        text: &str,
    ) -> oneshot::Receiver<Value> {
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        self.begin("session/prompt", params).await
    }

    /// Sends a prompt. Returns the stop reason.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> String {
        let answer = self.begin_prompt(session, text).await;
        let answer = within(answer).await.unwrap();
        let reason = answer["result"]["stopReason"].as_str();
        reason.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Waits for a message of the agent that has the text.
    pub(crate) async fn wait_for(&self, text: &str) -> Value {
        within(async {
            loop {
                let arrived = self.link.arrived.notified();
                let log = self.log();
                let found = log
                    .into_iter()
                    .find(|message| message.to_string().contains(text));
                if let Some(found) = found {
                    return found;
                }
                arrived.await;
            }
        })
        .await
    }

    /// Returns the messages of the agent.
    pub(crate) fn log(&self) -> Vec<Value> {
        self.link.log.lock().unwrap().clone()
    }

    /// Returns the updates of a session, each as its kind and its text or status.
    pub(crate) fn updates(&self, session: &str) -> Vec<String> {
        let log = self.log().into_iter();
        let of_session = log.filter(|message| {
            message["method"] == "session/update"
                && message["params"]["sessionId"] == session
                && message["params"]["update"]["sessionUpdate"] != "available_commands_update"
        });
        let shown = of_session.map(|message| {
            let update = &message["params"]["update"];
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let kind = word(&update["sessionUpdate"]);
            let text = word(&update["content"]["text"]) + &word(&update["status"]);
            format!("{kind} {text}")
        });
        shown.collect()
    }

    /// Closes the connection without a word.
    pub(crate) async fn close(&mut self) {
        if let Some(mut write) = self.link.write.lock().await.take() {
            // The other half keeps the stream open.
            write.shutdown().await.unwrap();
        }
    }

    /// Ends the connection. Checks that the server ends, and that the judge has seen no violation.
    pub(crate) async fn end(mut self) {
        self.close().await;
        within(&mut self.serving).await.unwrap();
        within(&mut self.reading).await.unwrap();
        let judge = std::mem::replace(&mut *self.link.judge.lock().unwrap(), Judge::new());
        assert_eq!(judge.end(), Vec::<String>::new());
    }
}

/// Waits, but not for ever.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    let waited = tokio::time::timeout(Duration::from_secs(10), future).await;
    waited.expect("it hangs")
}

/// Answers every question about a call with this option.
pub(crate) fn choosing(option: &'static str) -> Answers {
    Box::new(move |_| {
        Some(Ok(
            json!({"outcome": {"outcome": "selected", "optionId": option}}),
        ))
    })
}

/// Leaves all requests open.
pub(crate) fn silent() -> Answers {
    Box::new(|_| None)
}
