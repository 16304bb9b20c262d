//! [`EditorServer`]: serves the sessions of a program to one client.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use agent::RunObserver;
use host::sessions::{CommandSession, RecordedSession, Sessions};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{self, AsyncRead, AsyncWrite};
use tokio::task::{JoinHandle, JoinSet};
use tools::context::Exposure;
use tools::{CancellationToken, Content, IgnorePoison as _};

use crate::board::Board;
use crate::client::Client;
use crate::content::from_blocks;
use crate::rpc::{Incoming, Lines, RpcError};
use crate::scope::EditorScope;
use crate::turn::Prompts;

/// The version of the protocol.
const VERSION: u32 = 1;

/// The time that cancelled runs and the last messages have when the client is gone.
const GRACE: Duration = Duration::from_secs(10);

/// The most sessions of a list.
const PAGE: usize = 100;

/// Serves the sessions of a program to an editor, or to another client of the Agent Client Protocol.
///
/// - A session belongs to the connection that has opened it. Its runs are cancelled when the client is gone, and it can be loaded again.
/// - Each prompt has one answer. Several prompts of one session wait for each other, and sessions do not.
/// - The client's files and terminals are not used: tools work in the workspace, within the session's grant.
pub struct EditorServer {
    sessions: Arc<dyn Sessions>,
    name: String,
    version: String,
}

/// A connection.
struct Connection {
    server: EditorServer,
    client: Client,
    is_initialized: AtomicBool,
    /// True if the client shows forms.
    has_forms: AtomicBool,
    open: Mutex<HashMap<String, OpenSession>>,
    /// The number of sessions without a record.
    unrecorded: AtomicU64,
    token: CancellationToken,
}

/// A session that is open.
struct OpenSession {
    prompts: Prompts,
    exposure: Arc<Exposure>,
    token: CancellationToken,
    task: JoinHandle<()>,
}

impl OpenSession {
    /// Returns the content of a prompt. The session counts as one that read text of strangers if it embeds a file or an image, because
    /// nothing tells whose that is.
    fn read(&self, blocks: &Value) -> Result<Vec<Content>, RpcError> {
        let (content, is_embedded) = from_blocks(blocks)?;
        if is_embedded {
            self.exposure.record();
        }
        Ok(content)
    }
}

/// The way to open a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    New,
    Load,
    Resume,
}

impl EditorServer {
    /// Creates the server of a program with this name and version.
    pub fn new(
        sessions: Arc<dyn Sessions>,
        name: impl Into<String>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            sessions,
            name: name.into(),
            version: version.into(),
        }
    }

    /// Serves one client, message by line, until it closes the stream or `shutdown` is cancelled. Running prompts are cancelled then.
    ///
    /// # Errors
    /// Returns an error if the stream cannot be read.
    pub async fn serve_streams(
        self,
        read: impl AsyncRead + Send + Unpin,
        write: impl AsyncWrite + Send + Unpin + 'static,
        shutdown: CancellationToken,
    ) -> io::Result<()> {
        let (client, queue) = Client::new();
        let mut writer = tokio::spawn(queue.write(write));
        let connection = Arc::new(Connection {
            server: self,
            client: client.clone(),
            is_initialized: AtomicBool::new(false),
            has_forms: AtomicBool::new(false),
            open: Mutex::default(),
            unrecorded: AtomicU64::new(0),
            token: shutdown.child_token(),
        });
        let mut tasks = JoinSet::new();
        let mut lines = Lines::new(read);
        let mut ended = Ok(());
        loop {
            let next = async { client.gone().run_until_cancelled(lines.next()).await };
            match shutdown.run_until_cancelled(next).await.flatten() {
                Some(Ok(Some(message))) => connection.take(message, &mut tasks),
                Some(Err(error)) => {
                    ended = Err(error);
                    break;
                }
                Some(Ok(None)) | None => break,
            }
            while tasks.try_join_next().is_some() {}
        }
        connection.token.cancel();
        let open: Vec<_> = connection.open().drain().map(|(_, open)| open).collect();
        let end = async {
            while tasks.join_next().await.is_some() {}
            for session in open {
                session.end().await;
            }
            drop((connection, client));
            // All answers are sent by now, and the writer ends with the last sender.
            let _ = (&mut writer).await;
        };
        if tokio::time::timeout(GRACE, end).await.is_err() {
            writer.abort();
        }
        ended
    }
}

impl OpenSession {
    /// Cancels the prompts and waits until the session is free.
    async fn end(self) {
        self.prompts.cancel();
        self.token.cancel();
        drop(self.prompts);
        // A panic of the task has dropped its prompts, which are answered then.
        let _ = self.task.await;
    }
}

impl Connection {
    /// Takes a message. Waits for nothing: later messages may be what an earlier one waits for.
    fn take(self: &Arc<Self>, message: Incoming, tasks: &mut JoinSet<()>) {
        match message {
            Incoming::Invalid(error) => self.client.answer(&Value::Null, Err(error)),
            Incoming::Reply { id, result } => self.client.take_reply(&id, result),
            Incoming::Notification { method, params } => {
                if method == "session/cancel"
                    && let Some(session) = self.open().get(session_of(&params))
                {
                    session.prompts.cancel();
                }
            }
            Incoming::Request { id, method, params } => {
                if let Err(error) = self.request(&id, &method, params, tasks) {
                    self.client.answer(&id, Err(error));
                }
            }
        }
    }

