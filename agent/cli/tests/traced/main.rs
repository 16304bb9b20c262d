//! Programs with tools, a provider, a channel or a subscriber of their own: their traces, their prints and their panics. The test is its
//! own program: with [`CHILD`] it has the commands of `toolcrib`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that is its own harness"
)]

#[path = "../it/collector.rs"]
#[allow(dead_code, reason = "each program of tests uses a part of it")]
mod collector;
#[path = "../it/loopback.rs"]
mod loopback;

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent::provider::inventory;
use agent::{Direct, ProviderSubmission};
use collector::Collector;
use tools::{ToolContext, source, tool};
use tools_builtin::message::{Channel, ChannelKind, Delivery, Inbox, ListenFuture, SendFuture};
use tracing_subscriber::layer::SubscriberExt as _;

/// The variable that makes this program the child: `plain`, or `subscribed` with a subscriber of its own.
const CHILD: &str = "TRACED_CHILD";

/// The number of providers that were created.
static CREATED: AtomicUsize = AtomicUsize::new(0);

/// The number of the provider whose creation panics: that of the first message, after a check at the start.
const PANICS: usize = 2;

inventory::submit! {
    ProviderSubmission {
        name: "fragile",
        description: "panics",
        source: source!(),
        service: |_| None,
        create: |_| {
            assert_ne!(CREATED.fetch_add(1, Ordering::Relaxed) + 1, PANICS, "fragile-reason");
            Ok(Arc::new(Direct))
        },
    }
}

/// Panics.
#[derive(Debug)]
struct Fragile;

impl Channel for Fragile {
    fn send<'a>(&'a self, _: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async { Ok(()) })
    }

    fn listen(&self, _: Inbox) -> Option<ListenFuture<'_>> {
        panic!("fragile-reason")
    }
}

inventory::submit! {
    ChannelKind {
        name: "fragile",
        description: "panics",
        source: source!(),
        fields: &[],
        create: |_| Ok(Arc::new(Fragile)),
    }
}

static KEPT: Mutex<Vec<ToolContext>> = Mutex::new(Vec::new());

/// Never yields.
#[tool(name = "test.spin", pure, timeout = "20ms")]
async fn spin() -> String {
    loop {
        std::thread::yield_now();
    }
}

/// Keeps its context.
#[tool(name = "test.keep", pure)]
async fn keep(cx: &ToolContext) -> String {
    KEPT.lock().unwrap().push(cx.clone());
    "kept".to_owned()
}

/// Prints.
#[tool(name = "test.print", pure)]
async fn print() -> String {
    println!("printed");
    "returned".to_owned()
}

fn main() -> ExitCode {
    match env::var(CHILD).as_deref() {
        Ok("subscribed") => {
            tracing::subscriber::set_global_default(
                tracing_subscriber::registry().with(tracing_subscriber::layer::Identity::new()),
            )
            .unwrap();
            toolcrib::main()
        }
        Ok(_) => toolcrib::main(),
        Err(_) => test(),
    }
}

/// Runs the tests as the harness of Rust does: `--list` lists them, and a name chooses one.
fn test() -> ExitCode {
    let tests: [(&str, fn()); 5] = [
        (
            "a_channel_that_panics_ends_the_listener",
            a_channel_that_panics_ends_the_listener,
        ),
        (
            "a_message_whose_run_panics_is_answered_and_the_next_one_too",
            a_message_whose_run_panics_is_answered_and_the_next_one_too,
        ),
        (
            "a_tool_that_prints_does_not_disturb_the_client_of_serve",
            a_tool_that_prints_does_not_disturb_the_client_of_serve,
        ),
        (
            "abandoned_calls_and_kept_contexts_leave_no_span_out",
            abandoned_calls_and_kept_contexts_leave_no_span_out,
        ),
        (
            "a_program_with_a_subscriber_is_warned_only_of_its_setting",
            a_program_with_a_subscriber_is_warned_only_of_its_setting,
        ),
    ];
    let arguments: Vec<_> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let chosen = arguments
        .iter()
        .find(|argument| !argument.starts_with('-') && *argument != "terse");
    if has("--ignored") {
        return ExitCode::SUCCESS;
    }
    for (name, test) in tests
        .into_iter()
        .filter(|(name, _)| chosen.is_none_or(|chosen| name.contains(chosen.as_str())))
    {
        println!("{name}: test");
        if !has("--list") {
            test();
        }
    }
    ExitCode::SUCCESS
}

