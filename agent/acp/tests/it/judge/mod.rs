//! [`Judge`]: the oracle of a connection. It checks each line of the agent with the JSON schema of version 1, and with the order rules.
//!
//! Public clients accept much that the protocol forbids, so no test relies on them.

mod schema;
mod session;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use self::schema::{Part, Schema};
use self::session::SessionState;

/// The longest line that clients take for certain, in bytes.
pub(crate) const MAX_LINE: usize = 1024 * 1024;

/// Follows a connection, line by line, and collects the violations of the agent.
pub(crate) struct Judge {
    schema: &'static Schema,
    /// The requests of the client without an answer, with their sessions: by id.
    open: HashMap<String, OpenRequest>,
    /// The requests of the agent without an answer: by id.
    asked: HashMap<String, Asked>,
    used_ids: HashSet<String>,
    sessions: HashMap<String, SessionState>,
    has_forms: bool,
    has_notices: bool,
    has_compactions: bool,
    violations: Vec<String>,
}

/// A request of the client.
struct OpenRequest {
    method: String,
    session: Option<String>,
}

/// A request of the agent.
struct Asked {
    method: String,
    session: String,
    call: Option<String>,
}

impl Judge {
    pub(crate) fn new() -> Self {
        Self {
            schema: Schema::shared(),
            open: HashMap::new(),
            asked: HashMap::new(),
            used_ids: HashSet::new(),
            sessions: HashMap::new(),
            has_forms: false,
            has_notices: false,
            has_compactions: false,
            violations: Vec::new(),
        }
    }

    /// Returns the violations so far.
    pub(crate) fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Takes a line of the client. Its own mistakes are no violations.
    pub(crate) fn client(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let params = &message["params"];
        let session = params["sessionId"].as_str().map(str::to_owned);
        match (message.get("id"), message["method"].as_str()) {
            (Some(id), Some(method)) if !id.is_null() => {
                if method == "initialize" {
                    let capabilities = &params["clientCapabilities"];
                    self.has_forms = capabilities["elicitation"]["form"].is_object();
                    self.has_notices = capabilities["session"]["notices"].is_object();
                    self.has_compactions = capabilities["session"]["compaction"].is_object();
                }
                if let Some(session) = &session {
                    let state = self.sessions.get_mut(session);
                    match (method, state) {
                        ("session/prompt", Some(state)) => state.prompts += 1,
                        ("session/load" | "session/resume", Some(state)) => {
                            state.begin(method == "session/load");
                        }
                        ("session/load" | "session/resume", None) => {
                            let mut state = SessionState::default();
                            state.begin(method == "session/load");
                            self.sessions.insert(session.clone(), state);
                        }
                        _ => {}
                    }
                }
                let method = method.to_owned();
                let id = id.to_string();
                self.open.insert(id, OpenRequest { method, session });
            }
            (Some(id), None) => {
                if let Some(asked) = self.asked.remove(&id.to_string()) {
                    let state = self.sessions.get_mut(&asked.session);
                    if let (Some(state), Some(call)) = (state, asked.call) {
                        let option = message["result"]["outcome"]["optionId"].as_str();
                        state.answer(&call, option);
                    }
                }
            }
            (_, Some("session/cancel")) => {
                let state = session.and_then(|session| self.sessions.get_mut(&session));
                if let Some(state) = state {
                    state.cancelled = state.prompts;
                }
            }
            _ => {}
        }
    }

    /// Takes a line of the agent.
    pub(crate) fn agent(&mut self, line: &str) {
        if let Err(problem) = self.check(line) {
            let shown: String = line.chars().take(300).collect();
            self.violations.push(format!("{problem}: {shown}"));
        }
    }

    /// Ends the connection. Returns all violations.
    pub(crate) fn end(mut self) -> Vec<String> {
        for (id, request) in &self.open {
            let method = &request.method;
            let problem = format!("the request {id} of {method} has no answer");
            self.violations.push(problem);
        }
        self.violations
    }

    fn check(&mut self, line: &str) -> Result<(), String> {
        if line.len() > MAX_LINE {
            return Err(format!("a line has {} bytes", line.len()));
        }
        let message: Value =
            serde_json::from_str(line).map_err(|error| format!("a line is no JSON: {error}"))?;
        if message["jsonrpc"] != "2.0" {
            return Err("a message is not of JSON-RPC 2.0".to_owned());
        }
        match (message.get("id"), message["method"].as_str()) {
            (Some(id), Some(method)) => self.request(id, method, &message["params"]),
            (None, Some(method)) => self.notification(method, &message["params"]),
            (Some(id), None) => self.answer(id, &message),
            (None, None) => Err("a message is neither a request nor an answer".to_owned()),
        }
    }

