//! [`Session`]: a conversation and its tools.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tools::context::{Exposure, KnownTexts};
use tools::protocol::{Message, Role};
use tools::{
    Arguments, Entry, Execution, Host, IgnorePoison as _, Json, Services, Target, ToolCall,
    ToolContext,
};

use crate::disclosure::{Disclosure, SessionDisclosure, is_of_search};
use crate::event::{Event, EventSink};
use crate::models::with_session_model;
use crate::plan::{Plan, plan_of};
use crate::prefix::Prefix;
use crate::run::{Compaction, Run, Writers};
use crate::selection::Selection;
use crate::system::SystemText;
use crate::tool_set::ToolSet;

/// A conversation, its [`ToolSet`], the [`ToolContext`] of its calls and its [`SystemText`].
///
/// - Calls never reach a tool outside the tool set, nested calls included.
/// - The tool set is fixed when the session is created. [`refresh`](Self::refresh) selects again from a changed catalog.
/// - The model's turns are numbered for the [journal](tools::journal). Clones share the numbering and the [`Plan`].
#[derive(Clone, Debug)]
pub struct Session {
    tools: ToolSet,
    selection: Selection,
    cx: ToolContext,
    system: SystemText,
    pub(crate) disclosure: SessionDisclosure,
    messages: Vec<Message>,
    /// The parts of the conversation that requests leave out.
    pub(crate) compaction: Compaction,
    /// The models that wrote the conversation.
    pub(crate) writers: Writers,
    turns: Arc<AtomicU64>,
    /// The receiver of the events of work that outlives a run.
    pub(crate) events: SessionEvents,
    /// The prompt prefix of the last run.
    pub(crate) prefix: Option<Prefix>,
    /// The last run, if it waits for approvals.
    waiting: Option<Run>,
}

impl Session {
    /// Creates a session with the selected tools whose services the context offers. With [`Models`](crate::Models), the model of the
    /// session is the default of `llm.generate`.
    ///
    /// The context's progress sink is not used: a run sends [events](crate::Event) instead. The session gets a [`Plan`] unless the
    /// context has one. In a call, it always gets its own, because that of the context belongs to the agent that made the call, and
    /// so do [services of which each agent has its own](tools::Services::insert_per_agent). Its [`Exposure`] and its
    /// [`KnownTexts`] are those of the context, if it has them, or new ones.
    pub fn new(
        entries: impl IntoIterator<Item = Arc<Entry>>,
        selection: Selection,
        cx: impl Into<ToolContext>,
    ) -> Self {
        let cx = cx.into();
        let is_sub_agent = cx.depth() > 0;
        let mut services = if is_sub_agent {
            cx.services().for_sub_agent()
        } else {
            cx.services().clone()
        };
        // A sub-agent would write over the plan of its agent.
        if is_sub_agent || services.get::<Plan>().is_none() {
            services.insert(Plan::new());
        }
        // Sub-agents share both of these: once a text is read, all of them may act on it.
        if services.get::<Exposure>().is_none() {
            services.insert(Exposure::new());
        }
        if services.get::<KnownTexts>().is_none() {
            services.insert(KnownTexts::new());
        }
        let cx = cx.with_services(services);
        let mut disclosure = SessionDisclosure::default();
        let tools = tool_set(entries, &selection, cx.services(), &mut disclosure);
        Self {
            tools,
            selection,
            cx,
            system: SystemText::new(),
            disclosure,
            messages: Vec::new(),
            compaction: Compaction::default(),
            writers: Writers::default(),
            turns: Arc::default(),
            events: SessionEvents::default(),
            prefix: None,
            waiting: None,
        }
    }

    /// Replaces the conversation, for example with an earlier one, and the [`Plan`] with that of the conversation.
    #[must_use]
    pub fn with_messages(mut self, messages: Vec<Message>) -> Self {
        self.restore_plan(&messages);
        self.messages = messages;
        self.compaction = Compaction::default();
        self.writers = Writers::default();
        self.waiting = None;
        self
    }

    /// Sets the system text, which takes effect with the next run. It is not part of the conversation, so
    /// [`clear`](Self::clear) keeps it.
    #[must_use]
    pub fn with_system(mut self, system: SystemText) -> Self {
        self.system = system;
        self
    }

