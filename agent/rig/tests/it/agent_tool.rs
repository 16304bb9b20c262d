//! The tools of a set in an agent of rig.

use std::sync::{Arc, Mutex};

use agent::{Selection, ToolSet};
use rig_agent::{Agent, AgentBuilder};
use rig_core::DynModel;
use rig_core::operation::Completion;
use rig_core::providers::anthropic::wire::AnthropicConfig;
use rig_core::providers::openai::OpenAIConfig;
use rig_reqwest::{ReqwestClient, reqwest};
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Content, Effects, Grant, Host, Tool, ToolContext, ToolResult};
use tools_journal::{Audit, JournalOptions, SqliteJournal};

use crate::service::Service;
use crate::service::reply::{Api, Block, Way};

/// The calls that ran.
type Ran = Arc<Mutex<Vec<(String, Value)>>>;

/// Creates a catalog with `fs.read`, which reads `$at` and fails if that is `src/broken`.
fn catalog(ran: &Ran) -> Catalog {
    let mut catalog = Catalog::new();
    let schema = json!({
        "type": "object",
        "properties": {"$at": {"type": "string"}},
        "required": ["$at"],
        "additionalProperties": false,
    });
    let effects: Effects = serde_json::from_value(json!({"reads": ["fs:{$at}"]})).unwrap();
    let tool = Tool::new("fs.read", "Reads a file.", schema)
        .unwrap()
        .with_effects(effects);
    let ran = ran.clone();
    let read = move |_: ToolContext, arguments: Value| {
        let at = arguments["$at"].as_str().unwrap().to_owned();
        ran.lock().unwrap().push(("fs.read".to_owned(), arguments));
        let picture = Content::Image {
            data: "iVBORw0KGgo=".to_owned(),
            mime_type: "image/png".to_owned(),
        };
        let is_error = at == "src/broken" || at == "src/painted";
        let text = (at != "src/painted").then(|| Content::text(format!("the text of {at}")));
        let content = text.into_iter().chain([picture]).collect();
        async move {
            ToolResult {
                content,
                is_error,
                ..ToolResult::default()
            }
        }
    };
    catalog.register(tool, read).unwrap();
    catalog
}

fn context() -> Host {
    Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap())
}

fn assistant(api: Api, service: &Service, cx: &ToolContext, ran: &Ran) -> (Agent, ToolSet) {
    let http = ReqwestClient::from(reqwest::Client::new());
    let (model, format): (DynModel<Completion>, _) = match api {
        Api::Chat => {
            let config = OpenAIConfig::new("key").with_base_url(format!("{}/v1", service.url));
            (
                config.connect(http).chat("gpt-4o").erase(),
                Format::OpenAiChat,
            )
        }
        Api::Messages => {
            let config = AnthropicConfig::new("key").with_base_url(&service.url);
            (
                config.connect(http).completion("claude-sonnet-4-5").erase(),
                Format::Anthropic,
            )
        }
    };
    let set = ToolSet::new(catalog(ran).list(), &Selection::new(), cx.services());
    let tools = agent_rig::tools(&set, cx, format);
    (AgentBuilder::new(model).dynamic_tools(tools).build(), set)
}

/// Runs an agent whose model makes these calls in one turn, and returns the request with the results.
async fn request_after(api: Api, calls: &[Block], cx: &ToolContext, ran: &Ran) -> Value {
    let replies = [
        api.reply(Way::Whole, calls, Some(api.stops(calls))),
        api.answer(Way::Whole),
    ];
    let service = Service::new(replies).await;
    let (agent, _) = assistant(api, &service, cx, ran);
    assert_eq!(
        agent.prompt("go").max_turns(2).await.unwrap().output(),
        "ok"
    );
    service.body(1)
}

#[tokio::test]
async fn the_model_is_sent_the_definitions_of_the_wire() {
    let service = Service::new([Api::Chat.answer(Way::Whole)]).await;
    let (agent, set) = assistant(Api::Chat, &service, &context(), &Ran::default());
    agent.prompt("go").await.unwrap();
    let sent = service.body(0)["tools"].clone();
    let wire = set.wire(Format::OpenAiChat, Strictness::Relaxed);
    assert_eq!(sent, *wire.value());
    assert_eq!(
        (&sent[0]["function"]["name"], sent.to_string().contains('$')),
        (&json!("fs__read"), false),
        "{sent:#}"
    );
}

