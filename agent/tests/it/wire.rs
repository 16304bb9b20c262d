//! The tools of a set on the wire: sorted, legal, equal bytes for equal tools, and independent of each other.

use crate::workshop;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::workshop::{add, catalog};
use agent::{Selection, SkipReason, ToolSet, WireOptions};
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::protocol::wire::schema::NotStrict;
use tools::protocol::wire::{Format, Strictness};
use tools::protocol::{Example, ToolName};
use tools::{Catalog, Effects, Entry, Host, Services, Tool, ToolCall, ToolContext};

const NAMES: [&str; 8] = [
    "fs.read", "fs/read", "fs_read", "fs__read", "fs--read", "time.now", "a", "z:z",
];
const MODES: [Strictness; 2] = [Strictness::Relaxed, Strictness::Strict];

fn set(entries: impl IntoIterator<Item = Arc<Entry>>, globs: &[&str]) -> ToolSet {
    ToolSet::new(entries, &Selection::parse(globs).unwrap(), &Services::new())
}

/// Returns each format with each mode.
fn wires() -> impl Iterator<Item = (Format, Strictness)> {
    Format::ALL
        .into_iter()
        .flat_map(|format| MODES.map(|mode| (format, mode)))
}

fn definitions(set: &ToolSet, format: Format, mode: Strictness) -> Vec<Value> {
    serde_json::from_str(set.wire(format, mode).definitions()).unwrap()
}

fn with_schema(catalog: &mut Catalog, name: &str, schema: Value) {
    let tool = Tool::new(name, "Takes arguments.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(tool, async |_: ToolContext, arguments: Value| {
            Ok::<_, String>(arguments)
        })
        .unwrap();
}

#[test]
fn definitions_stand_in_the_order_of_the_tools_by_names_that_lead_back() {
    let set = set(catalog(NAMES).list(), &[]);
    for (format, mode) in wires() {
        let wire = set.wire(format, mode);
        let names: Vec<_> = wire.list().map(|tool| tool.name.clone()).collect();
        assert!(
            names.iter().all(|name| format.names().allows(name)),
            "{names:?}"
        );
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            NAMES.len(),
            "{names:?}"
        );
        let called = |name: &String| wire.read_call(ToolCall::new("1", &**name, json!({}))).name;
        let tools: Vec<_> = names.iter().map(called).collect();
        assert_eq!(
            tools,
            set.list()
                .iter()
                .map(|entry| entry.name().as_str())
                .collect::<Vec<_>>()
        );
        assert_eq!(definitions(&set, format, mode).len(), NAMES.len());
    }
}

#[test]
fn equal_sets_give_equal_bytes_however_they_came_about() {
    let mut backwards = Catalog::new();
    NAMES
        .iter()
        .rev()
        .for_each(|name| add(&mut backwards, name));
    let mut entries = catalog(NAMES).list();
    entries.reverse();
    for (format, mode) in wires() {
        let text = set(catalog(NAMES).list(), &[])
            .wire(format, mode)
            .definitions()
            .clone();
        assert_eq!(
            *set(backwards.list(), &[]).wire(format, mode).definitions(),
            text
        );
        assert_eq!(
            *set(entries.clone(), &[]).wire(format, mode).definitions(),
            text
        );
    }
}

#[test]
fn each_format_and_mode_has_its_own_bytes_which_are_built_once() {
    let mut catalog = catalog(NAMES);
    with_schema(
        &mut catalog,
        "closed",
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
    );
    let set = set(catalog.list(), &[]);
    for (format, mode) in wires() {
        let (wire, clone) = (set.wire(format, mode), set.clone());
        let again = clone.wire(format, mode).value();
        assert_eq!(
            wire.definitions().as_ptr(),
            set.clone().wire(format, mode).definitions().as_ptr()
        );
        assert!(std::ptr::eq(wire.value(), again));
        assert_eq!(
            serde_json::from_str::<Value>(wire.definitions()).unwrap(),
            *again
        );
    }
    // Ollama takes the same definitions as OpenAI chat.
    let formats: Vec<_> = Format::ALL
        .into_iter()
        .filter(|format| *format != Format::Ollama)
        .collect();
    let text = |format: &Format| set.wire(*format, Strictness::Relaxed).definitions().clone();
    assert_eq!(
        formats.iter().map(text).collect::<BTreeSet<_>>().len(),
        formats.len()
    );
    let [relaxed, strict] =
        MODES.map(|mode| set.wire(Format::OpenAiChat, mode).definitions().clone());
    assert_ne!(relaxed, strict);
    assert_eq!(
        &**ToolSet::default()
            .wire(Format::Anthropic, Strictness::Relaxed)
            .definitions(),
        "[]"
    );
}

