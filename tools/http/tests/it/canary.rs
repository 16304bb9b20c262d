//! A secret in calls through the pipeline, and in those of an agent: the server returns it in every way, and nothing records it.
//!
//! `TOOLCRIB_CANARY_CALLS=10000 cargo test -p toolcrib-http --test it canary` makes more calls than the default.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agent::{Driver, Event, EventSink, Scripted, Selection, Session};
use data_encoding::{BASE64, HEXLOWER};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tools::call::CallPlace;
use tools::{
    CancellationToken, Catalog, Effects, Grant, Host, Progress, ProgressSink, Tool, ToolContext,
    ToolError,
};
use tools_http::{BoundSecret, HeaderName, HeaderValue, HttpClient, HttpLimits, Request};
use tools_journal::{Durability, JournalOptions, SqliteJournal};
use tools_testkit::http::{Received, TestServer, TestStream};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use crate::setup::names;

const CANARY: &str = "canary-7Yt0Zq4W9k2M-canary";
/// The number of calls, a multiple of the number of [`PATHS`].
const CALLS: u64 = 960;
/// How the server answers a call. The last one ends when the call is cancelled.
const PATHS: [&str; 16] = [
    "body",
    "json",
    "base64",
    "hex",
    "header",
    "name",
    "status",
    "away",
    "unknown",
    "refused",
    "invalid",
    "circle",
    "truncated",
    "garbage",
    "large",
    "slow",
];

/// Counts texts with the canary, plain or encoded.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn look(&self, text: &str) {
        let lower = text.to_lowercase();
        let base64 = BASE64.encode(CANARY.as_bytes());
        let is_found =
            lower.contains("7yt0zq4w9k2m") || lower.contains(&HEXLOWER.encode(b"7Yt0Zq4W9k2M"));
        if is_found || text.contains(&base64[..base64.len() - 4]) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl ProgressSink for Counter {
    fn report(&self, _: &ToolContext, progress: Progress) {
        self.look(&format!("{progress:?}"));
    }
}

impl EventSink for Counter {
    fn send(&self, event: Event) {
        self.look(&format!("{event:?}"));
    }
}

impl Visit for Counter {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.look(&format!("{value:?}"));
    }
}

/// Looks at each record of the crate `log`, which the libraries below the client write. A process has one.
struct LogCollector {
    counter: Counter,
    /// The crates that have written a record.
    sources: Mutex<BTreeSet<String>>,
}

impl LogCollector {
    /// Installs the collector at the lowest level.
    fn install() -> &'static Self {
        static COLLECTOR: OnceLock<LogCollector> = OnceLock::new();
        let collector = COLLECTOR.get_or_init(|| Self {
            counter: Counter::default(),
            sources: Mutex::default(),
        });
        log::set_logger(collector).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        collector
    }
}

impl log::Log for LogCollector {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.counter.look(&format!("{record:?} {}", record.args()));
        let source = record.target().split("::").next().unwrap_or_default();
        let mut sources = self.sources.lock().unwrap();
        if !sources.contains(source) {
            sources.insert(source.to_owned());
        }
    }

    fn flush(&self) {}
}

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Counter {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        _: &tracing::span::Id,
        _: Context<'_, S>,
    ) {
        attributes.record(&mut self.clone());
    }

    fn on_record(
        &self,
        _: &tracing::span::Id,
        values: &tracing::span::Record<'_>,
        _: Context<'_, S>,
    ) {
        values.record(&mut self.clone());
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut self.clone());
    }
}

