//! `agent.spawn`: gives a task to a sub-agent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tools::protocol::{Message, Role};
use tools::{
    CancellationToken, Clause, Content, Entry, JsonSchema, Tasks, ToolContext, ToolError,
    ToolErrorKind, ToolResult, counted, tool,
};

use crate::background_agent::BackgroundAgent;
use crate::budget::{Budget, BudgetLimits};
use crate::driver::{ActiveRun, DEFAULT_MAX_STEPS, Driver};
use crate::provider::StopReason;
use crate::run::{Outcome, Summary};
use crate::run_options::{RunOptions, SubAgents};
use crate::selection::Selection;
use crate::session::Session;

/// The name of this tool, which a sub-agent at the last level does not have.
const NAME: &str = "agent.spawn";

/// The time that a sub-agent leaves its call to report.
const REPORT_TIME: Duration = Duration::from_secs(5);

/// Gives a task to a sub-agent, which works on it with your tools and returns its answer.
///
/// Use it for a part of the task that needs many calls whose results you do not need yourself, and for parts that can be done side
/// by side: make the calls in one turn, with different names. A sub-agent knows nothing of this conversation, so the task states
/// everything it needs, and the form of the answer. It has at most your tools and your permissions. In the background it works beside
/// your next calls, and ends with the session: answer only when you have its result.
// A write: a sub-agent works unattended and spends the budget, so a person is asked before it starts. It is not repeated after a crash,
// because the second run of a model differs from the first. Its own calls are authorised and approved one by one.
#[tool(
    name = "agent.spawn",
    title = "Start a sub-agent",
    writes = "agent:{name}",
    needs = SubAgents,
    timeout = "60m",
    max_output = "16KiB",
    delegates,
    tags = ["session"],
    example({"name": "reader", "task": "Which files below src parse dates? List file:line.", "tools": ["fs.*", "!fs.write"], "grant": ["fs:read:src/**"]}),
    example({"name": "tests", "task": "Test src/duration.rs in tests/duration.rs.", "budget": {"steps": 20, "seconds": 600}}),
)]
pub(crate) async fn spawn(
    cx: &ToolContext,
    /// A short name for the sub-agent, which the user sees.
    #[schemars(length(min = 1, max = 32), regex(pattern = "^[a-z0-9][a-z0-9_-]*$"))]
    name: String,
    /// The task, with everything that the sub-agent needs to know.
    #[schemars(length(min = 1, max = 20_000))]
    task: String,
    /// The tools of the sub-agent by name, such as `fs.*`; `!fs.write` excludes. Only your own tools can be among them.
    #[serde(default = "all_tools")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 200)))]
    tools: Vec<String>,
    /// The permissions of the sub-agent, such as `fs:read:src/**`. They limit yours and add none. If absent, it has all of yours; an
    /// empty list leaves it none.
    #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
    grant: Option<Vec<String>>,
    /// The limits of the sub-agent. Yours hold for it too.
    budget: Option<SpawnBudget>,
    /// Answers at once with the handle of a task, whose answer `task.result` returns.
    #[serde(default)]
    background: bool,
) -> Result<ToolResult, ToolError> {
    let limits = cx.need::<SubAgents>()?;
    let run = cx.service::<ActiveRun>().ok_or_else(|| {
        let reason = "no agent is running; an agent starts a sub-agent in its run".to_owned();
        ToolErrorKind::Unavailable { reason }
    })?;
    let own = background.then(|| Background::new(cx, &run)).transpose()?;
    let call = cx;
    let cx = own.as_ref().map_or(call, |own| &own.cx).clone();
    let cx = narrow_grant(cx.with_agent(&name)?, grant)?;
    let path = cx.agent().unwrap_or(&name);
    let level = cx.agent().map_or(1, |path| path.split('/').count());
    if level > limits.max_depth {
        let most = limits.max_depth;
        return Err(ToolError::execution_failed(format!(
            "sub-agents are nested at most {most} deep here; do this part of the task yourself"
        )));
    }
    let is_last = level == limits.max_depth;
    let mut offered = run.tools.list().to_vec();
    offered.retain(|entry| !is_last || entry.name().as_str() != NAME);
    let selection = selection(&tools, &offered)?;
    let system = run.system.clone();
    let system = system.with_section("sub-agent", introduction(path));
    let working = Arc::new(if background {
        run.start_background_agent(&cx)
    } else {
        run.start_agent(&cx)
    });
    let mut session = Session::new(offered, selection, cx).with_system(system);
    session.disclosure = run.disclosure.clone();
    session.disclosure.forget_tools();
    let options = RunOptions {
        limits: budget.unwrap_or_default().limits(session.context()),
        // The calls have it from the context.
        correlation_id: None,
        ..run.options.clone()
    };
    let driver = Driver::new(run.provider.clone())
        .with_fallbacks(run.fallbacks.clone())
        .with_options(options)
        .with_events(working);
    match own {
        None => Ok(work(driver, session, name, task).await),
        Some(own) => own.start(call, driver, session, name, task),
    }
}

