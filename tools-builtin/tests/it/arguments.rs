//! Every tool returns exactly one result for any arguments, and never panics.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};
use tools::{Arguments, Catalog, ToolErrorKind};
use tools_builtin::cron::Jobs;
use tools_builtin::fs::Workspace;
use tools_builtin::memory::Memory;
use tools_builtin::message::Channels;
use tools_builtin::skill::{Discovery, Skills};
use tools_builtin::tts::{self, Speech};
use tools_builtin::web::search::{self, WebSearch};
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::http::TestResolver;
use tools_testkit::{TempWorkspace, TestHost};

/// All tools, with a filled workspace and everything granted, these hosts by name. Names of hosts lead to an address that the client refuses.
struct Bench {
    host: TestHost,
    files: TempWorkspace,
}

static BENCH: LazyLock<Bench> = LazyLock::new(|| {
    let files = TempWorkspace::new();
    fill(files.path());
    let loopback = SocketAddr::from(([127, 0, 0, 1], 1));
    let hosts = [
        "api.duckduckgo.com",
        "api.open-meteo.com",
        "example.org",
        "geocoding-api.open-meteo.com",
    ];
    let resolver = hosts.into_iter().fold(TestResolver::new(), |names, host| {
        names.with_name(host, loopback)
    });
    let http = HttpClient::from_options(HttpOptions {
        resolver: Some(Arc::new(resolver)),
        ..HttpOptions::default()
    })
    .unwrap();
    let mut catalog = Catalog::new();
    tools_builtin::register(&mut catalog).unwrap();
    // This binary starts no programs; the tests of toolcrib-exec do.
    for tool in [
        "exec.list",
        "exec.read",
        "exec.run",
        "exec.shell",
        "exec.start",
        "exec.stop",
        "exec.write",
    ] {
        assert!(catalog.unregister(tool));
    }
    let host = TestHost::new(catalog)
        .with_grant(&[
            "*:*:**",
            "net:read:api.duckduckgo.com",
            "net:read:api.open-meteo.com",
            "net:read:example.org",
            "net:read:geocoding-api.open-meteo.com",
        ])
        .with_service(Workspace::open(files.path()).unwrap())
        .with_service(Memory::in_memory().unwrap().with_project(files.path()))
        .with_service(Skills::new(
            Discovery {
                workspace: Some(files.path().into()),
                ..Discovery::default()
            }
            .find()
            .skills,
        ))
        .with_service(
            Speech::new(tts::get("openai").unwrap(), Some("https://example.org/v1")).unwrap(),
        )
        .with_service(Channels::new())
        .with_service(WebSearch::new(search::get("duckduckgo").unwrap(), None).unwrap())
        .with_service(Jobs::in_memory("here").unwrap())
        .with_service(http);
    Bench { host, files }
});