/// Answers with the key of the request, in the way that the path says.
async fn echo(request: Received, mut stream: TestStream) {
    let key = request.header("x-key").unwrap_or("none").to_owned();
    let ok = |body: &str| TestServer::ok("text/plain", body);
    let redirect = |to: &str| TestServer::head("302 Found", &[("location", to)]);
    let bytes = match request
        .path()
        .trim_start_matches('/')
        .split('?')
        .next()
        .unwrap_or_default()
    {
        "body" => ok(&format!("hello {key} and {key}")),
        "json" => ok(&json!({"headers": {"x-key": key}}).to_string()),
        "base64" => ok(&BASE64.encode(format!("a{key}b").as_bytes())),
        "hex" => ok(&HEXLOWER.encode(key.as_bytes())),
        "header" => TestServer::head(
            "200 OK",
            &[
                ("x-echo", &key),
                ("set-cookie", &format!("key={key}; secure")),
            ],
        ),
        "name" => TestServer::head("200 OK", &[(&format!("x-{key}"), "1")]),
        "status" => TestServer::head(
            &format!("401 wrong key {key}"),
            &[("www-authenticate", &format!("Key {key}"))],
        ),
        "away" => redirect(&format!("http://b.example/body?{key}")),
        "unknown" => redirect(&format!("http://unknown.example/{key}")),
        "refused" => redirect(&format!("http://{key}.example/")),
        "invalid" => redirect(&format!("http://{key}@/")),
        "circle" => redirect(&format!("/circle?{key}")),
        "truncated" => format!("HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{key}").into_bytes(),
        "garbage" => format!("{key}: {key}\r\n\r\n").into_bytes(),
        "large" => ok(&key.repeat(500)),
        "slow" => {
            let _ = stream
                .write_all(format!("HTTP/1.1 200 OK\r\nx-echo: {key}\r\n\r\n{key}").as_bytes())
                .await;
            return std::future::pending().await;
        }
        _ => ok(""),
    };
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

/// Returns a catalog with a tool that shows all that it sees of a response.
fn catalog(own_key: Option<&'static str>) -> Catalog {
    let mut catalog = Catalog::new();
    let tool = Tool::new("web.show", "Shows a response.", json!({"type": "object"})).unwrap();
    let handler = move |cx: ToolContext, arguments: Value| async move {
        let mut request = Request::get(arguments["url"].as_str().unwrap_or_default())?;
        if let Some(key) = own_key {
            request = request.with_header(
                HeaderName::from_static("x-key"),
                HeaderValue::from_static(key),
            );
        }
        let client = cx.need::<HttpClient>()?;
        let response = client
            .send(&cx, request.with_max_body_bytes(10_000))
            .await?;
        let shown = format!("{response:?} {}", String::from_utf8_lossy(&response.body));
        tracing::info!(shown, "a response");
        log::trace!("a response: {shown}");
        cx.report(Progress::message(shown.clone()));
        Ok::<_, ToolError>(shown)
    };
    catalog
        .register(tool.with_effects(Effects::Undeclared), handler)
        .unwrap();
    catalog
}

/// Runs an agent with this number of turns, each of which calls every path but the slow one. Returns the number of calls.
async fn converse(
    turns: u32,
    catalog: &Catalog,
    cx: Host,
    events: &Counter,
    results: &Counter,
) -> u64 {
    let turn = |turn: u32| {
        let call = |path: &&str| {
            // The number keeps calls apart, so that the run does not end because they repeat.
            json!({"name": "web.show", "arguments": {"url": format!("http://a.example/{path}?{turn}")}})
        };
        json!({"calls": PATHS[..15].iter().map(call).collect::<Vec<_>>()})
    };
    let mut script: Vec<_> = (0..turns).map(turn).collect();
    script.push(json!({"text": "finished"}));
    let model = Scripted::from_json(&Value::from(script).to_string()).unwrap();
    let mut session = Session::new(catalog.list(), Selection::new(), cx.with_session("agent"));
    let driver = Driver::new(Arc::new(model))
        .with_max_steps(turns + 1)
        .with_events(events.clone())
        .with_checkpoints(true);
    let summary = driver.run(&mut session, "go").await.unwrap();
    results.look(&format!("{summary:?} {:?}", session.messages()));
    assert!(
        summary.failed_calls > 0 && summary.failed_calls < summary.calls,
        "{summary:?}"
    );
    summary.calls.into()
}

/// Runs calls and an agent, and returns how often the canary is in results, spans, progress, events, the journal and the log.
async fn run(
    calls: u64,
    turns: u32,
    own_key: Option<&'static str>,
    log: &LogCollector,
) -> [usize; 6] {
    let folder = tempfile::tempdir().unwrap();
    let logged_before = log.counter.count();
    let server = TestServer::start_streaming(echo).await;
    let mut limits = HttpLimits::default();
    limits.total = Duration::from_secs(10);
    let mut options = names([
        ("a.example", server.address()),
        ("b.example", server.address()),
    ]);
    options.limits = limits;
    if own_key.is_none() {
        let secret = BoundSecret::new("service", "http://a.example", "x-key", "", CANARY);
        options.secrets.push(secret.unwrap());
    }
    let [results, spans, progress, events] = [(); 4].map(|()| Counter::default());
    let _guard =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(spans.clone()));
    let path = folder.path().join("calls.journal");
    let journal = SqliteJournal::open(
        &path,
        JournalOptions {
            durability: Durability::Process,
            ..JournalOptions::default()
        },
    )
    .unwrap();
    let clauses = [
        "*:*:**",
        "net:read:a.example",
        "net:read:b.example",
        "net:read:unknown.example",
    ];
    let cx = Host::new()
        .with_grant(Grant::parse(clauses).unwrap())
        .with_service(HttpClient::from_options(options).unwrap())
        .with_journal(Arc::new(journal))
        .with_progress(Arc::new(progress.clone()))
        .with_recorded_content(true)
        .with_session("canary");
    let catalog = catalog(own_key);
    let errors = Mutex::new(std::collections::BTreeMap::new());
    // In parallel, because each commit of the journal waits for the disk.
    let (catalog, cx, results, errors) = (&catalog, &cx, &results, &errors);
    assert_eq!(
        converse(turns, catalog, cx.clone(), &events, results).await,
        u64::from(turns) * 15
    );
    let calls = (0..calls).map(|number| async move {
        let path = PATHS[usize::try_from(number).unwrap() % PATHS.len()];
        let token = CancellationToken::new();
        let cx = cx
            .clone()
            .with_place(CallPlace::new(number, 0))
            .with_cancellation(token.clone());
        let call = catalog.execute(
            &cx,
            "web.show",
            json!({"url": format!("http://a.example/{path}")}),
        );
        let cancel = async {
            if path == "slow" {
                tokio::time::sleep(Duration::from_millis(2)).await;
                token.cancel();
            }
        };
        let answered = tokio::join!(call, cancel).0;
        let code = answered.as_ref().err().map(ToolError::code);
        *errors
            .lock()
            .unwrap()
            .entry((path, format!("{code:?}")))
            .or_insert(0) += 1;
        results.look(&format!(
            "{answered:?} {}",
            answered
                .as_ref()
                .map_or_else(ToString::to_string, |_| String::new())
        ));
    });
    futures_util::stream::iter(calls)
        .buffer_unordered(32)
        .collect::<()>()
        .await;
    if own_key.is_none() {
        println!("outcomes: {:?}", errors.lock().unwrap());
    }
    let recorded = Counter::default();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        recorded.look(&String::from_utf8_lossy(
            &std::fs::read(file.unwrap().path()).unwrap(),
        ));
    }
    let [results, spans, progress, events, recorded] =
        [results, &spans, &progress, &events, &recorded].map(Counter::count);
    [
        results,
        spans,
        progress,
        events,
        recorded,
        log.counter.count() - logged_before,
    ]
}

#[tokio::test]
async fn a_canary_is_nowhere_after_many_calls() {
    let log = LogCollector::install();
    let calls =
        std::env::var("TOOLCRIB_CANARY_CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    let turns = u32::try_from(calls / 100).unwrap();
    let found = run(calls, turns, None, log).await;
    assert!(
        log.sources.lock().unwrap().contains("reqwest"),
        "{:?}",
        log.sources
    );
    // The positive control: a key of the tool, which no mask knows.
    let control = run(32, 2, Some(CANARY), log).await;
    println!(
        "canary: {found:?} in {calls} calls and {} of an agent (results, spans, progress, events, journal, log); control: {control:?}; log of {:?}",
        turns * 15,
        log.sources.lock().unwrap()
    );
    assert_eq!(found, [0; 6]);
    assert!(control.iter().all(|count| *count > 0), "{control:?}");
}