/// Runs a sub-agent to its end.
async fn work(driver: Driver, mut session: Session, name: String, task: String) -> ToolResult {
    match driver.run(&mut session, task).await {
        Ok(summary) => report(&name, &summary, session.messages()),
        Err(error) => report_unfinished(&name, &error.to_string(), session.messages()),
    }
}

/// The place of a sub-agent that outlives its call.
struct Background {
    tasks: Arc<Tasks>,
    /// The context of the sub-agent, which ends with the session.
    cx: ToolContext,
    token: CancellationToken,
    budget: Budget,
}

impl Background {
    fn new(cx: &ToolContext, run: &ActiveRun) -> Result<Self, ToolError> {
        let tasks = cx.need::<Tasks>()?;
        if !tasks.continues_calls() {
            return Err(ToolError::execution_failed(
                "no later call can read the answer here; leave out `background`",
            ));
        }
        // Looked at before the sub-agent begins to work, which could not be told to the model.
        tasks.check_room()?;
        let token = run.session_token.child_token();
        let budget = Budget::of_call(cx).child(BudgetLimits::default());
        let cx = tasks.context(cx, token.clone());
        let cx = cx.with_service(budget.clone());
        Ok(Self {
            tasks,
            cx,
            token,
            budget,
        })
    }

    /// Starts the sub-agent as a task of the running call.
    fn start(
        self,
        call: &ToolContext,
        driver: Driver,
        session: Session,
        name: String,
        task: String,
    ) -> Result<ToolResult, ToolError> {
        let (agent, end) = BackgroundAgent::new(&name, &task, self.token, self.budget);
        let handle = self.tasks.insert(call, Arc::new(agent))?;
        tokio::spawn(end.after(work(driver, session, name.clone(), task)));
        let reader = call.spelling("task.result");
        let text = format!(
            "the sub-agent {name} works in the background; {reader} with task={handle} returns its answer"
        );
        Ok(ToolResult::text(text).with_task(handle))
    }
}

/// The limits that a sub-agent has of its own.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars", inline)]
pub(crate) struct SpawnBudget {
    /// The maximum number of model turns.
    #[schemars(range(min = 1))]
    steps: Option<u32>,
    /// The maximum number of calls.
    #[schemars(range(min = 1))]
    calls: Option<u32>,
    /// The number of tokens after which no turn begins.
    #[schemars(range(min = 1))]
    tokens: Option<u64>,
    /// The time in seconds.
    #[schemars(range(min = 1))]
    seconds: Option<u32>,
}

