//! [`Session`]: one conversation and the tools it may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tools::protocol::{Message, Role};
use tools::{Arguments, Entry, Execution, Grant, Policy, ToolContext};

use crate::{Selection, SystemText, ToolSet};

/// A conversation: its [`ToolSet`], the facts that every call is made with (grant, services, approver, session id), what the
/// model is told before it begins, and what was said so far. Nothing that a session does reaches a tool outside of its set.
///
/// The turns of its model are numbered, for the [journal](tools::journal) of its context. Clones number theirs together.
///
/// The set is made when the session begins. What is registered later is not in it until [`refresh`](Self::refresh).
#[derive(Clone, Debug)]
pub struct Session {
    tools: ToolSet,
    selection: Selection,
    cx: ToolContext,
    system: SystemText,
    messages: Vec<Message>,
    turns: Arc<AtomicU64>,
}

impl Session {
    /// A session over the selected ones of these tools, as far as the context has the services that they need.
    ///
    /// The context's progress sink is not used: a run tells its [events](crate::Event) instead.
    pub fn new(entries: impl IntoIterator<Item = Arc<Entry>>, selection: Selection, cx: ToolContext) -> Self {
        let tools = ToolSet::new(entries, &selection, cx.services());
        Self { tools, selection, cx, system: SystemText::new(), messages: Vec::new(), turns: Arc::default() }
    }

    /// Begins with what was said before, in the place of what is there.
    #[must_use]
    pub fn with_messages(mut self, messages: Vec<Message>) -> Self {
        self.messages = messages;
        self
    }

    /// Sets what the model is told before the conversation begins, from the next run on. It is no part of the conversation: it
    /// stays when that is [cleared](Self::clear), kept or put back.
    #[must_use]
    pub fn with_system(mut self, system: SystemText) -> Self {
        self.system = system;
        self
    }

    /// The tools.
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

    /// The rules that the tools were selected by.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The facts that calls are made with.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }

    /// What the model is told before the conversation begins.
    pub fn system(&self) -> &SystemText {
        &self.system
    }

    /// The same as the message that goes before all others whenever the model is asked, `None` when it is empty.
    pub fn system_message(&self) -> Option<Message> {
        let text = self.system.render(&self.tools);
        (!text.is_empty()).then(|| Message::text(Role::System, text))
    }

    /// What was said so far. The system text is not in it.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many turns of the model there were, those of runs that were dropped included.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Adds a message.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Forgets the conversation, but for system messages that were added to it.
    pub fn clear(&mut self) {
        self.messages.retain(|message| message.role == Role::System);
    }

    /// Changes what calls may touch, from the next one on.
    pub fn set_grant(&mut self, grant: Grant) {
        self.cx = self.cx.clone().with_grant(grant);
    }

    /// Changes which of the granted calls run, are asked about and are refused, from the next one on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.cx = self.cx.clone().with_policy(policy);
    }

    /// Selects again, by the same rules, from these tools.
    pub fn refresh(&mut self, entries: impl IntoIterator<Item = Arc<Entry>>) {
        self.tools = ToolSet::new(entries, &self.selection, self.cx.services());
    }

    /// Selects from these tools by other rules.
    pub fn select(&mut self, selection: Selection, entries: impl IntoIterator<Item = Arc<Entry>>) {
        self.selection = selection;
        self.refresh(entries);
    }

    /// Runs one of the session's tools outside of the conversation.
    ///
    /// # Errors
    /// As [`ToolSet::execute`].
    pub fn execute(&self, name: &str, arguments: impl Into<Arguments>) -> Execution {
        self.tools.execute(&self.cx, name, arguments)
    }

    /// Takes note of a turn, so that no later one has its number.
    pub(crate) fn reach_turn(&self, turn: u64) {
        self.turns.fetch_max(turn, Ordering::Relaxed);
    }

    pub(crate) fn set_messages(&mut self, messages: Vec<Message>) {
        self.messages = messages;
    }
}