#[test]
fn one_more_tool_changes_no_other_definition_and_no_other_name() {
    for newcomer in NAMES {
        let rest: Vec<_> = NAMES.into_iter().filter(|name| *name != newcomer).collect();
        let (few, all) = (
            set(catalog(rest).list(), &[]),
            set(catalog(NAMES).list(), &[]),
        );
        for (format, mode) in wires() {
            let added = all
                .get(newcomer)
                .unwrap()
                .wire(format, mode)
                .unwrap()
                .definition
                .to_string();
            let mut left: Vec<_> = all
                .wire(format, mode)
                .list()
                .map(|tool| tool.definition.to_string())
                .collect();
            left.retain(|definition| *definition != added);
            let before: Vec<_> = few
                .wire(format, mode)
                .list()
                .map(|tool| tool.definition.to_string())
                .collect();
            assert_eq!(left, before, "{newcomer} changed others");
        }
    }
}

#[test]
fn no_foreign_name_takes_the_place_of_a_tool() {
    // Every form that `fs.read` has on a wire, and the digested form of a long name, each as the name of another tool.
    let long = format!("server.{}", "x".repeat(120));
    let own = ["fs.read".to_owned(), long];
    for (format, mode) in wires() {
        let foreign: Vec<_> = own
            .iter()
            .map(|name| format.names().encode(name).into_owned())
            .collect();
        let names: BTreeSet<_> = own.iter().chain(&foreign).map(String::as_str).collect();
        let both = set(catalog(names.iter().copied()).list(), &[]);
        let wire = both.wire(format, mode);
        assert_eq!(
            wire.list()
                .map(|tool| &tool.name)
                .collect::<BTreeSet<_>>()
                .len(),
            names.len()
        );
        for (own, spelling) in own.iter().zip(&foreign) {
            assert_eq!(
                wire.read_call(ToolCall::new("1", &**spelling, json!({})))
                    .name,
                *own,
                "on {format}"
            );
        }
    }
}

#[test]
fn a_call_by_the_own_name_of_a_tool_is_understood() {
    let set = set(catalog(NAMES).list(), &[]);
    let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
    let read = |name: &str| wire.read_call(ToolCall::new("1", name, json!({}))).name;
    assert_eq!(
        ["fs.read", "fs/read", "fs_read", "z:z"].map(read),
        ["fs.read", "fs/read", "fs_read", "z:z"]
    );
    assert_eq!(read("fs__read"), "fs.read", "a wire name takes precedence");
    for unknown in ["fs__raed", "no_such", "fs..raed"] {
        let call = ToolCall::new("1", read(unknown), json!({}));
        assert!(!set.contains(&call.name), "{unknown}");
        assert!(
            unknown.contains("..") || wire.write_call(&call).name == unknown,
            "the model reads what it wrote"
        );
    }
}

#[test]
fn a_tool_outside_the_set_is_not_replaced_by_one_with_its_wire_name() {
    let long = format!("server.{}", "x".repeat(80));
    for outside in ["fs.read", &long] {
        let spelling = Format::Anthropic.names().encode(outside);
        // The foreign tool is in the first set, and in none of the second.
        for names in [vec![&*spelling], Vec::new()] {
            let set = set(catalog(names).list(), &[]);
            let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
            let read = wire.read_call(ToolCall::new("1", &*spelling, json!({})));
            assert!(!set.contains(&read.name), "{spelling}");
            assert_ne!(read.name, spelling, "no record names the foreign tool");
            assert!(
                read.name == outside || ToolName::new(&read.name).is_err(),
                "{}",
                read.name
            );
            assert_eq!(
                wire.write_call(&read).name,
                spelling,
                "the model reads what it wrote"
            );
        }
    }
}

