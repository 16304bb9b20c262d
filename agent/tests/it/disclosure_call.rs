//! `tools.call` is the call of the tool that it names.

use std::sync::Arc;

use agent::{Disclosure, Event, Selection, Session, Turn};
use serde_json::{Value, json};
use tools::protocol::{Message, Part};
use tools::{Catalog, Decision, Effects, Grant, Host, Tool, ToolCall, ToolContext, ToolResult};
use tools_testkit::RecordingApprover;

use crate::disclosure::{Model, always_searching, entries};
use crate::notebook::Notebook;
use crate::workshop::{EventLog, kind, results};

/// A catalog with `page.publish`, which writes its title, `page.$count`, whose argument has another name on the wire, and a tool that
/// makes a large session of it.
fn pages() -> Catalog {
    let mut catalog = Catalog::new();
    let writes: Effects = serde_json::from_value(json!({"writes": ["page:{title}"]})).unwrap();
    let parameters = json!({"type": "object", "required": ["title"], "additionalProperties": false, "properties": {
        "title": {"type": "string"}, "key": {"type": "string", "writeOnly": true}, "number": {"type": "integer"},
    }});
    let publish =
        async |_: ToolContext, arguments: Value| format!("published {}", arguments["title"]);
    let tool = Tool::new("page.publish", "Publishes a page.", parameters)
        .unwrap()
        .with_effects(writes);
    catalog.register(tool, publish).unwrap();
    let parameters =
        json!({"type": "object", "properties": {"$of": {"type": "string"}}, "required": ["$of"]});
    let count = async |_: ToolContext, arguments: Value| format!("counted {}", arguments["$of"]);
    let tool = Tool::new("page.count", "Counts pages.", parameters)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog.register(tool, count).unwrap();
    let large = Tool::new(
        "large",
        "Is large. ".repeat(1000),
        json!({"type": "object"}),
    )
    .unwrap();
    catalog
        .register(
            large.with_effects(Effects::Pure),
            async |_: ToolContext, _: Value| "large",
        )
        .unwrap();
    catalog
}

/// The traces that the calls of a turn leave.
#[derive(Debug, PartialEq)]
struct Traces {
    events: Vec<String>,
    journal: Vec<String>,
    approvals: Vec<tools_testkit::RecordedApproval>,
    results: Vec<(String, ToolResult)>,
    failed: u32,
}

/// Runs a turn of these calls, as they are or each through `tools.call`.
async fn traces(calls: &[(&str, Value)], is_search: bool) -> Traces {
    let (notebook, log) = (Notebook::default(), EventLog::default());
    let approver = RecordingApprover::from_script([Decision::Allow]);
    let cx = Host::new()
        .with_grant(Grant::parse(["page:write:granted"]).unwrap())
        .with_approver(Arc::new(approver.clone()))
        .with_journal(Arc::new(notebook.clone()))
        .with_session("monday");
    let call = |(number, (name, arguments)): (usize, &(&str, Value))| {
        if is_search {
            let arguments = json!({"name": name, "arguments": arguments});
            ToolCall::new(number.to_string(), "tools__call", arguments)
        } else {
            ToolCall::new(number.to_string(), *name, arguments.clone())
        }
    };
    let model = Model::new([
        Turn::calls(calls.iter().enumerate().map(call)),
        Turn::answer("done"),
    ]);
    let disclosure = if is_search {
        Disclosure::Search {
            always: Selection::none(),
            budget: always_searching(),
        }
    } else {
        Disclosure::All
    };
    let mut session =
        Session::new(entries(&pages()), Selection::new(), cx).with_disclosure(disclosure);
    let driver = model
        .driver()
        .with_events(log.clone())
        .with_checkpoints(true);
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        model.offered().contains(&"tools__call".to_owned()),
        is_search
    );
    let event = |event: Event| match event {
        Event::Result {
            id,
            name,
            result,
            error,
            ..
        } => format!("{id} {name} {result:?} {error:?}"),
        Event::CallStarted {
            arguments, rulings, ..
        } if !rulings.is_empty() => format!("{arguments} {rulings:?}"),
        event => format!("{event:?}"),
    };
    let mut journal: Vec<_> = notebook
        .lines()
        .iter()
        .map(|line| format!("{line:?}"))
        .collect();
    journal.sort();
    let mut events: Vec<_> = log
        .events()
        .into_iter()
        .filter(|event| !matches!(event, Event::Done(_)))
        .map(event)
        .collect();
    events.sort();
    let (approvals, failed) = (approver.requests(), summary.failed_calls);
    Traces {
        events,
        journal,
        approvals,
        results: results(session.messages()),
        failed,
    }
}

