//! Sessions with more tools than their requests offer.

use std::sync::{Arc, Mutex};

use agent::provider::TurnFuture;
use agent::{
    ContextSize, Disclosure, DisclosureBudget, Driver, Event, Provider, ProviderInfo, Request, Run,
    Selection, Session, ToolChoice, Turn, Usage, WireOptions,
};
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness};
use tools::protocol::{Message, Part, Role};
use tools::{Catalog, Effects, Entry, Host, Tool, ToolCall, ToolContext, ToolResult};

use crate::notebook::Notebook;
use crate::workshop::{EventLog, catalog, results, scripted};

/// A model with a context of this many tokens, which plays calls with the names of its wire and keeps its requests.
#[derive(Clone)]
pub(crate) struct Model {
    turns: Arc<Vec<Turn>>,
    info: Arc<ProviderInfo>,
    pub(crate) requests: Arc<Mutex<Vec<Sent>>>,
}

/// The parts of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) definitions: String,
    pub(crate) messages: Vec<String>,
}

impl Model {
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let info = ProviderInfo {
            wire: Some(WireOptions::new(Format::Anthropic)),
            context: ContextSize::new(200_000),
            ..ProviderInfo::new("model")
        };
        Self {
            turns: Arc::new(turns.into_iter().collect()),
            info: Arc::new(info),
            requests: Arc::default(),
        }
    }

    pub(crate) fn driver(&self) -> Driver {
        Driver::new(Arc::new(self.clone()))
    }

    /// Returns the names that the last request offered.
    pub(crate) fn offered(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let sent: Vec<Value> = serde_json::from_str(&requests.last().unwrap().definitions).unwrap();
        sent.iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Provider for Model {
    fn about(&self) -> &ProviderInfo {
        &self.info
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let wire = request.tools.wire(Format::Anthropic, Strictness::Relaxed);
        let written = |message: &Message| {
            let part = |part: &Part| match part {
                Part::ToolCall(call) => format!(
                    "{:?} {}",
                    wire.write_call(call),
                    wire.write_call(call).arguments
                ),
                Part::ToolResult { result, .. } => {
                    format!("{:?}", Format::Anthropic.show_result("", result))
                }
                part => format!("{part:?}"),
            };
            message
                .parts
                .iter()
                .map(part)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let messages = request.messages.iter().map(written).collect();
        let mut requests = self.requests.lock().unwrap();
        let mut turn = self.turns[requests.len()].clone();
        requests.push(Sent {
            definitions: wire.definitions().to_string(),
            messages,
        });
        for part in &mut turn.message.parts {
            if let Part::ToolCall(call) = part {
                *call = wire.read_call(call.clone());
            }
        }
        turn.usage = Some(Usage {
            input_tokens: 1,
            output_tokens: 1,
            ..Usage::default()
        });
        Box::pin(async { Ok(turn) })
    }
}

/// A turn with one call, whose id is unique enough.
pub(crate) fn turn(name: &str, arguments: Value) -> Turn {
    Turn::calls([ToolCall::new("", name, arguments)])
}

pub(crate) fn searching(query: &str) -> Turn {
    turn("tools__search", json!({"query": query, "limit": 1}))
}

/// A catalog of pure tools such as `mail.archive_invoice`, which answer with their names.
pub(crate) fn shop(count: usize) -> Catalog {
    let families = [
        "mail", "calendar", "ledger", "stock", "printer", "garden", "library", "kitchen", "museum",
        "harbour",
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
            families[number / 100 % 10],
            verbs[number / 10 % 10],
            nouns[number % 10],
        );
        let name = format!("{family}.{verb}_{noun}");
        let description = format!(
            "Can {verb} one {noun} of the {family}. It answers with the {noun} as it is afterwards."
        );
        let parameters = json!({"type": "object", "properties": {
            format!("{noun}_id"): {"type": "string", "description": format!("The identifier of the {noun} to {verb}.")},
            "comment": {"type": "string", "description": "A comment for the protocol of the house, if there is one to make."},
        }, "required": [format!("{noun}_id")], "additionalProperties": false});
        let tool = Tool::new(&name, description, parameters)
            .unwrap()
            .with_effects(Effects::Pure);
        let answer = move |_: ToolContext, _: Value| {
            let name = name.clone();
            async move { format!("done {name}") }
        };
        catalog.register(tool, answer).unwrap();
    }
    catalog
}

/// Returns the tools with those of a search.
pub(crate) fn entries(catalog: &Catalog) -> Vec<Arc<Entry>> {
    let mut own = Catalog::new();
    agent::tool::register(&mut own).unwrap();
    let of_search = ["tools.search", "tools.call"].map(|name| own.get(name).unwrap());
    catalog.list().into_iter().chain(of_search).collect()
}

#[tokio::test]
async fn a_session_whose_catalog_has_no_search_offers_everything() {
    let model = Model::new([Turn::answer("done")]);
    let mut session = Session::new(shop(100).list(), Selection::new(), Host::new());
    model.driver().run(&mut session, "go").await.unwrap();
    assert_eq!(
        (
            model.offered().len(),
            model.driver().definition_costs(&session)
        ),
        (100, None)
    );
}

pub(crate) fn session(catalog: &Catalog) -> Session {
    Session::new(entries(catalog), Selection::new(), Host::new())
}

/// Makes each session search, also where that costs more.
pub(crate) fn always_searching() -> DisclosureBudget {
    DisclosureBudget {
        tools: 0,
        ..DisclosureBudget::default()
    }
}

const FOUND: [(&str, &str, &str); 5] = [
    (
        "archive an invoice of the mail",
        "mail.archive_invoice",
        "invoice_id",
    ),
    (
        "merge a painting museum",
        "museum.merge_painting",
        "painting_id",
    ),
    (
        "rename vessel harbour",
        "harbour.rename_vessel",
        "vessel_id",
    ),
    ("share recipe kitchen", "kitchen.share_recipe", "recipe_id"),
    ("export seed garden", "garden.export_seed", "seed_id"),
];

#[tokio::test]
async fn a_session_of_a_thousand_tools_finds_five_and_its_prefix_stays() {
    let mut turns = Vec::new();
    for (query, name, key) in FOUND {
        turns.push(searching(query));
        let wire = name.replace('.', "__");
        turns.push(turn(
            "tools__call",
            json!({"name": wire, "arguments": {key: "7"}}),
        ));
        turns.push(turn(&wire, json!({key: "8"})));
        turns.push(Turn::answer("done"));
    }
    let (model, log, catalog) = (Model::new(turns), EventLog::default(), shop(1000));
    let mut session = session(&catalog);
    let driver = model.driver().with_events(log.clone());
    for (query, ..) in FOUND {
        driver.run(&mut session, query).await.unwrap();
        // The same tools, read again.
        session.refresh(entries(&catalog));
    }

    let costs = driver.definition_costs(&session).unwrap();
    assert_eq!(
        (costs.tools, costs.search_tools, costs.is_search),
        (1000, 2, true)
    );
    assert!(costs.search_tokens * 20 <= costs.tokens, "{costs:?}");
    assert_eq!(model.offered(), ["tools__call", "tools__search"]);

    let requests = model.requests.lock().unwrap();
    assert_eq!(requests.len(), 20);
    for pair in requests.windows(2) {
        assert_eq!(pair[0].definitions, pair[1].definitions);
        assert_eq!(pair[0].messages, pair[1].messages[..pair[0].messages.len()]);
    }
    let events = log.events();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::PrefixChanged(_))),
        "{events:?}"
    );
    let found = events.iter().filter_map(|event| match event {
        Event::ToolsSearched { query, found, .. } => Some((query.as_str(), found[0].as_str())),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, FOUND.map(|(query, name, _)| (query, name)));
    // Either way to call it is a call of the tool itself.
    for (_, name, _) in FOUND {
        let is_result = |event: &&Event| matches!(event, Event::Result { name: called, error: None, .. } if called == name);
        assert_eq!(events.iter().filter(is_result).count(), 2, "{name}");
    }
    let answers = results(session.messages());
    let answers: Vec<_> = answers.iter().map(|(_, result)| result.to_text()).collect();
    for (_, name, _) in FOUND {
        assert_eq!(
            answers
                .iter()
                .filter(|text| **text == format!("done {name}"))
                .count(),
            2
        );
    }
}

