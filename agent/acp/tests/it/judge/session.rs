//! [`SessionState`]: the order rules of a session.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The state of a session that is open, or being loaded.
#[derive(Default)]
pub(crate) struct SessionState {
    /// The number of prompts without an answer.
    pub(crate) prompts: u32,
    /// The number of these that the client has cancelled.
    pub(crate) cancelled: u32,
    pub(crate) is_loading: bool,
    /// True after the answer that opens it, so that a second load does not.
    pub(crate) was_open: bool,
    /// True if what is loaded is to be shown.
    is_replayed: bool,
    calls: HashMap<String, Call>,
}

/// A call that was announced.
#[derive(Default)]
struct Call {
    status: Status,
    /// The kinds of the options of its open question, by id.
    question: Option<HashMap<String, String>>,
    /// True if the last answer was a no.
    is_refused: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl Status {
    fn parse(status: &Value) -> Option<Self> {
        Some(match status.as_str()? {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            _ => Self::Failed,
        })
    }

    fn is_end(self) -> bool {
        self >= Self::Completed
    }
}

impl SessionState {
    /// Begins to load the session.
    pub(crate) fn begin(&mut self, is_replayed: bool) {
        self.is_loading = true;
        self.is_replayed = is_replayed && !self.was_open;
    }

    /// Takes the answer to a prompt.
    pub(crate) fn end_prompt(&mut self, reason: Option<&str>) -> Result<(), String> {
        self.prompts = self.prompts.saturating_sub(1);
        let is_cancelled = self.cancelled > 0;
        self.cancelled = self.cancelled.saturating_sub(1);
        if is_cancelled != (reason == Some("cancelled")) {
            return Err(format!(
                "a prompt ends with {reason:?}, and its cancellation is {is_cancelled}"
            ));
        }
        let mut open = self.calls.iter().filter(|(_, call)| !call.status.is_end());
        match open.next() {
            Some((id, _)) if self.prompts == 0 => {
                Err(format!("a prompt is answered before the end of call {id}"))
            }
            _ => Ok(()),
        }
    }

    /// Takes a question. Returns its call.
    pub(crate) fn ask(&mut self, params: &Value) -> Result<String, String> {
        if self.prompts == 0 {
            return Err("a question comes outside of a turn".to_owned());
        }
        let update = &params["toolCall"];
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        let call = self.calls.get_mut(&id);
        let call = call.ok_or("a question is about an unknown call")?;
        if call.status.is_end() || call.question.is_some() {
            return Err("a question is about a call that has ended or asks already".to_owned());
        }
        let options = params["options"].as_array().cloned().unwrap_or_default();
        let kinds: HashMap<String, String> = options
            .iter()
            .map(|option| [&option["optionId"], &option["kind"]])
            .map(|texts| texts.map(|text| text.as_str().unwrap_or_default().to_owned()))
            .map(|[id, kind]| (id, kind))
            .collect();
        let names: HashSet<_> = options
            .iter()
            .map(|option| option["name"].as_str())
            .collect();
        if kinds.is_empty() || kinds.len() < options.len() || names.len() < options.len() {
            return Err("a question has no options, or two with one id or name".to_owned());
        }
        if !kinds.values().any(|kind| kind.starts_with("reject")) {
            return Err("a question cannot be answered with a no".to_owned());
        }
        check_paths(update)?;
        call.question = Some(kinds);
        Ok(id)
    }

    /// Takes the answer of the client to a question, or its end without an answer.
    pub(crate) fn answer(&mut self, id: &str, option: Option<&str>) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let kinds = call.question.take().unwrap_or_default();
        let kind = option.and_then(|option| kinds.get(option));
        call.is_refused = !kind.is_some_and(|kind| kind.starts_with("allow"));
    }

    /// Takes an update.
    pub(crate) fn update(&mut self, kind: &str, update: &Value) -> Result<(), String> {
        let is_turn = self.prompts > 0 || (self.is_loading && self.is_replayed);
        let of_turns = [
            "user_message_chunk",
            "agent_message_chunk",
            "agent_thought_chunk",
            "tool_call",
            "tool_call_update",
            "plan",
        ];
        if of_turns.contains(&kind) && !is_turn {
            return Err(format!("{kind} comes outside of a turn"));
        }
        if self.is_loading && kind == "available_commands_update" {
            return Err("commands come before the answer of the load".to_owned());
        }
        let id = update["toolCallId"].as_str().unwrap_or_default();
        match kind {
            "tool_call" => {
                check_paths(update)?;
                let status = Status::parse(&update["status"]).unwrap_or_default();
                let call = Call {
                    status,
                    ..Call::default()
                };
                match self.calls.insert(id.to_owned(), call) {
                    Some(_) => Err("two calls have one id".to_owned()),
                    None => Ok(()),
                }
            }
            "tool_call_update" => {
                check_paths(update)?;
                let call = self.calls.get_mut(id);
                let call = call.ok_or("an update is about an unknown call")?;
                call.go_on(Status::parse(&update["status"]))
            }
            _ => Ok(()),
        }
    }
}

impl Call {
    fn go_on(&mut self, status: Option<Status>) -> Result<(), String> {
        if self.status.is_end() {
            return Err("an update is about a call that has ended".to_owned());
        }
        let Some(status) = status else {
            return Ok(());
        };
        if status < self.status {
            return Err(format!("a call goes from {:?} to {status:?}", self.status));
        }
        if self.question.is_some() && status > Status::Pending {
            return Err(format!("a call is {status:?} before the answer about it"));
        }
        if self.is_refused && status != Status::Failed {
            return Err(format!("a refused call is {status:?}"));
        }
        self.status = status;
        Ok(())
    }
}

/// Checks that all paths are absolute.
fn check_paths(update: &Value) -> Result<(), String> {
    let items = |field: &str| update[field].as_array().cloned().unwrap_or_default();
    let paths = items("locations").into_iter().chain(items("content"));
    let mut paths = paths.filter_map(|item| item["path"].as_str().map(str::to_owned));
    match paths.find(|path| !path.starts_with('/')) {
        Some(path) => Err(format!("the path {path} is not absolute")),
        None => Ok(()),
    }
}
