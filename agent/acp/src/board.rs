//! [`Board`]: a session as its client shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use agent::{Event, EventSink, Exhausted, PlanItem, PlanStatus, Summary};
use host::sessions::CommandSession;
use serde_json::{Value, json};
use tools::protocol::{Message, Part, Role};
use tools::{IgnorePoison as _, Json, Target, ToolResult};

use crate::card::{Card, Status, content_of, result_content};
use crate::client::Client;
use crate::content::{pieces, text_block, to_block};

/// A session as its client shows it: sends the updates about a run, and about a conversation that is loaded.
pub(crate) struct Board {
    pub(crate) client: Client,
    root: PathBuf,
    /// The id of the session. It is known before the first update.
    id: OnceLock<String>,
    /// Locked while an update is sent, so that updates of parallel calls keep the order of their statuses.
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// The announced calls of the session, by id.
    cards: BTreeMap<String, Card>,
    /// The notes that the next turn begins with.
    notes: Vec<String>,
    /// The end of the last run.
    summary: Option<Summary>,
}

impl Board {
    pub(crate) fn new(client: Client, root: PathBuf) -> Self {
        Self {
            client,
            root,
            id: OnceLock::new(),
            shown: Mutex::default(),
        }
    }

    /// Sets the id of the session, once.
    pub(crate) fn set_id(&self, id: &str) {
        // A second call would be a fault of this crate, and the first id stays.
        let _ = self.id.set(id.to_owned());
    }

    /// Returns the id of the session.
    pub(crate) fn id(&self) -> &str {
        self.id.get().map_or("", String::as_str)
    }

    /// Sends an update.
    pub(crate) fn update(&self, update: Value) {
        let params = json!({"sessionId": self.id(), "update": update});
        self.client.notify("session/update", params);
    }

    /// Sends text of the agent.
    pub(crate) fn say(&self, text: &str) {
        self.chunks("agent_message_chunk", text);
    }

    /// Sets the notes that the next turn begins with.
    pub(crate) fn set_notes(&self, notes: Vec<String>) {
        self.shown.lock().ignore_poison().notes = notes;
    }

    /// Sends the commands that a prompt may be.
    pub(crate) fn say_commands(&self) {
        let about = "Replace older messages by a summary of the model";
        let commands = json!([{"name": "compact", "description": about}]);
        self.update(
            json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
        );
    }

    /// Sends the notes, once.
    pub(crate) fn say_notes(&self) {
        let notes = std::mem::take(&mut self.shown.lock().ignore_poison().notes);
        for note in notes {
            self.say(&format!("(Note: {note}.)\n\n"));
        }
    }

    /// Sends the conversation of a session, as its runs would have.
    pub(crate) fn replay(&self, session: &dyn CommandSession) {
        for message in session.messages() {
            self.replay_message(&message, session);
        }
        if let Some(plan) = session.context().service::<agent::Plan>() {
            let items = plan.items();
            if !items.is_empty() {
                self.plan(&items);
            }
        }
    }

    fn replay_message(&self, message: &Message, session: &dyn CommandSession) {
        let chunk = match message.role {
            Role::User => "user_message_chunk",
            Role::Assistant => "agent_message_chunk",
            // The system text is none of the conversation.
            Role::System => return,
            _ => "agent_message_chunk",
        };
        for part in &message.parts {
            match part {
                Part::Content(content) => match content.as_text() {
                    Some(text) => self.chunks(chunk, text),
                    None => {
                        self.update(json!({"sessionUpdate": chunk, "content": to_block(content)}));
                    }
                },
                Part::Reasoning { text, .. } => self.chunks("agent_thought_chunk", text),
                Part::ToolCall(call) => {
                    let (arguments, targets) = session.shown_call(call);
                    self.start(&call.id, &call.name, None, &arguments, &targets, true);
                }
                Part::ToolResult { id, result, .. } => self.end(id, result),
                _ => {}
            }
        }
    }

    /// Ends a turn: its questions are withdrawn, and calls without a result, such as those of a cancelled sub-agent, have failed. Returns the end
    /// of the run.
    pub(crate) fn end_turn(&self) -> Option<Summary> {
        self.client.withdraw(self.id(), None);
        let mut shown = self.shown.lock().ignore_poison();
        let open = shown.cards.values().filter(|card| !card.status.is_end());
        let open: Vec<_> = open.map(|card| card.id.clone()).collect();
        for id in open {
            self.advance(&mut shown, &id, Status::Failed, None);
        }
        shown.summary.take()
    }

    /// Returns the card of a call that asks. A sub-agent's calls are known by its path and their id, so the last one that is open counts.
    pub(crate) fn asking(&self, call: Option<&str>) -> Option<Card> {
        let call = call?;
        let shown = self.shown.lock().ignore_poison();
        let exact = shown.cards.get(call).filter(|card| !card.status.is_end());
        let suffix = format!("/{call}");
        let mut others = shown.cards.values().rev();
        let found = exact
            .or_else(|| others.find(|card| !card.status.is_end() && card.id.ends_with(&suffix)));
        found.cloned()
    }

    /// Shows that a call runs.
    pub(crate) fn run(&self, id: &str) {
        let mut shown = self.shown.lock().ignore_poison();
        self.advance(&mut shown, id, Status::InProgress, None);
    }

