//! The calls of a session: through the driver, with an effect, with a journal, and with large results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::{
    BudgetLimits, Driver, Provider, ProviderInfo, RepeatLimits, Request, RunOptions, Selection,
    Session, Turn, TurnFuture, Usage,
};
use serde::{Deserialize, Serialize};
use tools::journal::{
    BeginResult, CallKey, CallRecord, Checkpoint, CheckpointId, IntentId, JournalFuture,
    OutcomeRecord, RecordedCall,
};
use tools::protocol::{Message, Part, Role};
use tools::{
    Admission, Catalog, Content, ErrorCode, Grant, Host, Journal, Json, ToolCall, ToolResult, tool,
};

/// The arguments of [`measure`], as a model writes them.
pub const MEASURE: &str = r#"{"path": "src/main.rs"}"#;

/// The argument of [`measure`] for the direct call.
#[derive(Deserialize)]
struct Measured {
    path: String,
}

/// Returns the length of a path.
#[tool(reads = "fs:{path}")]
pub async fn measure(
    /// The path.
    path: String,
) -> usize {
    length(&path)
}

/// Never returns.
#[tool(reads = "fs:{path}", timeout = "3600s")]
pub async fn linger(
    /// The path.
    path: String,
) -> usize {
    std::future::pending::<()>().await;
    length(&path)
}

fn length(path: &str) -> usize {
    path.len()
}

/// Calls [`measure`] directly. Returns the text of its result.
pub fn direct_measure(arguments: &str) -> String {
    let path = serde_json::from_str::<Measured>(arguments).map(|arguments| length(&arguments.path));
    path.and_then(|length| serde_json::to_string(&length))
        .unwrap_or_default()
}

/// About 100 bytes of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    id: u64,
    name: String,
    tags: Vec<String>,
    is_open: bool,
    score: f64,
}

/// The arguments of [`records`].
#[derive(Deserialize)]
struct Count {
    count: u64,
}

/// Returns records.
#[tool(pure)]
pub async fn records(
    /// How many.
    count: u64,
) -> Vec<Record> {
    list(count)
}

fn list(count: u64) -> Vec<Record> {
    let record = |id| Record {
        id,
        name: format!("the record with the number {id}"),
        tags: vec!["red".to_owned(), "green".to_owned()],
        is_open: id % 2 == 0,
        score: id as f64 / 3.0,
    };
    (0..count).map(record).collect()
}

/// Calls [`records`] directly. Returns the text of its result.
pub fn direct_records(arguments: &str) -> String {
    let records = serde_json::from_str::<Count>(arguments).map(|arguments| list(arguments.count));
    records
        .and_then(|records| serde_json::to_string(&records))
        .unwrap_or_default()
}

/// Creates a catalog of [`measure`], [`records`] and the tools of [`catalog`](crate::catalog).
///
/// # Panics
/// Panics if the tools cannot be registered.
#[allow(clippy::unwrap_used)] // A failure invalidates the measurement.
pub fn catalog() -> Catalog {
    let mut catalog = crate::catalog(2);
    catalog
        .submit(&[&MEASURE_TOOL, &RECORDS_TOOL, &crate::ADD_LATER_TOOL])
        .unwrap();
    catalog
}

/// Creates a context with only a grant to read files.
///
/// # Panics
/// Never panics, because the grant is valid.
#[allow(clippy::unwrap_used)]
pub fn granted() -> Host {
    Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap())
}

/// A journal that stores nothing.
#[derive(Debug, Default)]
pub struct NoopJournal(AtomicU64);

impl Journal for NoopJournal {
    fn find<'a>(&'a self, _: &'a CallKey) -> JournalFuture<'a, Option<RecordedCall>> {
        Box::pin(async { Ok(None) })
    }

    fn begin<'a>(&'a self, _: CallRecord<'a>, _: u32) -> JournalFuture<'a, BeginResult> {
        let id = self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Ok(BeginResult::Started(IntentId(id))) })
    }

    fn end<'a>(&'a self, _: IntentId, _: OutcomeRecord<'a>) -> JournalFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn refuse<'a>(&'a self, _: CallRecord<'a>, _: ErrorCode, _: &'a str) -> JournalFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn save<'a>(&'a self, _: &'a str, _: Checkpoint) -> JournalFuture<'a, CheckpointId> {
        Box::pin(async { Ok(CheckpointId(0)) })
    }

    fn append<'a>(
        &'a self,
        _: &'a str,
        last: CheckpointId,
        _: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>> {
        Box::pin(async move { Ok(Some(last)) })
    }

    fn load<'a>(&'a self, _: &'a str) -> JournalFuture<'a, Option<Checkpoint>> {
        Box::pin(async { Ok(None) })
    }
}

/// A provider whose turns each make the same call.
struct RepeatingProvider {
    name: &'static str,
    arguments: Json,
    left: AtomicU64,
    usage: Option<Usage>,
    /// True if each call has other arguments.
    is_varied: bool,
}