#[tokio::test]
async fn everything_is_offered_within_the_budget() {
    let offered = async |count, context: Option<u64>, disclosure: Disclosure| {
        let model = Model::new([Turn::answer("done")]);
        model.info.context.learn(context.unwrap_or_default());
        let mut session = session(&shop(count)).with_disclosure(disclosure);
        model.driver().run(&mut session, "go").await.unwrap();
        model.offered().len()
    };
    let default = Disclosure::default;
    assert_eq!(offered(64, Some(200_000), default()).await, 64);
    assert_eq!(
        offered(65, Some(200_000), default()).await,
        2,
        "the number of tools"
    );
    assert_eq!(
        offered(64, Some(20_000), default()).await,
        2,
        "the tokens of the definitions"
    );
    assert_eq!(
        offered(64, None, default()).await,
        64,
        "a context of unknown size"
    );
    let percent = |percent| {
        let budget = DisclosureBudget {
            context_percent: percent,
            ..DisclosureBudget::default()
        };
        Disclosure::Search {
            always: Selection::none(),
            budget,
        }
    };
    assert_eq!(offered(64, Some(20_000), percent(100)).await, 64);
    assert_eq!(
        offered(64, Some(4_000), percent(u8::MAX)).await,
        2,
        "a number above 100 is 100"
    );
    assert_eq!(offered(65, Some(200_000), Disclosure::All).await, 65);
    assert_eq!(
        offered(1, Some(500), default()).await,
        1,
        "a search would cost more"
    );
    let always = Selection::parse(["mail.archive_*"]).unwrap();
    let search = Disclosure::Search {
        always,
        budget: DisclosureBudget::default(),
    };
    assert_eq!(offered(200, Some(200_000), search).await, 12);
}