    fn answer(&mut self, id: &Value, message: &Value) -> Result<(), String> {
        let (result, error) = (message.get("result"), message.get("error"));
        if result.is_some() == error.is_some() {
            return Err("an answer has not exactly one of result and error".to_owned());
        }
        if let Some(error) = error
            && let Some(problem) = self.schema.problem_of_error(error)
        {
            return Err(problem);
        }
        if id.is_null() {
            let code = error.map(|error| error["code"].clone());
            return match code.and_then(|code| code.as_i64()) {
                Some(-32700 | -32600) => Ok(()),
                _ => Err("an answer has no id".to_owned()),
            };
        }
        let Some(request) = self.open.remove(&id.to_string()) else {
            return Err("an answer belongs to no open request".to_owned());
        };
        let method = request.method.as_str();
        if let Some(result) = result
            && !method.starts_with('_')
            && let Some(problem) = self.schema.problem(Part::Result, method, result)
        {
            return Err(problem);
        }
        match (method, request.session, result) {
            ("session/new", _, Some(result)) => {
                let id = result["sessionId"].as_str().unwrap_or_default().to_owned();
                let mut state = SessionState::default();
                state.was_open = true;
                let former = self.sessions.insert(id, state);
                former.map_or(Ok(()), |_| {
                    Err("a new session has the id of another one".to_owned())
                })
            }
            ("session/load" | "session/resume", Some(session), _) => {
                if result.is_none() {
                    let of_others = |state: &mut SessionState| !state.was_open;
                    if self.sessions.get_mut(&session).is_some_and(of_others) {
                        self.sessions.remove(&session);
                    } else if let Some(state) = self.sessions.get_mut(&session) {
                        state.is_loading = false;
                    }
                } else if let Some(state) = self.sessions.get_mut(&session) {
                    state.is_loading = false;
                    state.was_open = true;
                }
                Ok(())
            }
            ("session/close", Some(session), Some(_)) => {
                let state = self.sessions.remove(&session);
                let prompts = state.map_or(0, |state| state.prompts);
                if prompts > 0 {
                    return Err("a session is closed before the answer to its prompt".to_owned());
                }
                Ok(())
            }
            ("session/prompt", Some(session), result) => {
                let asked = self.asked.values();
                let is_asking = asked.clone().any(|asked| asked.session == session);
                let Some(state) = self.sessions.get_mut(&session) else {
                    return match result {
                        Some(_) => Err("a prompt of an unknown session has a result".to_owned()),
                        None => Ok(()),
                    };
                };
                let reason = result.map(|result| result["stopReason"].clone());
                let reason = reason.as_ref().and_then(Value::as_str);
                let ended = state.end_prompt(reason);
                if is_asking && state.prompts == 0 {
                    return Err("a prompt is answered while its question is open".to_owned());
                }
                ended
            }
            _ => Ok(()),
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> Result<(), String> {
        if !self.used_ids.insert(id.to_string()) {
            return Err("two requests have one id".to_owned());
        }
        if !self.schema.is_of_client(method) {
            return Err(format!("clients do not handle {method}"));
        }
        if let Some(problem) = self.schema.problem(Part::Params, method, params) {
            return Err(problem);
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let state = self.sessions.get_mut(&session);
        let state = state.ok_or_else(|| format!("{method} is of an unknown session"))?;
        let mut call = None;
        match method {
            "session/request_permission" => call = Some(state.ask(params)?),
            "elicitation/create" if self.has_forms => {}
            // Version 2 removes files and terminals, and they would go around the walls.
            _ => return Err(format!("the client has not offered {method}")),
        }
        let method = method.to_owned();
        let asked = Asked {
            method,
            session,
            call,
        };
        self.asked.insert(id.to_string(), asked);
        Ok(())
    }

    fn notification(&mut self, method: &str, params: &Value) -> Result<(), String> {
        if let Some(problem) = self.schema.problem(Part::Params, method, params) {
            return Err(problem);
        }
        if method == "$/cancel_request" {
            let asked = self.asked.remove(&params["requestId"].to_string());
            let Some(asked) = asked else {
                return Err("a request is withdrawn that is not open".to_owned());
            };
            let state = self.sessions.get_mut(&asked.session);
            if let (Some(state), Some(call), "session/request_permission") =
                (state, asked.call, asked.method.as_str())
            {
                state.answer(&call, None);
            }
            return Ok(());
        }
        if method != "session/update" {
            return Err(format!("{method} is no notification of an agent"));
        }
        let session = params["sessionId"].as_str().unwrap_or_default();
        let state = self.sessions.get_mut(session);
        let state = state.ok_or("an update is of an unknown session")?;
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if (kind == "notice" && !self.has_notices)
            || (kind.starts_with("compaction") && !self.has_compactions)
        {
            return Err(format!("the client takes no {kind}"));
        }
        state.update(kind, update)
    }
}