/// Creates the files of the workspace, or restores them.
fn fill(root: &Path) {
    // Errors are ignored: tools may have replaced a directory with a file, or the reverse.
    let _ = std::fs::create_dir_all(root.join(".agents/skills/a"));
    let _ = std::fs::create_dir(root.join("src"));
    for (file, text) in [
        (".agents/skills/a/SKILL.md", &b"# A"[..]),
        ("README.md", &b"# Title\n\ntext\n"[..]),
        ("src/main.rs", b"fn main() {}"),
        ("src/x", b"\xFF\xFE\0"),
    ] {
        let _ = std::fs::write(root.join(file), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_has_one_result(arguments in value()) {
        everywhere(&arguments)?;
    }

    #[test]
    fn any_bytes_have_one_result(bytes in vec(any::<u8>(), 0..64)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for entry in BENCH.host.catalog().list() {
            one_result(entry.name(), text.clone())?;
        }
    }

    #[test]
    fn a_damaged_text_has_one_result(arguments in nearly_valid(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = arguments.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let cut = String::from_utf8_lossy(&bytes[..at]).into_owned();
        for entry in BENCH.host.catalog().list() {
            one_result(entry.name(), text.clone())?;
            one_result(entry.name(), cut.clone())?;
        }
    }

    #[test]
    fn nearly_valid_arguments_have_one_result(arguments in nearly_valid()) {
        everywhere(&arguments)?;
    }
}

#[test]
fn a_protected_path_has_one_result() {
    one_result("fs.write", json!({"path": ".a", "content": "x"})).unwrap();
}

#[test]
fn the_examples_are_nearly_valid_enough_to_run() {
    let valid = |arguments: &Value| {
        BENCH.host.catalog().list().iter().any(|e| {
            BENCH
                .host
                .catalog()
                .validate(e.name(), arguments.clone())
                .is_ok()
        })
    };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drawn = (0..400).map(|_| nearly_valid().new_tree(&mut runner).unwrap().current());
    let share = drawn.filter(valid).count();
    assert!((100..400).contains(&share), "{share} of 400 pass a schema");
}

fn everywhere(arguments: &Value) -> Result<(), TestCaseError> {
    fill(BENCH.files.path());
    for entry in BENCH.host.catalog().list() {
        one_result(entry.name(), arguments.clone())?;
        one_result(entry.name(), arguments.to_string())?;
    }
    Ok(())
}

/// Asserts that a call returns a result or an error that a model can act on.
fn one_result(tool: &str, arguments: impl Into<Arguments>) -> Result<(), TestCaseError> {
    let outcome = BENCH.host.call_blocking(tool, arguments);
    match outcome.map_err(|error| error.kind().clone()) {
        Ok(result) => prop_assert!(!result.content.is_empty(), "{tool} gave nothing"),
        Err(ToolErrorKind::InvalidArguments { violations }) => prop_assert!(!violations.is_empty()),
        Err(ToolErrorKind::ExecutionFailed { message }) => prop_assert!(!message.is_empty()),
        // A damaged text leads to a host that the grant does not name, or to a protected path, and nobody is there to ask.
        Err(ToolErrorKind::Unapproved {
            unnamed, sensitive, ..
        }) => prop_assert!(!unnamed.is_empty() || !sensitive.is_empty()),
        Err(error) => prop_assert!(false, "{tool}: {error:?}"),
    }
    Ok(())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((name(), inner), 0..6).prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

/// Generates the arguments of an example with up to two fields changed, added or removed.
fn nearly_valid() -> impl Strategy<Value = Value> {
    let mut examples: Vec<Value> = BENCH
        .host
        .catalog()
        .list()
        .iter()
        .flat_map(|entry| entry.tool().examples.clone())
        .map(|example| example.arguments)
        .collect();
    examples.push(json!({"path": "README.md", "start": 1, "end": 2}));
    let field = prop_oneof![
        3 => text().prop_map(Value::from),
        2 => (0..5_u64).prop_map(Value::from),
        1 => value(),
    ];
    (
        select(examples),
        vec((name(), prop::option::of(field)), 0..3),
    )
        .prop_map(|(mut arguments, changes)| {
            for (name, field) in changes {
                match (arguments.as_object_mut(), field) {
                    (Some(fields), Some(field)) => drop(fields.insert(name, field)),
                    (Some(fields), None) => drop(fields.remove(&name)),
                    (None, _) => {}
                }
            }
            arguments
        })
}

const NAMES: &[&str] = &[
    "path",
    "start",
    "end",
    "after",
    "zone",
    "content",
    "parents",
    "old",
    "new",
    "all",
    "pattern",
    "glob",
    "context",
    "ignored",
    "from",
    "to",
    "overwrite",
    "recursive",
    "place",
    "country",
    "latitude",
    "longitude",
    "days",
    "units",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(NAMES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    let known = [
        "",
        ".",
        "..",
        "/",
        "src",
        "src/",
        "src/main.rs",
        "src/x",
        "README.md",
        "readme",
        "src/../README.md",
        "../x",
        "a/../..",
        "/etc/passwd",
        "C:/x",
        "a\\b",
        "a\0b",
        "UTC",
        "Europe/Berlin",
        "Berlin",
        "+02:00",
        "+99:00",
        "-",
        "\u{FEFF}",
        "\u{202E}txt",
    ];
    prop_oneof![
        4 => select(known.to_vec()).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => "[a-z./+:-]{0,12}",
        1 => (1..9_000_usize).prop_map(|length| "é/".repeat(length / 3)),
    ]
}