impl Provider for RepeatingProvider {
    fn about(&self) -> &ProviderInfo {
        static CALLING: ProviderInfo = ProviderInfo::new("calling");
        &CALLING
    }

    fn complete<'a>(&'a self, _: Request<'a>) -> TurnFuture<'a> {
        let turn = match self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            }) {
            Ok(left) => {
                let arguments = if self.is_varied {
                    serde_json::json!({"a": left, "b": 1}).into()
                } else {
                    self.arguments.clone()
                };
                Turn::calls([ToolCall::new(format!("call_{left}"), self.name, arguments)])
            }
            Err(_) => Turn::answer("done"),
        };
        let usage = self.usage;
        Box::pin(std::future::ready(Ok(Turn { usage, ..turn })))
    }
}

/// Returns messages as of a resumed session: of each five, a prompt and two calls with their structured results.
#[allow(clippy::unwrap_used)] // A failure invalidates the measurement.
fn history(count: usize) -> Vec<Message> {
    let text = |number| format!("message {number} {}", "x".repeat(200));
    let (id, name) = (|number| format!("past_{number}"), "records".to_owned());
    let part = |number| match number % 5 {
        0 => (Role::User, Part::Content(Content::text(text(number)))),
        1 | 3 => {
            let arguments = serde_json::json!({"count": 2, "note": text(number)});
            (
                Role::Assistant,
                Part::ToolCall(ToolCall::new(id(number), &*name, arguments)),
            )
        }
        _ => {
            let result = ToolResult::structured(serde_json::to_value(list(2)).unwrap());
            (
                Role::Tool,
                Part::ToolResult {
                    id: id(number - 1),
                    name: name.clone(),
                    result,
                },
            )
        }
    };
    let message = |(role, part)| Message {
        role,
        parts: vec![part],
    };
    (0..count).map(|number| message(part(number))).collect()
}

/// Runs `steps` steps that each call `add` with other arguments.
///
/// # Panics
/// Panics if a call fails.
pub async fn varied_steps(steps: u64, checkpoints: bool) {
    run_steps("add", crate::ADD, steps, 0, checkpoints, true).await;
}

/// Runs `steps` steps of one call each, in a session that starts with `messages` messages. With checkpoints, the provider also reports
/// its usage and the size of the context is known, so that requests are measured.
///
/// # Panics
/// Panics if a call fails.
pub async fn steps(
    name: &'static str,
    arguments: &str,
    steps: u64,
    messages: usize,
    checkpoints: bool,
) {
    run_steps(name, arguments, steps, messages, checkpoints, false).await;
}

#[allow(clippy::unwrap_used)]
async fn run_steps(
    name: &'static str,
    arguments: &str,
    steps: u64,
    messages: usize,
    checkpoints: bool,
    is_varied: bool,
) {
    let mut cx = granted();
    if checkpoints {
        cx = cx
            .with_journal(Arc::new(NoopJournal::default()))
            .with_session("measured");
    }
    let mut session =
        Session::new(catalog().list(), Selection::new(), cx).with_messages(history(messages));
    // A value, as a provider returns it.
    let arguments = serde_json::from_str::<serde_json::Value>(arguments)
        .unwrap()
        .into();
    let usage = checkpoints.then(|| Usage {
        input_tokens: 50_000,
        output_tokens: 50,
        ..Usage::default()
    });
    let provider = RepeatingProvider {
        name,
        arguments,
        left: steps.into(),
        usage,
        is_varied,
    };
    // Repeated calls are counted, but have no consequence.
    let mut options = RunOptions {
        limits: BudgetLimits::default(),
        repeats: RepeatLimits {
            hint: Some(u32::MAX),
            end: None,
        },
        ..RunOptions::default()
    };
    if checkpoints {
        options.context_tokens = Some(1_000_000);
    }
    let driver = Driver::new(Arc::new(provider))
        .with_options(options)
        .with_checkpoints(checkpoints);
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!((u64::from(summary.calls), summary.failed_calls), (steps, 0));
}

/// Makes `calls` calls that read one target, one after the other, while `others` calls read it too.
///
/// # Panics
/// Panics if a call fails.
#[allow(clippy::unwrap_used)]
pub async fn among(others: u64, calls: u64) {
    let mut catalog =
        Catalog::new().with_admission(Admission::default().with_max_concurrency(1 << 16).into());
    catalog.submit(&[&MEASURE_TOOL, &LINGER_TOOL]).unwrap();
    let cx = granted();
    let mut tasks = tokio::task::JoinSet::new();
    (0..others).for_each(|_| drop(tasks.spawn(catalog.execute(&cx, "linger", MEASURE))));
    tokio::task::yield_now().await;
    for _ in 0..calls {
        catalog.execute(&cx, "measure", MEASURE).await.unwrap();
    }
}