#[tokio::test]
async fn each_provider_is_offered_the_tool_that_it_forces() {
    let mut session = session(&shop(1000));
    for forced in [
        "mail.archive_invoice",
        "harbour.rename_vessel",
        "mail.no_such_tool",
    ] {
        let call = turn(
            &forced.replace('.', "__"),
            json!({"invoice_id": "1", "vessel_id": "1"}),
        );
        let mut model = Model::new([call, Turn::answer("done")]);
        Arc::get_mut(&mut model.info)
            .unwrap()
            .generation
            .tool_choice = Some(ToolChoice::Tool(forced.to_owned()));
        model.driver().run(&mut session, "go").await.unwrap();
        let mut expected = vec!["tools__call".to_owned(), "tools__search".to_owned()];
        expected.extend((forced != "mail.no_such_tool").then(|| forced.replace('.', "__")));
        expected.sort();
        assert_eq!(model.offered(), expected);
    }
    let model = Model::new([Turn::answer("done")]);
    model.driver().run(&mut session, "go").await.unwrap();
    assert_eq!(
        model.offered(),
        ["tools__call", "tools__search"],
        "a provider that forces no call"
    );
}

#[tokio::test]
async fn a_provider_without_a_model_is_offered_everything() {
    let driver = scripted([
        turn("mail.archive_invoice", json!({"invoice_id": "1"})),
        Turn::answer("done"),
    ]);
    let mut session = session(&shop(200));
    assert_eq!(driver.offered_tools(&session).list_offered().len(), 200);
    driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        results(session.messages())[0].1.to_text(),
        "done mail.archive_invoice"
    );
}

