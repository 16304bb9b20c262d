//! [`Driver`]: the loop with its I/O.

mod alarm;
mod ask;
mod call;
mod checkpoint;
mod gate;
mod listener;
mod report;
mod tasks;
mod watched;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Content, JournalError, ToolError};

use self::checkpoint::Saved;
use self::listener::Listener;
use self::tasks::Tasks;
use crate::{
    Event, EventSink, Provider, ProviderError, Request, Run, RunError, Session, Step, Summary, TextReader, Turn,
};

pub use self::gate::abandoned_calls;

/// How often a run asks its model where nobody says.
pub const DEFAULT_MAX_STEPS: u32 = 50;

/// Drives runs: asks the provider, runs the calls of a turn side by side through the session's tools, tells what happens.
///
/// ```
/// use std::sync::Arc;
/// use agent::{Direct, Driver, Event, Selection, Session};
/// use tools::{Catalog, Effects, Tool, ToolContext};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut catalog = Catalog::new();
/// let tool = Tool::new("ping", "Answers.", json!({"type": "object"}))?.with_effects(Effects::Pure);
/// catalog.register(tool, async |_cx: ToolContext, _arguments: serde_json::Value| "pong".to_owned())?;
///
/// let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new());
/// let driver = Driver::new(Arc::new(Direct)).with_events(|event: Event| eprintln!("{event:?}"));
/// let summary = driver.run(&mut session, "ping ; ping").await?;
/// assert_eq!(summary.calls, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    provider: Arc<dyn Provider>,
    max_steps: u32,
    cancellation: CancellationToken,
    events: Option<Arc<dyn EventSink>>,
    checkpoints: bool,
}

/// What one run works with.
struct Setting<'a> {
    session: &'a Session,
    token: &'a CancellationToken,
    runtime: &'a Handle,
    listener: &'a Arc<Listener>,
}

