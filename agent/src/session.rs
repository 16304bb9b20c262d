//! [`Session`]: one conversation and the tools it may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tools::{Arguments, Entry, Execution, Grant, Message, Role, ToolContext};

use crate::{Selection, ToolSet};

/// A conversation: its [`ToolSet`], the facts that every call is made with (grant, services, approver, session id), and what
/// was said so far. Nothing that a session does reaches a tool outside of its set.
///
/// The turns of its model are numbered, for the [journal](tools::journal) of its context. Clones number theirs together.
///
/// The set is made when the session begins. What is registered later is not in it until [`refresh`](Self::refresh).
#[derive(Clone, Debug)]
pub struct Session {
    tools: ToolSet,
    selection: Selection,
    cx: ToolContext,
    messages: Vec<Message>,
    turns: Arc<AtomicU64>,
}

impl Session {
    /// A session over the selected ones of these tools, as far as the context has the services that they need.
    ///
    /// The context's progress sink is not used: a run tells its [events](crate::Event) instead.
    pub fn new(entries: impl IntoIterator<Item = Arc<Entry>>, selection: Selection, cx: ToolContext) -> Self {
        let tools = ToolSet::new(entries, &selection, cx.services());
        Self { tools, selection, cx, messages: Vec::new(), turns: Arc::default() }
    }

    /// Begins with what was said before, in the place of what is there.
    #[must_use]
    pub fn with_messages(mut self, messages: Vec<Message>) -> Self {
        self.messages = messages;
        self
    }

    /// Says how many turns of the model there were before: for a session that goes on under the name that it had in another
    /// process. [`Driver::resume`](crate::Driver::resume) does so itself.
    #[must_use]
    pub fn with_turns(mut self, turns: u64) -> Self {
        self.turns = Arc::new(turns.into());
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

    /// What was said so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many turns of the model there were, those of runs that were dropped included.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Adds a message, such as a system text.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Forgets the conversation, but for system messages.
    pub fn clear(&mut self) {
        self.messages.retain(|message| message.role == Role::System);
    }

    /// Changes what calls may touch, from the next one on.
    pub fn set_grant(&mut self, grant: Grant) {
        self.cx = self.cx.clone().with_grant(grant);
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