#[tokio::test]
async fn a_call_through_another_leaves_the_traces_of_the_tool_alone() {
    let calls = [
        (
            "page__publish",
            json!({"title": "granted", "number": 123_456_789_012_345_u64}),
        ),
        ("page__publish", json!({"title": "asked", "key": "canary"})),
        ("page__count", json!({"of": "x"})),
        ("page.count", json!({"of": "y"})),
        ("page__pubish", json!({"title": "a"})),
    ];
    let (direct, through) = (traces(&calls, false).await, traces(&calls, true).await);
    assert_eq!(through, direct);
    assert_eq!(direct.approvals.len(), 1);
    assert_eq!(direct.failed, 1);
    assert!(
        direct.results[4].1.to_text().contains("page__publish"),
        "{:?}",
        direct.results[4]
    );
    assert!(
        !format!(
            "{:?} {:?} {:?}",
            through.events, through.journal, through.approvals
        )
        .contains("tools.call")
    );
    assert!(!format!("{:?} {:?}", through.events, through.journal).contains("canary"));
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_the_definition() {
    let calls = [
        ("page__publish", json!({"titel": "a"})),
        ("page__count", json!({"wrong": 1})),
    ];
    let (direct, through) = (traces(&calls, false).await, traces(&calls, true).await);
    for ((_, direct), (_, through)) in direct.results.iter().zip(&through.results) {
        assert_eq!(
            (kind(direct), kind(through)),
            ("invalid_arguments", "invalid_arguments")
        );
        assert!(
            through.to_text().starts_with(&direct.to_text()),
            "{through:?}"
        );
        assert!(
            through
                .to_text()
                .contains("its definition: {\"name\":\"page__"),
            "{through:?}"
        );
        assert!(!direct.to_text().contains("its definition"), "{direct:?}");
    }
    assert!(
        through.results[1]
            .1
            .to_text()
            .contains(r#""required":["of"]"#),
        "as on the wire: {through:?}"
    );
}

#[tokio::test]
async fn an_unreadable_call_is_refused_without_its_secrets() {
    for arguments in [
        json!({"name": "page__publish", "arguments": r#"{"key": "canary""#}),
        json!({"name": "page__publish", "title": "x", "key": "canary"}),
        json!({"arguments": {"key": "canary"}}),
    ] {
        let (notebook, log) = (Notebook::default(), EventLog::default());
        let cx = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        let model = Model::new([
            Turn::calls([ToolCall::new("a", "tools__call", arguments)]),
            Turn::answer("done"),
        ]);
        let disclosure = Disclosure::Search {
            always: Selection::none(),
            budget: always_searching(),
        };
        let mut session =
            Session::new(entries(&pages()), Selection::new(), cx).with_disclosure(disclosure);
        model
            .driver()
            .with_events(log.clone())
            .run(&mut session, "go")
            .await
            .unwrap();
        let [(_, result)] = &results(session.messages())[..] else {
            panic!()
        };
        assert_eq!(kind(result), "invalid_arguments");
        let started = log.events().into_iter().find_map(|event| match event {
            Event::CallStarted {
                name, arguments, ..
            } => Some((name, arguments.to_string())),
            _ => None,
        });
        let (name, shown) = started.unwrap();
        assert_eq!(name, "tools.call");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(!format!("{:?} {:?}", notebook.lines(), result.to_text()).contains("canary"));
    }
}

#[tokio::test]
async fn the_service_sees_its_own_names_in_earlier_calls() {
    let call = |name, arguments| {
        Turn::calls([ToolCall::new(
            "a",
            "tools__call",
            json!({"name": name, "arguments": arguments}),
        )])
    };
    let model = Model::new([
        call("page__count", json!({"of": "x"})),
        Turn::answer("done"),
    ]);
    let disclosure = Disclosure::Search {
        always: Selection::none(),
        budget: always_searching(),
    };
    let mut session =
        Session::new(entries(&pages()), Selection::new(), Host::new()).with_disclosure(disclosure);
    model.driver().run(&mut session, "go").await.unwrap();
    let sent = model.requests.lock().unwrap()[1].messages[1].clone();
    assert!(
        sent.contains("tools__call")
            && sent.contains(r#"{"name":"page__count","arguments":{"of":"x"}}"#),
        "{sent}"
    );
    let calls: Vec<_> = session.messages().iter().flat_map(Message::calls).collect();
    assert_eq!(
        calls[0].arguments,
        json!({"name": "page.count", "arguments": {"$of": "x"}})
    );
    let is_own =
        |part: &Part| matches!(part, Part::ToolResult { name, .. } if name == "tools.call");
    assert!(
        session
            .messages()
            .iter()
            .flat_map(|message| &message.parts)
            .any(is_own),
        "results are those of the model's calls"
    );
}

#[test]
fn earlier_calls_are_shown_without_the_secrets_of_the_named_tool() {
    let session = Session::new(entries(&pages()), Selection::new(), Host::new());
    let shown = |arguments| {
        session
            .tools()
            .masked_arguments(&ToolCall::new("a", "tools.call", arguments))
            .to_string()
    };
    let named =
        shown(json!({"name": "page.publish", "arguments": {"title": "x", "key": "canary"}}));
    assert!(
        named.contains(r#""title":"x""#) && !named.contains("canary"),
        "{named}"
    );
    let unreadable = shown(json!({"name": "page.publish", "arguments": r#"{"key": "canary"}"#}));
    assert!(!unreadable.contains("canary"), "{unreadable}");
}