    fn chunks(&self, chunk: &str, text: &str) {
        for piece in pieces(text) {
            self.update(json!({"sessionUpdate": chunk, "content": text_block(piece)}));
        }
    }

    fn plan(&self, items: &[PlanItem]) {
        let entries = items.iter().map(|PlanItem { text, status }| {
            let status = match status {
                PlanStatus::Open => "pending",
                PlanStatus::Active => "in_progress",
                PlanStatus::Done => "completed",
            };
            json!({"content": text, "priority": "medium", "status": status})
        });
        let entries: Vec<_> = entries.collect();
        self.update(json!({"sessionUpdate": "plan", "entries": entries}));
    }

    /// Announces a call. One that a loaded conversation has shown already goes on.
    fn start(
        &self,
        id: &str,
        name: &str,
        agent: Option<&str>,
        arguments: &Json,
        targets: &[Target],
        asks: bool,
    ) {
        let mut shown = self.shown.lock().ignore_poison();
        let known = shown.cards.get(id).map(|card| card.status);
        if known.is_none() {
            let mut card = Card::new(id.to_owned(), name, agent, arguments, targets, &self.root);
            if !asks {
                card.status = Status::InProgress;
            }
            self.update(card.to_announcement());
            shown.cards.insert(id.to_owned(), card);
        } else if !asks {
            self.advance(&mut shown, id, Status::InProgress, None);
        }
    }

    fn end(&self, id: &str, result: &ToolResult) {
        let status = if result.is_error {
            Status::Failed
        } else {
            Status::Completed
        };
        self.client.withdraw(self.id(), Some(id));
        let mut shown = self.shown.lock().ignore_poison();
        self.advance(&mut shown, id, status, Some(result_content(result)));
    }

    /// Sends a later status of a call, or content of one that runs.
    fn advance(&self, shown: &mut Shown, id: &str, status: Status, content: Option<Vec<Value>>) {
        let Some(card) = shown.cards.get_mut(id) else {
            return;
        };
        if card.status.is_end() || (status <= card.status && content.is_none()) {
            return;
        }
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
        if status > card.status {
            card.status = status;
            update["status"] = status.name().into();
        }
        if let Some(content) = content {
            update["content"] = content.into();
        }
        self.update(update);
    }

    /// Takes an event of the session's own run, or of the sub-agent with this path that a call has started.
    fn take(&self, event: &Event, of: Option<(&str, &str)>) {
        let id_of = |id: &str| match of {
            Some((call, agent)) => format!("{call}/{agent}/{id}"),
            None => id.to_owned(),
        };
        match event {
            Event::CallStarted {
                id,
                name,
                arguments,
                targets,
                rulings,
            } => {
                let mut verdicts = rulings.iter().map(|ruling| &ruling.value()["verdict"]);
                let asks = verdicts.any(|verdict| verdict == "ask");
                let agent = of.map(|(_, agent)| agent);
                self.start(&id_of(id), name, agent, arguments, targets, asks);
            }
            Event::Progress { id, progress, .. } => {
                let counted = progress.done.map(|done| match progress.total {
                    Some(total) => format!("{done} of {total}"),
                    None => done.to_string(),
                });
                let texts = progress.message.clone().into_iter().chain(counted);
                let text = tools::join(texts, " ");
                let mut shown = self.shown.lock().ignore_poison();
                let content = vec![content_of(text_block(&text))];
                self.advance(&mut shown, &id_of(id), Status::Pending, Some(content));
            }
            Event::Result { id, result, .. } => self.end(&id_of(id), result),
            Event::ApprovalDeferred { id, .. } => {
                let mut shown = self.shown.lock().ignore_poison();
                self.advance(&mut shown, &id_of(id), Status::Failed, None);
            }
            Event::SubAgent { agent, call, event } if of.is_none() => {
                self.take(event, Some((call, agent)));
            }
            // The texts, the plan and the end of a sub-agent are its own.
            _ if of.is_some() => {}
            Event::Text { text } => self.say(text),
            Event::Steered { text } => self.chunks("user_message_chunk", text),
            Event::Compacted(_) => {
                self.say("\n\n(Older messages are left out of requests from here on.)\n\n");
            }
            Event::PlanChanged { items } => self.plan(items),
            Event::ReplyRejected {
                reason,
                withdraws_text: true,
            } => self.say(&format!("\n\n(The text above is withdrawn: {reason}.)\n\n")),
            Event::RequestRetried(retry) if retry.withdraws_text => {
                self.say(
                    "\n\n(The text above is withdrawn: its request failed and is repeated.)\n\n",
                );
            }
            Event::ModelChanged(change) if change.withdraws_text => {
                self.say("\n\n(The text above is withdrawn: another model takes over.)\n\n");
            }
            Event::Done(summary) => {
                self.shown.lock().ignore_poison().summary = Some(summary.clone());
            }
            _ => {}
        }
    }
}

impl EventSink for Board {
    fn send(&self, event: Event) {
        self.take(&event, None);
    }
}

/// Returns the text about a limit that ended a run.
pub(crate) fn limit_text(exhausted: &Exhausted) -> String {
    format!("\n\n(The run has ended: {exhausted}.)")
}