#[tokio::test]
async fn the_call_of_an_unknown_tool_is_answered_with_an_error_and_runs_nothing() {
    let long = Format::Anthropic
        .names()
        .encode(&format!("server.{}", "x".repeat(80)))
        .into_owned();
    let set = set(catalog([&*long, "ping"]).list(), &[]);
    let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
    let answer = async |name: &str| {
        set.answer(&Host::new(), wire, ToolCall::new("1", name, json!({})))
            .await
    };
    let refused = answer(&long).await.unwrap();
    assert!(
        refused.is_error && refused.to_text().contains("there is no tool"),
        "{refused:?}"
    );
    let named = format!("{long:?}");
    assert!(
        refused.to_text().contains(&named) && !refused.to_text().contains("offered"),
        "{refused:?}"
    );
    // The model knows the words of a long name, and gets its digest wrong.
    let refused = answer("pings_-_0123456789abcdef01234567")
        .await
        .unwrap()
        .to_text();
    assert!(refused.contains("did you mean ping?"), "{refused}");
    assert!(!answer("ping").await.unwrap().is_error);
    let cancelled = Host::new();
    let cancelled = cancelled
        .clone()
        .with_cancellation(cancelled.cancellation().child_token());
    cancelled.cancellation().cancel();
    assert!(
        set.answer(&cancelled, wire, ToolCall::new("1", "ping", json!({})))
            .await
            .is_err()
    );
}

#[test]
fn tools_beyond_the_most_of_a_request_are_skipped() {
    let names: Vec<_> = (0..130).map(|number| format!("t{number:03}")).collect();
    let set = set(catalog(names.iter().map(String::as_str)).list(), &[]);
    let sent = |format| definitions(&set, format, Strictness::Relaxed).len();
    assert_eq!(
        [Format::OpenAiChat, Format::Anthropic, Format::Mcp].map(sent),
        [128, 130, 130]
    );
    let unlimited = set.wire_as(WireOptions {
        is_limited: false,
        ..WireOptions::new(Format::OpenAiChat)
    });
    assert_eq!(
        (unlimited.list().len(), unlimited.list_skipped().len()),
        (130, 0),
        "another service with the same API"
    );
    let skipped = set
        .wire(Format::OpenAiChat, Strictness::Relaxed)
        .list_skipped();
    assert_eq!(
        skipped.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["t128", "t129"]
    );
    assert!(
        skipped
            .iter()
            .all(|tool| matches!(tool.reason, SkipReason::RequestLimit { most: 128, .. })),
        "{skipped:?}"
    );
}

#[test]
fn gemini_is_sent_no_more_tools_than_it_takes() {
    let names: Vec<_> = (0..513).map(|number| format!("t{number:03}")).collect();
    let set = set(catalog(names.iter().map(String::as_str)).list(), &[]);
    let wire = set.wire(Format::Gemini, Strictness::Relaxed);
    assert_eq!((wire.list().len(), wire.list_skipped().len()), (512, 1));
}

#[test]
fn examples_are_sent_on_request_unless_the_service_would_refuse_them() {
    let mut catalog = Catalog::new();
    let schema =
        json!({"type": "object", "properties": {"$at": {"type": "string"}, "n": {"enum": [1]}}});
    let examples = [
        json!({"$at": "x"}),
        json!({"$at": 1}),
        json!({"n": 2}),
        json!({"n": 1, "more": true}),
    ];
    let tool = Tool::new("t", "T.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    let tool = examples.into_iter().fold(tool, |tool, example| {
        tool.with_example(Example::new(example))
    });
    catalog
        .register(tool, async |_: ToolContext, _: Value| "pong")
        .unwrap();
    let set = set(catalog.list(), &[]);
    let (relaxed, strict) = (Strictness::Relaxed, Strictness::Strict);
    let first = |format, mode| {
        set.wire_as(WireOptions {
            strictness: mode,
            examples: true,
            ..WireOptions::new(format)
        })
        .value()[0]
            .clone()
    };
    assert_eq!(
        first(Format::Anthropic, relaxed)["input_examples"],
        json!([{"at": "x"}, {"n": 1, "more": true}])
    );
    // Strict schemas are closed.
    assert_eq!(first(Format::Anthropic, strict)["strict"], true);
    assert_eq!(
        first(Format::Anthropic, strict)["input_examples"],
        json!([{"at": "x"}])
    );
    let described = first(Format::OpenAiChat, relaxed)["function"]["description"].to_string();
    assert!(
        described.contains(r#"{\"at\":\"x\"}"#) && !described.contains(":2"),
        "{described}"
    );
    for (format, mode) in wires() {
        let plain = set.wire(format, mode).definitions();
        assert!(!plain.contains("xamples"), "only on request: {plain}");
    }
}

