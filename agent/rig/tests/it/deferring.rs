//! Services that defer tools, and sessions with them.

use std::sync::{Arc, Mutex};

use crate::prefix::conversation;
use crate::service::wire::{self, Block, options};
use crate::service::{Reply, Service, json as whole};
use agent::provider::GenerationOptions;
use agent::{Driver, Event, Selection, Session};
use agent_rig::Remote;
use serde_json::{Value, json};
use tools::protocol::Example;
use tools::protocol::wire::Format;
use tools::{Catalog, Effects, Entry, Tool, ToolContext};

/// The formats whose services can defer tools.
pub(crate) const DEFERRING: [Format; 2] = [Format::Anthropic, Format::OpenAiResponses];

/// The types of the items that tell a service of found tools.
pub(crate) const LOADED: [&str; 2] = ["tool_reference", "tool_search_output"];

pub(crate) fn remote(
    format: Format,
    service: &Service,
    streaming: bool,
    deferred: Option<bool>,
) -> Remote {
    let model = if format == Format::Anthropic {
        "claude-sonnet-4-5"
    } else {
        "gpt-5.4"
    };
    let mut generation = GenerationOptions::new();
    generation.deferred_tools = deferred;
    let options = options(format, service, streaming)
        .with_model(model)
        .with_examples(true);
    wire::remote(format, &options.with_generation(generation))
}

pub(crate) fn driver(format: Format, service: &Service, deferred: Option<bool>) -> Driver {
    Driver::new(Arc::new(remote(format, service, false, deferred)))
}

/// A catalog of pure tools such as `mail.archive_invoice`, which answer with their names.
pub(crate) fn shop(count: usize) -> Catalog {
    let families = [
        "mail", "calendar", "ledger", "stock", "printer", "garden", "library", "kitchen", "museum",
        "port",
    ];
    let verbs = [
        "archive", "create", "delete", "export", "find", "list", "merge", "rename", "share",
        "update",
    ];
    let nouns = [
        "invoice", "event", "label", "ticket", "recipe", "painting", "crate", "vessel", "seed",
        "page",
    ];
    let mut catalog = Catalog::new();
    for number in 0..count {
        let (family, verb, noun) = (
            families[number / 100],
            verbs[number / 10 % 10],
            nouns[number % 10],
        );
        let name = format!("{family}.{verb}_{noun}");
        let parameters = json!({"type": "object", "properties": {
            "id": {"type": "string", "description": format!("The identifier of the {noun} to {verb}, as the {family} prints it.")},
        }, "required": ["id"]});
        let tool = Tool::new(
            &name,
            format!("Can {verb} one {noun} of the {family}."),
            parameters,
        )
        .unwrap();
        let tool = tool
            .with_effects(Effects::Pure)
            .with_example(Example::new(json!({"id": "7"})));
        add(&mut catalog, tool, format!("done {name}"));
    }
    catalog
}

pub(crate) fn add(catalog: &mut Catalog, tool: Tool, answer: String) {
    let answer = move |_: ToolContext, _: Value| {
        let answer = answer.clone();
        async move { answer }
    };
    catalog.register(tool, answer).unwrap();
}

/// Returns the tools with those of a search.
pub(crate) fn entries(catalog: &Catalog) -> Vec<Arc<Entry>> {
    let mut own = Catalog::new();
    agent::tool::register(&mut own).unwrap();
    let of_search = ["tools.search", "tools.call"].map(|name| own.get(name).unwrap());
    catalog.list().into_iter().chain(of_search).collect()
}

pub(crate) fn session(catalog: &Catalog) -> Session {
    Session::new(entries(catalog), Selection::new(), ToolContext::new())
}

pub(crate) fn call(
    format: Format,
    streaming: bool,
    id: &str,
    name: &str,
    arguments: Value,
) -> Reply {
    let leaked = |text: &str| -> &'static str { text.to_owned().leak() };
    wire::reply(
        format,
        streaming,
        &[
            Block::Text("so"),
            Block::Call(leaked(id), leaked(name), arguments),
        ],
    )
}

pub(crate) fn answer(format: Format, streaming: bool) -> Reply {
    wire::reply(format, streaming, &[Block::Text("done")])
}