#[tokio::test]
async fn calls_pass_the_pipeline_and_a_denied_call_does_not_run() {
    for api in Api::ALL {
        let ran = Ran::default();
        let calls = [
            Block::Call("c1", r#"{"at":"src/a"}"#),
            Block::Call("c2", r#"{"at":"secret"}"#),
            Block::Call("c3", r#"{"path":"src/b"}"#),
        ];
        let second = request_after(api, &calls, &context(), &ran).await;
        assert_eq!(
            *ran.lock().unwrap(),
            [("fs.read".to_owned(), json!({"$at": "src/a"}))],
            "{api:?}"
        );
        let results = results(api, &second);
        assert!(results[0].contains("the text of src/a"), "{results:#?}");
        assert!(
            results[1].contains("fs:read:secret") && results[1].contains("fs__read"),
            "{results:#?}"
        );
        assert!(
            results[2].contains("fs__read") && results[2].contains("`at`"),
            "{results:#?}"
        );
        assert!(
            !results.concat().contains("fs.read") && !results.concat().contains('$'),
            "{results:#?}"
        );
    }
}

#[tokio::test]
async fn a_failed_call_is_marked_as_one_where_the_format_has_a_mark() {
    let calls = [
        Block::Call("c1", r#"{"at":"src/a"}"#),
        Block::Call("c2", r#"{"at":"src/broken"}"#),
    ];
    let second = request_after(Api::Messages, &calls, &context(), &Ran::default()).await;
    let results = second["messages"][2]["content"].as_array().unwrap().clone();
    assert_eq!(
        [&results[0]["is_error"], &results[1]["is_error"]],
        [&Value::Null, &json!(true)],
        "{results:#?}"
    );
    assert_eq!(
        results[0]["content"][1]["source"]["data"], "iVBORw0KGgo=",
        "{results:#?}"
    );
    assert_eq!(
        results[1]["content"].as_array().unwrap().len(),
        1,
        "no image in a failed result: {results:#?}"
    );

    let second = request_after(Api::Chat, &calls, &context(), &Ran::default()).await;
    let messages = second["messages"].as_array().unwrap();
    let is_error = |message: &Value| message["content"].as_str().unwrap().starts_with("Error: ");
    assert_eq!(
        [is_error(&messages[2]), is_error(&messages[3])],
        [false, true],
        "{messages:#?}"
    );
    let images = messages[4]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["type"] == "image_url")
        .count();
    assert_eq!(
        images, 2,
        "a result of chat completions is text alone: {messages:#?}"
    );
}

#[tokio::test]
async fn a_failed_call_says_that_its_image_is_left_out_where_the_model_takes_none() {
    let calls = [
        Block::Call("c1", r#"{"at":"src/broken"}"#),
        Block::Call("c2", r#"{"at":"src/painted"}"#),
    ];
    let second = request_after(Api::Messages, &calls, &context(), &Ran::default()).await;
    let results = second["messages"][2]["content"].as_array().unwrap();
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let [broken, painted] = [&results[0], &results[1]].map(text);
    assert!(
        broken.starts_with("the text of src/broken") && broken.contains("left out"),
        "{broken}"
    );
    assert!(
        painted.contains("image/png") && painted.contains("left out"),
        "{painted}"
    );
}

#[tokio::test]
async fn each_call_is_recorded_as_a_call_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.journal");
    let journal = SqliteJournal::open(&path, JournalOptions::default()).unwrap();
    // The place of an earlier call is still in the context.
    let cx = context()
        .with_journal(Arc::new(journal))
        .with_session("s")
        .with_place(CallPlace::new(1, 0));
    let calls = [
        Block::Call("c1", r#"{"at":"src/a"}"#),
        Block::Call("c2", r#"{"at":"src/b"}"#),
        Block::Call("c3", r#"{"at":"secret"}"#),
    ];
    let ran = Ran::default();
    request_after(Api::Chat, &calls, &cx, &ran).await;
    assert_eq!(ran.lock().unwrap().len(), 2);
    // Two calls with an intent and an outcome each, and a refusal.
    assert_eq!(Audit::open(&path).unwrap().verify(None).unwrap().count, 5);
}

/// Returns the results in a request, as JSON text.
fn results(api: Api, request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    let results = match api {
        Api::Chat => messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .collect::<Vec<_>>(),
        Api::Messages => messages[2]["content"].as_array().unwrap().iter().collect(),
    };
    results.iter().map(|result| result.to_string()).collect()
}