/// Runs this program as the child with these variables, in a folder of its own.
fn child(kind: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let home = tempfile::tempdir().unwrap();
    command(home.path(), kind, arguments, variables)
        .output()
        .unwrap()
}

fn command(home: &Path, kind: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    std::fs::write(
        home.join("turns.json"),
        r#"[{"calls": [{"name": "test.keep"}]}, {"calls": [{"name": "test.spin"}]}, {"text": "done"}]"#,
    )
    .unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env(CHILD, kind);
    command.envs(variables.iter().copied());
    command
}

fn a_tool_that_prints_does_not_disturb_the_client_of_serve() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), "plain", &["serve", "--select", "test.*"], &[]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    let mut input = child.stdin.take().unwrap();
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{client}}}"#
    )
    .unwrap();
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
    )
    .unwrap();
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"test.print"}}}}"#
    )
    .unwrap();
    drop(input);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    );
    let lines: Vec<_> = stdout.lines().collect();
    assert!(
        status.success() && lines.iter().all(|line| line.starts_with('{')),
        "{stdout} {stderr}"
    );
    assert!(
        matches!(lines[..], [_, answer] if answer.contains("returned")),
        "{stdout} {stderr}"
    );
    assert!(stderr.contains("printed\n"), "{stderr}");
}

fn abandoned_calls_and_kept_contexts_leave_no_span_out() {
    let collector = Collector::new("200 OK");
    let ended = child(
        "plain",
        &["run", "x", "--script", "turns.json"],
        &[("TOOLCRIB_TELEMETRY_ENDPOINT", &collector.url)],
    );
    assert!(ended.status.success(), "{ended:?}");
    let lines = collector.lines();
    let run = "invoke_agent toolcrib";
    let expected = [
        (run, "", ""),
        ("chat", run, ""),
        ("execute_tool test.keep", run, ""),
        ("chat", run, ""),
        ("execute_tool test.spin", run, "timeout"),
        ("chat", run, ""),
    ];
    let owned = |(name, parent, error): (&str, &str, &str)| {
        (name.to_owned(), parent.to_owned(), error.to_owned())
    };
    assert_eq!(lines, expected.map(owned));
    let spans = collector.spans();
    assert!(spans.iter().all(
        |span| span.end_time_unix_nano <= spans[0].end_time_unix_nano || span.name.contains("spin")
    ));
}

fn a_program_with_a_subscriber_is_warned_only_of_its_setting() {
    let collector = Collector::new("200 OK");
    for (variable, warnings) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", 0),
        ("TOOLCRIB_TELEMETRY_ENDPOINT", 1),
    ] {
        let ended = child(
            "subscribed",
            &["call", "test.keep"],
            &[(variable, &collector.url)],
        );
        assert!(ended.status.success(), "{ended:?}");
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(
            stderr.matches("warning").count(),
            warnings,
            "{variable}: {stderr}"
        );
    }
    assert_eq!(collector.heads().len(), 0);
}

fn a_channel_that_panics_ends_the_listener() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("settings.toml"),
        "[channels.box]\ntype = 'fragile'\n",
    )
    .unwrap();
    let arguments = [
        "listen",
        "box",
        "--provider",
        "direct",
        "--config",
        "settings.toml",
    ];
    let Output { status, stderr, .. } = command(home.path(), "plain", &arguments, &[])
        .output()
        .unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(
        !status.success()
            && stderr.contains("box")
            && stderr.contains("it panicked: fragile-reason"),
        "{stderr}"
    );
}

fn a_message_whose_run_panics_is_answered_and_the_next_one_too() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(
        home.path(),
        "plain",
        &["listen", "terminal", "--provider", "fragile"],
        &[],
    );
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"test.keep\ntest.keep\n")
        .unwrap();
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    );
    assert!(
        status.success() && stderr.contains("fragile-reason"),
        "{stdout} {stderr}"
    );
    let kept = stdout.strip_prefix("I could not answer this message.\n");
    assert!(
        kept.is_some_and(|kept| kept.contains("kept")) && !stdout.contains("fragile"),
        "{stdout} {stderr}"
    );
}