    /// Answers a request, or begins to.
    fn request(
        self: &Arc<Self>,
        id: &Value,
        method: &str,
        params: Value,
        tasks: &mut JoinSet<()>,
    ) -> Result<(), RpcError> {
        let is_initialized = self.is_initialized.load(Ordering::Relaxed);
        if !is_initialized && method != "initialize" {
            let reason = "the connection has not begun; send initialize first";
            return Err(RpcError::new(RpcError::REQUEST, reason));
        }
        let opening = match method {
            "initialize" => {
                self.client.answer(id, Ok(self.initialize(&params)));
                return Ok(());
            }
            "authenticate" => {
                let reason = "no authentication is offered; set the key of the provider where the agent starts";
                return Err(RpcError::new(RpcError::PARAMS, reason));
            }
            "session/prompt" => return self.prompt(id, &params),
            "_session/steering" => return self.steer(id, &params),
            "session/close" => {
                let session = self.open().remove(session_of(&params));
                let session = session.ok_or_else(|| not_open(&params))?;
                let (connection, id) = (Arc::clone(self), id.clone());
                tasks.spawn(async move {
                    session.end().await;
                    connection.client.answer(&id, Ok(json!({})));
                });
                return Ok(());
            }
            "session/list" => {
                let (connection, id) = (Arc::clone(self), id.clone());
                tasks.spawn(async move {
                    let listed = connection.list(&params).await;
                    connection.client.answer(&id, listed);
                });
                return Ok(());
            }
            "session/new" => Opening::New,
            "session/load" => Opening::Load,
            "session/resume" => Opening::Resume,
            _ => {
                let reason = format!("there is no method {method}");
                return Err(RpcError::new(RpcError::METHOD, reason));
            }
        };
        let (connection, id) = (Arc::clone(self), id.clone());
        tasks.spawn(async move {
            let client = &connection.client;
            if let Err(error) = connection.open_session(&id, opening, &params).await {
                client.answer(&id, Err(error));
            }
        });
        Ok(())
    }

    fn initialize(&self, params: &Value) -> Value {
        let form = &params["clientCapabilities"]["elicitation"]["form"];
        self.has_forms.store(form.is_object(), Ordering::Relaxed);
        self.is_initialized.store(true, Ordering::Relaxed);
        json!({
            "protocolVersion": VERSION,
            "agentInfo": {"name": self.server.name, "version": self.server.version},
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": false, "sse": false},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "authMethods": [],
            "_meta": {"steering": {"supported": true}},
        })
    }

    fn prompt(&self, id: &Value, params: &Value) -> Result<(), RpcError> {
        let open = self.open();
        let session = find_open(&open, params)?;
        let content = session.read(&params["prompt"])?;
        session.prompts.push(id.clone(), content);
        Ok(())
    }

    fn steer(&self, id: &Value, params: &Value) -> Result<(), RpcError> {
        let open = self.open();
        let session = find_open(&open, params)?;
        let content = session.read(&params["prompt"])?;
        let outcome = if session.prompts.steer(content) {
            "injected"
        } else {
            "promptRequired"
        };
        self.client.answer(id, Ok(json!({"outcome": outcome})));
        Ok(())
    }

    async fn list(&self, params: &Value) -> Result<Value, RpcError> {
        let workspace = match params["cwd"].as_str() {
            Some(cwd) => Some(workspace(cwd)?),
            None => None,
        };
        let skipped = match params["cursor"].as_str() {
            Some(cursor) => cursor.parse::<usize>().map_err(|_| {
                let reason = "the cursor is none of a list; begin without one";
                RpcError::new(RpcError::PARAMS, reason)
            })?,
            None => 0,
        };
        let listed = self.server.sessions.list(workspace).await;
        let listed = listed.map_err(internal)?;
        let end = skipped.saturating_add(PAGE);
        let next = (listed.len() > end).then(|| end.to_string());
        let page = listed.into_iter().skip(skipped).take(PAGE).map(|session| {
            let RecordedSession {
                id,
                workspace,
                title,
                changed,
            } = session;
            json!({"sessionId": id, "cwd": workspace, "title": title, "updatedAt": changed})
        });
        let mut page = json!({"sessions": page.collect::<Vec<_>>()});
        if let Some(next) = next {
            page["nextCursor"] = next.into();
        }
        Ok(page)
    }

