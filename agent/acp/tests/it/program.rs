//! [`Program`]: the sessions of a small program, in memory.

use std::any::Any;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use agent::{Driver, Provider, RunObserver, Scripted, Selection, Session, Turn};
use host::sessions::{
    CommandSession, RecordedSession, SessionEnd, SessionFuture, SessionInput, SessionScope,
    Sessions, UnfinishedRun,
};
use host::settings::Settings;
use host::{CommandError, Exit, Retention};
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::protocol::Message;
use tools::{
    CancellationToken, Catalog, Effects, Grant, Host, Json, Policy, Target, Tool, ToolCall,
    ToolContext,
};

/// A program whose sessions play the same script over the tools `read`, `write`, `wait` and `big`.
#[derive(Clone)]
pub(crate) struct Program {
    provider: Arc<dyn Provider>,
    /// The conversations by session.
    stored: Arc<Mutex<HashMap<String, Vec<Message>>>>,
    /// The calls that have run.
    pub(crate) ran: Arc<Mutex<Vec<String>>>,
}

impl Program {
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::of(Arc::new(Scripted::new(turns)))
    }

    pub(crate) fn of(provider: Arc<dyn Provider>) -> Self {
        Self {
            provider,
            stored: Arc::default(),
            ran: Arc::default(),
        }
    }

    /// Returns the calls that have run.
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    fn catalog(&self) -> Catalog {
        let mut catalog = Catalog::new();
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path"]});
        for (name, effects) in [
            ("read", json!({"reads": ["fs:{path}"]})),
            ("write", json!({"writes": ["fs:{path}"]})),
        ] {
            let effects: Effects = serde_json::from_value(effects).unwrap();
            let tool = Tool::new(name, "Uses a file.", parameters.clone()).unwrap();
            let ran = self.ran.clone();
            let handler = move |_: ToolContext, arguments: Value| {
                let path = arguments["path"].as_str().unwrap_or_default();
                ran.lock().unwrap().push(format!("{name} {path}"));
                async { "# done".to_owned() }
            };
            catalog
                .register(tool.with_effects(effects), handler)
                .unwrap();
        }
        let object = json!({"type": "object"});
        let pure = |name: &str| {
            let tool = Tool::new(name, "Works.", object.clone()).unwrap();
            tool.with_effects(Effects::Pure)
        };
        catalog
            .register(pure("wait"), async |_: ToolContext, _: Value| {
                std::future::pending::<String>().await
            })
            .unwrap();
        catalog
            .register(pure("big"), async |_: ToolContext, _: Value| {
                "`".repeat(200_000)
            })
            .unwrap();
        catalog
    }
}

/// Returns a turn with one call.
pub(crate) fn calling(name: &str, arguments: Value) -> Turn {
    Turn::calls([ToolCall::new(format!("{name}-1"), name, arguments)])
}

impl Sessions for Program {
    fn settings(&self, _: Option<Arc<dyn SessionScope>>) -> SessionFuture<'_, Settings> {
        Box::pin(async { Ok(Settings::default()) })
    }

    fn has_provider(&self, _: &Settings) -> bool {
        true
    }

    fn check_model(&self, _: &Settings) -> Result<(), CommandError> {
        Ok(())
    }

    fn retention(&self, _: &Settings) -> Option<Retention> {
        None
    }

    fn share<'a>(
        &'a self,
        _: &'a Settings,
        _: &'a CancellationToken,
    ) -> SessionFuture<'a, Box<dyn Any + Send>> {
        Box::pin(async { Ok(Box::new(()) as Box<dyn Any + Send>) })
    }

    fn list(&self, _: Option<String>) -> SessionFuture<'_, Vec<RecordedSession>> {
        Box::pin(async {
            let stored = self.stored.lock().unwrap();
            Ok(stored.keys().map(|id| recorded(id)).collect())
        })
    }

    fn find(&self, id: String) -> SessionFuture<'_, Option<RecordedSession>> {
        Box::pin(async move {
            let stored = self.stored.lock().unwrap();
            Ok(stored.get(&id).map(|_| recorded(&id)))
        })
    }

    fn open(
        &self,
        scope: Arc<dyn SessionScope>,
        cancellation: CancellationToken,
    ) -> SessionFuture<'_, Box<dyn CommandSession>> {
        Box::pin(async move {
            let mut stored = self.stored.lock().unwrap();
            let id = scope.recorded();
            let id = id.unwrap_or_else(|| format!("s{}", stored.len() + 1));
            let messages = stored.entry(id.clone()).or_default().clone();
            let host = Host::new()
                .with_grant(Grant::parse(["fs:read:**", "fs:write:**", "user:read:**"]).unwrap())
                .with_policy(Policy::by_effects())
                .with_cancellation(cancellation)
                .with_session(id.clone());
            let mut entries = self.catalog().list();
            entries.extend(tools::list());
            entries.retain(|entry| scope.has_tool(entry.name().as_str()));
            let session = Session::new(entries, Selection::new(), scope.enter(host));
            Ok(Box::new(ProgramSession {
                id,
                session: session.with_messages(messages),
                driver: Driver::new(self.provider.clone()),
                stored: self.stored.clone(),
            }) as Box<dyn CommandSession>)
        })
    }
}

fn recorded(id: &str) -> RecordedSession {
    RecordedSession {
        id: id.to_owned(),
        workspace: root(),
        title: "A prompt".to_owned(),
        changed: "2026-11-30T22:00:00Z".to_owned(),
    }
}

/// Returns the root of all sessions.
pub(crate) fn root() -> String {
    let root = std::env::temp_dir().canonicalize().unwrap();
    root.to_string_lossy().into_owned()
}

struct ProgramSession {
    id: String,
    session: Session,
    driver: Driver,
    stored: Arc<Mutex<HashMap<String, Vec<Message>>>>,
}

impl CommandSession for ProgramSession {
    fn context(&self) -> &ToolContext {
        self.session.context()
    }

    fn length(&self) -> usize {
        self.session.messages().len()
    }

    fn messages(&self) -> Vec<Message> {
        self.session.messages().to_vec()
    }

    fn shown_call(&self, call: &ToolCall) -> (Json, Vec<Target>) {
        self.session.shown_call(call)
    }

    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    fn next_place(&self) -> CallPlace {
        CallPlace::new(self.session.turns(), 0)
    }

    fn earlier_run(&self) -> Option<UnfinishedRun> {
        None
    }

    fn is_stored(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { true })
    }

    fn run(&mut self, input: SessionInput) -> SessionFuture<'_, SessionEnd> {
        Box::pin(async move {
            let observer = self.session.context().service::<RunObserver>().unwrap();
            let events = observer.events();
            let driver = self.driver.clone().with_handle(observer.handle());
            let driver = driver.with_events(move |event| events.send(event));
            let session = &mut self.session;
            let ended = match input {
                SessionInput::Content(content) => {
                    driver.run(session, agent::Prompt::from(content)).await
                }
                SessionInput::Compact => driver.compact(session).await,
                input => panic!("{input:?}"),
            };
            let messages = self.session.messages().to_vec();
            self.stored
                .lock()
                .unwrap()
                .insert(self.id.clone(), messages);
            let error = match ended {
                Ok(_) => CommandError::new(Exit::Success, "no text"),
                Err(error) => CommandError::new(Exit::Failed, error),
            };
            Ok(SessionEnd::failed(error))
        })
    }

    fn resume(&mut self) -> SessionFuture<'_, SessionEnd> {
        unreachable!("there is no earlier run")
    }

    fn give_up(&mut self) -> SessionFuture<'_, ()> {
        unreachable!("there is no earlier run")
    }
}