/// Why a run failed. An answer, a step budget that is used up and a cancellation are no failures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The provider gave no turn.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Something around the tools is broken.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The run did not take in what it had asked for.
    #[error("a run lost track of its calls: {0}; this is a fault of Toolcrib")]
    Run(#[from] RunError),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What is stored of a session is no run.
    #[error("what is stored of the session is no run: {reason}; begin a session by another name")]
    Stored {
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing to run tasks on.
    #[error("a run needs a tokio runtime; call it from one")]
    NoRuntime,
    /// No thread to watch over calls from.
    #[error("a run needs a thread of its own to watch over its calls: {0}; allow the process one more")]
    NoThread(#[source] std::io::Error),
}

impl Driver {
    /// A driver that asks this provider.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self {
            provider,
            max_steps: DEFAULT_MAX_STEPS,
            cancellation: CancellationToken::new(),
            events: None,
            checkpoints: false,
        }
    }

    /// How often a run may ask the model.
    #[must_use]
    pub fn with_max_steps(mut self, max_steps: u32) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// What cancels runs. The token of the session's context does so, too.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Who hears of events. A sink that panics hears no more of that run, and the run goes on without it.
    #[must_use]
    pub fn with_events(mut self, events: impl EventSink + 'static) -> Self {
        self.events = Some(Arc::new(events));
        self
    }

    /// Whether runs are written to the journal of their session's context, under the session's name: at the start and after
    /// each turn of the model. The whole conversation is in it, arguments included. Off by default; without a journal, or without a
    /// name, there is nothing to write to.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: bool) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Runs a prompt to its end.
    ///
    /// The conversation is added to the session when the run ends, in whatever way, unless the model never took a turn. If
    /// the future is dropped, running calls are told to stop and the conversation is left as it was.
    ///
    /// Where the session's context has a [journal](tools::journal), the session needs a name that the journal does not know, or to be
    /// [resumed](Self::resume): a call is told from others by the session's name, the turn and its place in it.
    ///
    /// Every call runs in a task of its own, and has its result by a second after its deadline, or when the run is cancelled, at
    /// once, or within a second where a journal has its end to write down, also if its tool never yields. Such a call is abandoned: the model is told, [`Event::Abandoned`] is too, its
    /// late result is dropped, and [`abandoned_calls`] counts it until it ends. Until then it holds a worker thread. Calls take
    /// turns on all workers of the runtime but one, so that one is always left; when abandoned calls hold the others, further
    /// calls are refused. A runtime with a single worker has none to leave: there, a tool that never yields can hold up everything.
    ///
    /// Panics of tools, of the provider and of the event sink do not get out of here.
    ///
    /// # Errors
    /// [`DriverError`]. The session holds what was said and done until then.
    pub async fn run(&self, session: &mut Session, prompt: impl Into<String>) -> Result<Summary, DriverError> {
        let mut messages: Vec<_> = session.system_message().into_iter().collect();
        let before = messages.len();
        messages.extend_from_slice(session.messages());
        messages.push(Message::text(Role::User, prompt));
        let run = Run::new(messages, self.max_steps).with_earlier_turns(session.turns());
        self.drive(session, run, before).await
    }

    /// Goes on with a run that ended with its process, such as a [stored one](Session::stored_run), or whose steps were used up.
    /// Its conversation takes the place of the session's, when it ends. The steps of this driver count, those that the run has taken
    /// included.
    ///
    /// Where the session's context has the [journal](tools::journal) that the run had, by the name that the session had, no call is
    /// made twice: those that are finished give their recorded results, and of the others only those are run again that may be,
    /// by the effects of their tools. Without that journal all open calls of the run are made.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn resume(&self, session: &mut Session, run: Run) -> Result<Summary, DriverError> {
        let run = run.with_max_steps(self.max_steps);
        session.reach_turn(run.turns());
        // What the run was told before its conversation is no part of it, as long as the session has a text of that kind.
        let is_told = run.messages().first().is_some_and(|message| message.role == Role::System);
        let before = usize::from(is_told && session.system_message().is_some());
        self.drive(session, run, before).await
    }

    /// Drives a run to its end, whose first messages, that many, do not belong to the session's conversation.
    async fn drive(&self, session: &mut Session, mut run: Run, before: usize) -> Result<Summary, DriverError> {
        let runtime = Handle::try_current().map_err(|_| DriverError::NoRuntime)?;
        let mut tasks = Tasks::new(&runtime)?;
        let token = session.context().cancellation().child_token();
        let _stop = token.clone().drop_guard();
        let listener = Arc::new(Listener::new(self.events.clone()));

        let setting = Setting { session: &*session, token: &token, runtime: &runtime, listener: &listener };
        let (mut failure, mut saved) = (None, None);
        let steps = async {
            let mut step = self.checkpoint(&run, &mut saved, &setting).await;
            loop {
                if let Err(error) = step {
                    run.fail(error.to_string());
                    failure.get_or_insert(error);
                }
                self.pass_on_cancellation(&token);
                step = match run.step() {
                    Step::Ask => self.turn(&mut run, &mut saved, &setting).await,
                    Step::Call(calls) => self.call(&mut run, calls, &mut tasks, &setting).await,
                    Step::Done(summary) => break summary,
                };
            }
        };
        let summary = cancelled_by(&self.cancellation, &token, steps).await;
        if summary.steps > 0 {
            session.set_messages(run.into_messages().split_off(before));
        }
        listener.tell(|| Event::Done(summary.clone()));
        failure.map_or(Ok(summary), Err)
    }

    /// Cancels the token of the run if the driver's is cancelled. [`cancelled_by`] does so when the run waits; a sink may cancel
    /// it while an event is told, and what comes next is then not begun.
    fn pass_on_cancellation(&self, token: &CancellationToken) {
        if self.cancellation.is_cancelled() {
            token.cancel();
        }
    }

    /// A turn of the model. Its calls are not run before it is written down.
    async fn turn(&self, run: &mut Run, saved: &mut Option<Saved>, setting: &Setting<'_>) -> Result<(), DriverError> {
        self.ask(run, setting).await?;
        setting.session.reach_turn(run.turns());
        self.checkpoint(run, saved, setting).await
    }

    async fn ask(&self, run: &mut Run, setting: &Setting<'_>) -> Result<(), DriverError> {
        let Setting { session, token, listener, .. } = setting;
        let is_read = AtomicBool::new(false);
        let read = |text: &str| {
            is_read.store(true, Ordering::Relaxed);
            listener.tell(|| Event::Text { text: text.to_owned() });
        };
        let request = Request::new(run.messages(), session.tools(), token)
            .with_deadline(session.context().deadline())
            .with_reader(TextReader::new(&read));
        match token.run_until_cancelled(ask::ask(&*self.provider, request)).await {
            Some(turn) => {
                let turn: Turn = turn?;
                let is_read = is_read.load(Ordering::Relaxed);
                let is_told = !is_read && listener.is_listening();
                let texts = turn.message.parts.iter().filter_map(text_of).filter(|_| is_told);
                let texts: Vec<_> = texts.map(str::to_owned).collect();
                run.turn(turn)?;
                texts.into_iter().for_each(|text| listener.tell(|| Event::Text { text }));
            }
            None => run.cancel(),
        }
        Ok(())
    }
}

/// Runs a future to its end. If `source` is cancelled meanwhile, so is `token`.
async fn cancelled_by<F: Future>(source: &CancellationToken, token: &CancellationToken, future: F) -> F::Output {
    let (mut future, mut cancelled) = (pin!(future), pin!(source.cancelled()));
    poll_fn(|task| {
        if !token.is_cancelled() && cancelled.as_mut().poll(task).is_ready() {
            token.cancel();
        }
        future.as_mut().poll(task)
    })
    .await
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("provider", &self.provider.name())
            .field("max_steps", &self.max_steps)
            .finish_non_exhaustive()
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Content(content) => Content::as_text(content),
        _ => None,
    }
}