#[tokio::test]
async fn a_tool_that_was_not_seen_answers_with_its_definition_and_then_runs() {
    let call = || turn("mail__archive_invoice", json!({"invoice_id": "1"}));
    let model = Model::new([call(), call(), Turn::answer("done")]);
    let (notebook, log) = (Notebook::default(), EventLog::default());
    let cx = Host::new()
        .with_journal(Arc::new(notebook.clone()))
        .with_session("monday");
    let mut session = Session::new(entries(&shop(200)), Selection::new(), cx);
    model
        .driver()
        .with_events(log.clone())
        .run(&mut session, "go")
        .await
        .unwrap();
    let answers = results(session.messages());
    let text = answers[0].1.to_text();
    assert!(
        answers[0].1.is_error && text.contains(r#""name":"mail__archive_invoice""#),
        "{text}"
    );
    assert!(
        text.contains(r#""invoice_id":{"#) && text.contains("tools__call"),
        "{text}"
    );
    assert_eq!(answers[1].1.to_text(), "done mail.archive_invoice");
    let kinds: Vec<_> = notebook
        .lines()
        .iter()
        .map(|line| (line.kind, line.tool.clone()))
        .collect();
    assert_eq!(kinds[0], ("refusal", "mail.archive_invoice".to_owned()));
    assert_eq!(kinds[1], ("intent", "mail.archive_invoice".to_owned()));
}

#[tokio::test]
async fn a_tool_called_by_its_former_name_runs_once_it_was_seen() {
    let mut catalog = shop(200);
    let tool = Tool::new("note.add", "Adds a note.", json!({"type": "object"})).unwrap();
    let tool = tool
        .with_effects(Effects::Pure)
        .with_was(["note.create".parse().unwrap()]);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "added")
        .unwrap();
    let call = || turn("note.create", json!({}));
    let model = Model::new([call(), call(), Turn::answer("done")]);
    let mut session = session(&catalog);
    model.driver().run(&mut session, "go").await.unwrap();
    let failed: Vec<_> = results(session.messages())
        .iter()
        .map(|(_, result)| result.is_error)
        .collect();
    assert_eq!(failed, [true, false]);
}

#[tokio::test]
async fn a_stored_run_keeps_its_found_tools_and_its_pending_call() {
    let mut run = Run::new(vec![Message::text(Role::User, "go")]);
    run.turn(Turn::calls([ToolCall::new(
        "a",
        "tools.search",
        json!({"query": "invoice"}),
    )]))
    .unwrap();
    let structured = Some(json!({"found": ["mail.archive_invoice", "mail.create_invoice"]}).into());
    run.result(
        "a",
        ToolResult {
            structured,
            ..ToolResult::text("found")
        },
    )
    .unwrap();
    let call = json!({"name": "mail.archive_invoice", "arguments": {"invoice_id": "1"}});
    run.turn(Turn::calls([ToolCall::new("b", "tools.call", call)]))
        .unwrap();
    let stored: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();

    let direct = turn("mail__create_invoice", json!({"invoice_id": "2"}));
    let (model, mut session) = (
        Model::new([direct, Turn::answer("done")]),
        session(&shop(200)),
    );
    model.driver().resume(&mut session, stored).await.unwrap();
    let texts: Vec<_> = results(session.messages())
        .iter()
        .skip(1)
        .map(|(_, result)| result.to_text())
        .collect();
    assert_eq!(
        texts,
        ["done mail.archive_invoice", "done mail.create_invoice"]
    );
    let called: Vec<_> = session
        .messages()
        .iter()
        .flat_map(Message::calls)
        .map(|call| &*call.name)
        .collect();
    assert_eq!(
        called,
        ["tools.search", "tools.call", "mail.create_invoice"],
        "the conversation has the model's calls"
    );
}

#[tokio::test]
async fn a_finished_call_of_a_stored_run_keeps_its_outcome_when_requests_offer_less() {
    let mut run = Run::new(vec![Message::text(Role::User, "go")]);
    run.turn(turn("mail.archive_invoice", json!({"invoice_id": "1"})))
        .unwrap();
    let stored = serde_json::to_string(&run).unwrap();
    let notebook = Notebook::default();
    for disclosure in [Disclosure::All, Disclosure::default()] {
        let (model, cx) = (
            Model::new([Turn::answer("done")]),
            Host::new().with_session("monday"),
        );
        let cx = cx.with_journal(Arc::new(notebook.clone()));
        let mut session =
            Session::new(entries(&shop(200)), Selection::new(), cx).with_disclosure(disclosure);
        model
            .driver()
            .resume(&mut session, serde_json::from_str(&stored).unwrap())
            .await
            .unwrap();
        assert_eq!(
            results(session.messages())[0].1.to_text(),
            "done mail.archive_invoice"
        );
        let kinds: Vec<_> = notebook.lines().iter().map(|line| line.kind).collect();
        assert_eq!(kinds, ["intent", "outcome"]);
    }
}

#[tokio::test]
async fn a_session_with_own_tools_of_these_names_offers_everything() {
    let model = Model::new([
        turn("tools__call", json!({"name": "a"})),
        Turn::answer("done"),
    ]);
    let disclosure = Disclosure::Search {
        always: Selection::none(),
        budget: always_searching(),
    };
    let mut session = session(&catalog(["a", "tools.call"])).with_disclosure(disclosure);
    model.driver().run(&mut session, "go").await.unwrap();
    assert_eq!(model.offered(), ["a", "tools__call"]);
    assert_eq!(
        results(session.messages())[0].1.to_text(),
        "tools.call",
        "it is a call of the session's own tool"
    );
}