impl SpawnBudget {
    /// Returns the limits of the run. The time ends before the deadline of the call, so that the work so far is returned. Both move while
    /// a call of the sub-agent waits for a person.
    fn limits(self, cx: &ToolContext) -> BudgetLimits {
        let left = cx
            .deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(|left| left.saturating_sub(REPORT_TIME.min(left / 10)));
        let own = self.seconds;
        let own = own.map(|seconds| Duration::from_secs(seconds.into()));
        BudgetLimits {
            steps: Some(self.steps.unwrap_or(DEFAULT_MAX_STEPS).into()),
            calls: self.calls.map(u64::from),
            tokens: self.tokens,
            cost: None,
            time: own.into_iter().chain(left).min(),
        }
    }
}

fn all_tools() -> Vec<String> {
    vec!["*".to_owned()]
}

/// Limits the grant of the context to these clauses. Without a list it stays.
fn narrow_grant(cx: ToolContext, grant: Option<Vec<String>>) -> Result<ToolContext, ToolError> {
    let Some(grant) = grant else { return Ok(cx) };
    let clauses = grant.iter().map(|clause| clause.parse::<Clause>());
    let clauses = clauses.collect::<Result<Vec<_>, _>>();
    let clauses = clauses.map_err(|error| ToolError::execution_failed(error.to_string()))?;
    Ok(cx.narrow(clauses))
}

/// Returns the selection of these globs, each of which matches a tool.
fn selection(globs: &[String], offered: &[Arc<Entry>]) -> Result<Selection, ToolError> {
    let selection =
        Selection::parse(globs).map_err(|error| ToolError::execution_failed(error.to_string()))?;
    let unmatched = selection.unmatched(offered);
    // A misspelt glob would give the sub-agent fewer tools than its task needs, without a word.
    if unmatched.is_empty() {
        return Ok(selection);
    }
    let names: Vec<_> = offered.iter().map(|entry| entry.name().as_str()).collect();
    let message = format!(
        "no tool of yours matches {}; choose from {}",
        unmatched.join(", "),
        names.join(", ")
    );
    Err(ToolError::execution_failed(message))
}

fn introduction(path: &str) -> String {
    format!(
        "You are the sub-agent {path}. Another agent gave you the task and reads your last message; no person does. Do the task and \
         no more, and answer with the results alone, briefly. If you cannot do it, say what is missing."
    )
}

/// Returns the answer for the agent that started the sub-agent. A run that ended otherwise is an error, with the last text.
fn report(name: &str, summary: &Summary, messages: &[Message]) -> ToolResult {
    let counts = counts(summary);
    if let Outcome::Answer { text, stop } = &summary.outcome
        && *stop != StopReason::Refusal
    {
        let text = if text.trim().is_empty() {
            "(no answer)"
        } else {
            text
        };
        let is_cut = *stop == StopReason::Length;
        let cut = is_cut.then_some("cut off at the model's length limit, ");
        let note = format!("[sub-agent {name}: {}{counts}]", cut.unwrap_or_default());
        let mut result = ToolResult::text(text);
        result.content.push(Content::text(note));
        return result;
    }
    let ended = summary.outcome.reason();
    report_unfinished(name, &format!("{ended} [{counts}]"), messages)
}

/// Returns an error with the last text of the sub-agent.
fn report_unfinished(name: &str, reason: &str, messages: &[Message]) -> ToolResult {
    let own = messages.iter().rev();
    let own = own.filter(|message| message.role == Role::Assistant);
    let mut texts = own.map(|message| message.to_text().trim().to_owned());
    let last = texts.find(|text| !text.is_empty());
    let mut result = ToolResult::error(format!("the sub-agent {name} did not finish: {reason}"));
    result
        .content
        .extend(last.map(|text| Content::text(format!("its last words:\n{text}"))));
    result
}

/// Returns the counts of a run, such as `3 steps, 5 calls (1 failed)`.
fn counts(summary: &Summary) -> String {
    let steps = counted(summary.steps, "step");
    let calls = counted(summary.calls, "call");
    match summary.failed_calls {
        0 => format!("{steps}, {calls}"),
        failed => format!("{steps}, {calls} ({failed} failed)"),
    }
}