    /// Sets the tools that requests offer. By default, the model [searches](Disclosure::Search) if there are many. The session offers
    /// everything if its catalog does not have [`tools.search` and `tools.call`](crate::tool).
    #[must_use]
    pub fn with_disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure.disclosure = disclosure;
        self.disclosure.forget_tools();
        self
    }

    /// Returns the tool set.
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

    /// Returns the selection that chose the tools.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the context of the session's calls.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }

    /// Returns the system text.
    pub fn system(&self) -> &SystemText {
        &self.system
    }

    /// Returns the system message, which precedes the conversation in every request. Returns `None` if the system text is empty.
    pub fn system_message(&self) -> Option<Message> {
        let text = self.system.render(&self.tools);
        (!text.is_empty()).then(|| Message::text(Role::System, text))
    }

    /// Returns the conversation, without the system text. It has also the parts that a [compaction](crate::Event::Compacted) leaves out of
    /// requests.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the last run, if it waits for approvals, for [`Driver::resume`](crate::Driver::resume). With another prompt instead, its
    /// waiting calls stay refused.
    pub fn waiting_run(&self) -> Option<&Run> {
        self.waiting.as_ref()
    }

    /// Returns the number of model turns so far, including those of dropped runs.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Returns the tokens of the last request, as the service counted them. Returns `None` before one, and if the service counts none.
    pub fn request_tokens(&self) -> Option<u64> {
        let measured = self.compaction.measured?;
        Some(measured.tokens)
    }

    /// Appends a message to the conversation.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Removes all messages except system messages, and the items of the [`Plan`].
    pub fn clear(&mut self) {
        self.restore_plan(&[]);
        self.messages.retain(|message| message.role == Role::System);
        self.compaction = Compaction::default();
        self.writers = Writers::default();
        self.waiting = None;
    }

    /// Changes settings of the host, such as its grant, starting with the next call. Has no effect on a session that works inside of a
    /// call.
    pub fn change_host(&mut self, change: impl FnOnce(Host) -> Host) {
        if let Some(host) = self.cx.host() {
            self.cx = change(host).into();
        }
    }

    /// Selects from these tools again, with the current selection.
    pub fn refresh(&mut self, entries: impl IntoIterator<Item = Arc<Entry>>) {
        let tools = tool_set(
            entries,
            &self.selection,
            self.cx.services(),
            &mut self.disclosure,
        );
        self.tools = tools.with_index_of(&self.tools);
    }

    /// Replaces the selection and selects from these tools.
    pub fn select(&mut self, selection: Selection, entries: impl IntoIterator<Item = Arc<Entry>>) {
        self.selection = selection;
        self.refresh(entries);
    }

    /// Calls one of the session's tools. The conversation does not change.
    ///
    /// # Errors
    /// The future returns the errors of [`ToolSet::execute`].
    pub fn execute(&self, name: &str, arguments: impl Into<Arguments>) -> Execution {
        self.tools.execute(&self.cx, name, arguments)
    }

    /// Returns the arguments of a call with secrets masked, and the targets that they name, as the
    /// [start](crate::Event::CallStarted) of the call shows them.
    pub fn shown_call(&self, call: &ToolCall) -> (Json, Vec<Target>) {
        let targets = self.tools.targets(call, &self.cx);
        let targets = targets.map(|(_, targets)| targets).unwrap_or_default();
        (self.tools.masked_arguments(call), targets)
    }

    /// Returns the messages of a request without a prompt, and the number of those that do not belong to the conversation.
    pub(crate) fn request_messages(&self) -> (Vec<Message>, usize) {
        let mut messages: Vec<_> = self.system_message().into_iter().collect();
        let before = messages.len();
        messages.extend_from_slice(&self.messages);
        (messages, before)
    }

    /// Gives a run of this session, whose first `before` messages do not belong to the conversation, the facts about the others.
    pub(crate) fn enter(&self, run: Run, before: usize) -> Run {
        let mut run = run.with_earlier_turns(self.turns());
        run.compaction = self.compaction.clone().moved(|at| at + before);
        run.writers = self.writers.moved(|at| at + before);
        run
    }

    /// Raises the number of turns to at least `turn`, so that no later turn reuses the number.
    pub(crate) fn record_turn(&self, turn: u64) {
        self.turns.fetch_max(turn, Ordering::Relaxed);
    }

    /// Gives the session the plan of this conversation.
    pub(crate) fn restore_plan(&self, messages: &[Message]) {
        if let Some(plan) = self.cx.service::<Plan>() {
            plan.set(plan_of(messages));
        }
    }

    /// Replaces the conversation by that of a run. The run's first `before` messages do not belong to it.
    pub(crate) fn complete_run(&mut self, run: Run, before: usize) {
        let compaction = run.compaction.clone();
        self.compaction = compaction.moved(|at| at.saturating_sub(before));
        self.writers = run.writers.moved(|at| at.saturating_sub(before));
        self.prefix = run.prefix.clone();
        self.waiting = (!run.waiting_requests().is_empty()).then(|| run.clone());
        self.messages = run.into_settled_messages().split_off(before);
    }
}

/// Returns the selected tools of a session. Those of a search are kept apart, because requests have them only if it is needed.
fn tool_set(
    entries: impl IntoIterator<Item = Arc<Entry>>,
    selection: &Selection,
    services: &Services,
    disclosure: &mut SessionDisclosure,
) -> ToolSet {
    let (of_search, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| is_of_search(entry));
    disclosure.set_search(of_search);
    ToolSet::new(with_session_model(entries, services), selection, services)
}

/// Sends events of work that outlives a run to the run that its session has then. Clones share the run.
#[derive(Clone, Default)]
pub(crate) struct SessionEvents(Arc<Mutex<Option<Arc<dyn EventSink>>>>);

impl SessionEvents {
    /// Makes a run the receiver of the events.
    pub(crate) fn attach(&self, run: Arc<dyn EventSink>) {
        *self.lock() = Some(run);
    }

    /// Sends an event to the present run. Between two runs nothing receives it.
    pub(crate) fn send(&self, event: Event) {
        // The sink is foreign code, and may start a run that attaches itself.
        let present = self.lock().clone();
        if let Some(run) = present {
            run.send(event);
        }
    }

    /// Removes a run, unless another one has taken its place.
    pub(crate) fn detach(&self, run: &Arc<dyn EventSink>) {
        let mut present = self.lock();
        if present
            .as_ref()
            .is_some_and(|present| Arc::ptr_eq(present, run))
        {
            *present = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn EventSink>>> {
        self.0.lock().ignore_poison()
    }
}

tools::debug_fields!(self: SessionEvents {});