/// The reply with a search, as the service makes it natively.
pub(crate) fn search(format: Format, streaming: bool, id: &str, query: &str) -> Reply {
    let arguments = json!({"query": query, "limit": 1});
    if format != Format::OpenAiResponses {
        return call(format, streaming, id, "tools__search", arguments);
    }
    let Reply::Answer { body, .. } = call(format, false, id, "tools__search", json!({})) else {
        unreachable!()
    };
    let mut response: Value = serde_json::from_str(&body).unwrap();
    response["output"][2] = search_item(id, query);
    if !streaming {
        return whole(200, response);
    }
    let mut begun = response.clone();
    (begun["status"], begun["output"], begun["usage"]) =
        ("in_progress".into(), json!([]), Value::Null);
    let mut documents = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in response["output"].as_array().unwrap().iter().enumerate() {
        let mut added = item.clone();
        added["status"] = "in_progress".into();
        for (member, empty) in [("arguments", json!({})), ("content", json!([]))] {
            if added.get(member).is_some() {
                added[member] = empty;
            }
        }
        documents.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": added}),
        );
        documents.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    documents.push(json!({"type": "response.completed", "response": response}));
    wire::stream(format, &documents)
}

/// A search as OpenAI writes it.
pub(crate) fn search_item(id: &str, query: &str) -> Value {
    json!({"type": "tool_search_call", "id": format!("tsc_{id}"), "call_id": id, "execution": "client",
        "arguments": {"query": query, "limit": 1}, "status": "completed"})
}

/// Returns the objects of this type in a body.
pub(crate) fn of_type<'a>(body: &'a Value, kind: &str) -> Vec<&'a Value> {
    let inner: Vec<&Value> = match body {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    };
    let own = (body["type"] == kind).then_some(body);
    own.into_iter()
        .chain(inner.into_iter().flat_map(|value| of_type(value, kind)))
        .collect()
}

/// Returns the number of items that tell the service of found tools.
pub(crate) fn loaded(body: &Value) -> usize {
    LOADED.iter().map(|kind| of_type(body, kind).len()).sum()
}

/// Returns all texts in a part of a body.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(elements) => elements.iter().flat_map(strings).collect(),
        Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns the messages of a body as JSON.
pub(crate) fn said(format: Format, body: &Value) -> &Value {
    &body[conversation(format)]
}

pub(crate) fn names(tools: &Value) -> Vec<&str> {
    tools
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

pub(crate) const FOUND: [(&str, &str); 5] = [
    ("archive an invoice of the mail", "mail.archive_invoice"),
    ("merge a painting museum", "museum.merge_painting"),
    ("rename vessel port", "port.rename_vessel"),
    ("share recipe kitchen", "kitchen.share_recipe"),
    ("export seed garden", "garden.export_seed"),
];

/// Another tool that is among the first hundred.
pub(crate) const SECOND: (&str, &str) = ("merge a painting", "mail.merge_painting");

/// Runs a session in which each of five tools is found, and called twice. Returns the service with its 20 requests.
pub(crate) async fn long_session(
    format: Format,
    streaming: bool,
) -> (Service, Session, Vec<String>) {
    let mut replies = Vec::new();
    for (turn, (query, name)) in FOUND.iter().enumerate() {
        let call = |id: &str| {
            call(
                format,
                streaming,
                &format!("{id}{turn}"),
                &name.replace('.', "__"),
                json!({"id": "7"}),
            )
        };
        replies.extend([
            search(format, streaming, &format!("s{turn}"), query),
            call("c"),
            call("d"),
        ]);
        replies.push(answer(format, streaming));
    }
    let (service, catalog, events) = (
        Service::new(replies).await,
        shop(1000),
        Arc::new(Mutex::new(Vec::new())),
    );
    let log = events.clone();
    let driver = Driver::new(Arc::new(remote(format, &service, streaming, Some(true))));
    let driver = driver.with_events(move |event: Event| match event {
        Event::ToolsSearched { found, .. } => {
            log.lock().unwrap().push(format!("found {}", found[0]))
        }
        Event::Result {
            name, error: None, ..
        } => log.lock().unwrap().push(format!("ran {name}")),
        Event::PrefixChanged(_) => log.lock().unwrap().push("changed".to_owned()),
        _ => {}
    });
    let mut session = session(&catalog);
    for (query, _) in FOUND {
        driver.run(&mut session, query).await.unwrap();
        session.refresh(entries(&catalog));
    }
    let costs = driver.definition_costs(&session).unwrap();
    assert_eq!(
        (costs.tools, costs.search_tools, costs.is_search),
        (1000, 1, true)
    );
    assert!(costs.search_tokens * 100 <= costs.tokens, "{costs:?}");
    let events = events.lock().unwrap().clone();
    (service, session, events)
}