#[test]
fn arguments_are_those_of_the_wire_outside_and_of_the_catalog_inside() {
    let mut catalog = Catalog::new();
    let schema = json!({"type": "object", "properties": {"$filter": {"type": "string"}}});
    with_schema(&mut catalog, "q.find", schema);
    let set = set(catalog.list(), &[]);
    let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
    let call = ToolCall::new("1", "q__find", json!({"filter": "a", "other": 1}));
    let read = wire.read_call(call.clone());
    assert_eq!(
        (&*read.name, read.arguments.value()),
        ("q.find", &json!({"$filter": "a", "other": 1}))
    );
    assert_eq!(wire.write_call(&read), call);
    let unknown = ToolCall::new("1", "no.such", json!({"filter": 1}));
    assert_eq!(wire.write_call(&unknown).arguments, unknown.arguments);
}

#[test]
fn strict_tools_fit_the_limits_of_a_request_in_the_order_of_their_names() {
    let mut catalog = Catalog::new();
    let names: Vec<_> = (10..40).map(|number| format!("t{number}")).collect();
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    names
        .iter()
        .for_each(|name| with_schema(&mut catalog, name, schema.clone()));
    let set = set(catalog.list(), &[]);
    let limits = Format::Anthropic.strict_limits().unwrap();
    let strict = |format| {
        set.wire(format, Strictness::Strict)
            .list()
            .filter(|tool| tool.strict.is_ok())
            .count()
    };
    assert_eq!(
        (strict(Format::Anthropic), strict(Format::OpenAiChat)),
        (limits.tools, names.len())
    );
    let last = set
        .wire(Format::Anthropic, Strictness::Strict)
        .list()
        .last()
        .unwrap();
    assert_eq!(last.strict, Err(NotStrict::RequestLimit));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn earlier_requests_change_no_byte(
        requests in prop::collection::vec(prop::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len()), 1..6)
    ) {
        let catalog = catalog(NAMES);
        for names in &requests {
            let some = |catalog: &Catalog| names.iter().map(|name| catalog.get(name).unwrap()).collect::<Vec<_>>();
            for (format, mode) in wires() {
                let (again, fresh) = (set(some(&catalog), &[]), set(some(&workshop::catalog(NAMES)), &[]));
                prop_assert_eq!(again.wire(format, mode).definitions(), fresh.wire(format, mode).definitions());
            }
        }
    }
}

#[test]
fn a_model_may_call_a_former_name_by_its_wire_form() {
    let long = format!("old.{}", "x".repeat(80));
    let schema = json!({"type": "object", "properties": {"$at": {"type": "string"}}});
    let renamed = Tool::new("fs.read", "Reads.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    let renamed = renamed.with_was(["fs.cat".parse().unwrap(), long.parse().unwrap()]);
    let mut catalog = Catalog::new();
    catalog
        .register(renamed, async |_: ToolContext, _: Value| "x".to_owned())
        .unwrap();
    let set = set(catalog.list(), &["*"]);
    let wire = set.wire(Format::Anthropic, Strictness::Relaxed);
    assert!(
        !wire.definitions().contains("cat") && !wire.definitions().contains("old"),
        "{}",
        wire.definitions()
    );
    for former in ["fs.cat", &long] {
        let call = wire.read_call(ToolCall::new("1", &*wire.name(former), json!({"at": "x"})));
        assert_eq!(call, ToolCall::new("1", former, json!({"$at": "x"})));
        assert_eq!(set.get(&call.name).unwrap().name(), "fs.read");
        assert_eq!(wire.write_call(&call).arguments, json!({"at": "x"}));
    }
}