    /// Opens a session, and answers.
    async fn open_session(
        self: &Arc<Self>,
        id: &Value,
        opening: Opening,
        params: &Value,
    ) -> Result<(), RpcError> {
        let cwd = params["cwd"].as_str().unwrap_or_default();
        let root = workspace(cwd)?;
        let servers = servers(&params["mcpServers"])?;
        let recorded = match opening {
            Opening::New => None,
            Opening::Load | Opening::Resume => Some(self.find(&root, params).await?),
        };
        let board = Arc::new(Board::new(self.client.clone(), PathBuf::from(cwd)));
        let observer = Arc::new(RunObserver::new(board.clone()));
        let exposure = Arc::new(Exposure::new());
        let scope = EditorScope {
            root: PathBuf::from(cwd),
            recorded,
            servers,
            board: board.clone(),
            observer: observer.clone(),
            exposure: exposure.clone(),
            has_forms: self.has_forms.load(Ordering::Relaxed),
        };
        let token = self.token.child_token();
        let sessions = &self.server.sessions;
        let session = sessions.open(Arc::new(scope), token.clone()).await;
        let session = session.map_err(internal)?;
        let name = self.name(&*session);
        board.set_id(&name);
        if opening == Opening::Load {
            board.replay(&*session);
        }
        let (prompts, queue) = Prompts::new(board.clone());
        board.set_notes(session.left_out());
        // The lock keeps a prompt from the session before its answer is sent.
        let mut open = self.open();
        if self.token.is_cancelled() {
            return Err(RpcError::new(RpcError::INTERNAL, "the connection ends"));
        }
        let task = tokio::spawn(queue.run(session, board.clone(), observer, token.clone()));
        let opened = OpenSession {
            prompts,
            exposure,
            token,
            task,
        };
        open.insert(name.clone(), opened);
        self.client.answer(
            id,
            Ok(match opening {
                Opening::New => json!({"sessionId": name}),
                Opening::Load | Opening::Resume => json!({}),
            }),
        );
        // Clients drop the commands of a session that they do not know yet.
        board.say_commands();
        Ok(())
    }

    /// Returns the id of the recorded session that goes on.
    async fn find(&self, root: &str, params: &Value) -> Result<String, RpcError> {
        let id = session_of(params).to_owned();
        if self.open().contains_key(&id) {
            let reason = format!("the session {id} is open; close it first");
            return Err(RpcError::new(RpcError::PARAMS, reason));
        }
        let found = self.server.sessions.find(id.clone()).await;
        let Some(found) = found.map_err(internal)? else {
            let reason = format!("there is no session {id}; list the sessions");
            return Err(RpcError::new(RpcError::NOT_FOUND, reason));
        };
        if found.workspace != root {
            let reason = format!("the session {id} belongs to {}", found.workspace);
            return Err(RpcError::new(RpcError::PARAMS, reason));
        }
        Ok(id)
    }

    /// Returns the id of an open session.
    fn name(&self, session: &dyn CommandSession) -> String {
        match session.context().session() {
            Some(name) => name.to_owned(),
            None => {
                let number = self.unrecorded.fetch_add(1, Ordering::Relaxed) + 1;
                format!("unrecorded-{number}")
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, OpenSession>> {
        self.open.lock().ignore_poison()
    }
}

fn session_of(params: &Value) -> &str {
    params["sessionId"].as_str().unwrap_or_default()
}

fn find_open<'a>(
    open: &'a HashMap<String, OpenSession>,
    params: &Value,
) -> Result<&'a OpenSession, RpcError> {
    open.get(session_of(params)).ok_or_else(|| not_open(params))
}

fn not_open(params: &Value) -> RpcError {
    let id = session_of(params);
    let reason = format!("the session {id:?} is not open; begin or load it first");
    RpcError::new(RpcError::NOT_FOUND, reason)
}

/// Returns the MCP servers of an editor as a file of servers has them.
///
/// # Errors
/// Returns an error if one is reached in a way that is not offered, or malformed.
fn servers(given: &Value) -> Result<Value, RpcError> {
    #[derive(Deserialize)]
    struct Given {
        name: String,
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: Vec<Variable>,
    }
    #[derive(Deserialize)]
    struct Variable {
        name: String,
        value: String,
    }
    let given = Option::<Vec<Given>>::deserialize(given).map_err(|error| {
        let reason = format!("the MCP servers cannot be read, or one is no program: {error}");
        RpcError::new(RpcError::PARAMS, reason)
    })?;
    let servers = given.unwrap_or_default().into_iter().map(|server| {
        let env = server.env.into_iter().map(|set| (set.name, set.value));
        let env: BTreeMap<_, _> = env.collect();
        let entry = json!({"command": server.command, "args": server.args, "env": env});
        (server.name, entry)
    });
    Ok(servers.collect::<serde_json::Map<_, _>>().into())
}

fn internal(error: impl ToString) -> RpcError {
    RpcError::new(RpcError::INTERNAL, error.to_string())
}

/// Returns the name of the workspace in a directory.
fn workspace(cwd: &str) -> Result<String, RpcError> {
    let path = Path::new(cwd);
    if !path.is_absolute() || !path.is_dir() {
        let reason = format!("the cwd {cwd:?} is no absolute path of a directory");
        return Err(RpcError::new(RpcError::PARAMS, reason));
    }
    host::folders::workspace(path)
        .map_err(|error| RpcError::new(RpcError::PARAMS, error.to_string()))
}

impl std::fmt::Debug for EditorServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditorServer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
