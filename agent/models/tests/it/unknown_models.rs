//! Models that the table does not know: their services tell their prices and limits.

use std::path::PathBuf;

use agent::{Cost, Price, Provider, ProviderOptions, Proxy, Rates, Request, Selection, Session};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Content, Host, ToolCall, ToolResult};

use crate::service::wire::{Block, options, remote, reply};
use crate::service::{Service, json as answer, sent};
use crate::workshop::session;

/// The host of a service that is not on this machine. The proxy is the service of the test.
const ELSEWHERE: &str = "http://models.example.org";

/// The options with an empty cache.
fn caching(options: ProviderOptions) -> (ProviderOptions, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let facts_cache = Some(folder.path().join("new/models.json"));
    let options = ProviderOptions {
        facts_cache,
        ..options
    };
    (options, folder)
}

fn cost(text: &str) -> Cost {
    text.parse().unwrap()
}

/// An entry of OpenRouter's list.
fn listed(name: &str) -> Value {
    json!({"id": name, "context_length": 64_000,
        "architecture": {"input_modalities": ["text", "file"], "output_modalities": ["text"]},
        "pricing": {"prompt": "0.0000005", "completion": "0.000002", "request": "0", "input_cache_read": "0.00000005"},
        "top_provider": {"context_length": 64_000, "max_completion_tokens": 16_000}})
}

/// Sends a prompt with an image. Returns the body of the request.
async fn sent(service: &Service, format: Format, model: Remote) -> Value {
    service.serve([reply(format, false, &[Block::Text("ok")])]);
    let image = Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let parts = vec![
        Part::Content(image),
        Part::Content("What is it?".to_owned().into()),
    ];
    let prompt = Message {
        role: Role::User,
        parts,
    };
    let session = Session::new([], Selection::none(), Host::new());
    let (prompt, token) = ([prompt], CancellationToken::new());
    let request = Request::new(&prompt, session.tools(), &token);
    model.complete(request).await.unwrap();
    service.body(service.requests() - 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_a_gateway_tells_the_price_and_the_limits_of_a_model() {
    let service = Service::new([]).await;
    service.tell(
        "/v1/models",
        json!({"data": [listed("other"), listed("m")]}),
    );
    let at = |model: &str| {
        let (mut options, folder) = caching(options(Format::OpenAiChat, &service, false));
        options.model = Some(model.to_owned());
        (options, folder)
    };
    let (options, _folder) = at("m");
    let model = Remote::openai(&options).unwrap();
    let rates = Rates {
        input: cost("0.5"),
        output: cost("2"),
        cached: cost("0.05"),
        cache_write: cost("0.5"),
    };
    assert_eq!(model.about().price, Some(Price { rates, long: None }));
    assert_eq!(model.about().context.tokens(), Some(64_000));
    let body = sent(&service, Format::OpenAiChat, model).await.to_string();
    assert!(
        !body.contains("image_url") && !body.contains("iVBOR"),
        "{body}"
    );

    // The options precede the service.
    let own = Price::new(cost("1"), cost("3"));
    let prices = [("m".to_owned(), own)].into();
    let model = Remote::openai(&ProviderOptions { prices, ..options }).unwrap();
    assert_eq!(model.about().price, Some(own));

    // The list does not have this one, and without a cache no service is asked.
    let (mut options, _folder) = at("unlisted");
    assert_eq!(Remote::openai(&options).unwrap().about().price, None);
    (options.model, options.facts_cache) = (Some("m".to_owned()), None);
    let model = Remote::openai(&options).unwrap();
    assert_eq!(
        (model.about().price, model.about().context.tokens()),
        (None, None)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_model_tells_its_limits() {
    let gemini = json!({"name": "models/m", "inputTokenLimit": 30_000, "outputTokenLimit": 2_000});
    let anthropic = json!({"type": "model", "id": "m", "max_input_tokens": 300_000, "max_tokens": 70_000,
        "capabilities": {"image_input": {"supported": true}}});
    let ollama = json!({"parameters": "num_ctx 5000", "capabilities": ["completion", "tools"]});
    for (format, path, page, context, takes_images) in [
        (Format::Gemini, "/v1beta/models/m", gemini, 30_000, true),
        (Format::Anthropic, "/v1/models/m", anthropic, 300_000, true),
        (Format::Ollama, "/api/show", ollama, 5_000, false),
    ] {
        let service = Service::new([]).await;
        service.tell(path, page);
        let (mut options, _folder) = caching(options(format, &service, false));
        options.model = Some("m".to_owned());
        let model = remote(format, &options);
        assert_eq!(model.about().context.tokens(), Some(context), "{format:?}");
        let body = sent(&service, format, model).await;
        assert_eq!(body.to_string().contains("iVBOR"), takes_images, "{body}");
        if format == Format::Anthropic {
            assert_eq!(body["max_tokens"], 70_000);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_sees_no_images_reads_of_them_in_a_sentence_in_the_result() {
    let anthropic =
        json!({"type": "model", "id": "m", "capabilities": {"image_input": {"supported": false}}});
    let ollama = json!({"parameters": "num_ctx 5000", "capabilities": ["completion", "tools"]});
    for (format, model, path, page) in [
        (Format::OpenAiChat, "gpt-3.5-turbo", "/", json!({})),
        (Format::OpenAiResponses, "gpt-3.5-turbo", "/", json!({})),
        (Format::Anthropic, "m", "/v1/models/m", anthropic),
        (Format::Ollama, "m", "/api/show", ollama),
    ] {
        let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
        service.tell(path, page);
        let (mut options, _folder) = caching(options(format, &service, false));
        options.model = Some(model.to_owned());
        let model = remote(format, &options);
        assert!(model.about().images.is_blind, "{format:?}");
        let image = Content::Image {
            data: "iVBORw0KGgo=".to_owned(),
            mime_type: "image/png".to_owned(),
        };
        // Those of a failed call, and all of chat completions, would follow the results.
        let result = ToolResult {
            content: vec![Content::text("[`a.png`]"), image],
            is_error: true,
            ..ToolResult::default()
        };
        let (id, name) = ("c1".to_owned(), "fs.read".to_owned());
        let call = ToolCall::new(&*id, &*name, json!({}));
        let messages = [
            Message::text(Role::User, "go"),
            Message {
                role: Role::Assistant,
                parts: vec![Part::ToolCall(call)],
            },
            Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult { id, name, result }],
            },
        ];
        let (session, token) = (session(&["fs.read"]), CancellationToken::new());
        let request = Request::new(&messages, session.tools(), &token);
        model.complete(request).await.unwrap();
        let body = service.body(service.requests() - 1);
        let results = sent::results(format, &body);
        let text = results[0].result.to_text();
        let sentence = "[an image from fs__read, which you cannot see because this model takes none: image/png, 8 bytes]";
        assert!(
            text.ends_with(&format!("[`a.png`]\n{sentence}")),
            "{format:?}: {text}"
        );
        let body = body.to_string();
        assert!(
            !body.contains("iVBOR") && !body.contains("mages"),
            "{format:?}: {body}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_elsewhere_is_asked_once_a_day_and_a_silent_one_again() {
    let service = Service::new([]).await;
    let (options, _folder) = caching(ProviderOptions {
        base_url: Some(format!("{ELSEWHERE}/v1")),
        proxy: Some(Proxy::Url(service.url.clone())),
        model: Some("m".to_owned()),
        ..ProviderOptions::default()
    });
    let context = || Remote::openai(&options).unwrap().about().context.tokens();
    let list = |size: u64| json!({"data": [{"id": "m", "context_length": size}]});
    let path = format!("{ELSEWHERE}/v1/models");
    assert_eq!(context(), None);
    service.tell(&path, list(1_000));
    assert_eq!(context(), Some(1_000));
    service.tell(&path, list(2_000));
    assert_eq!(context(), Some(1_000));

    let file: PathBuf = options.facts_cache.clone().unwrap();
    let stored = std::fs::read_to_string(&file).unwrap();
    let mut stored: Value = serde_json::from_str(&stored).unwrap();
    for entry in stored.as_object_mut().unwrap().values_mut() {
        entry["at"] = (entry["at"].as_u64().unwrap() - 24 * 60 * 60).into();
    }
    std::fs::write(&file, stored.to_string()).unwrap();
    assert_eq!(context(), Some(2_000));
    std::fs::write(&file, "no JSON").unwrap();
    service.tell(&path, list(3_000));
    assert_eq!(context(), Some(3_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_this_machine_is_asked_each_time() {
    let service = Service::new([answer(400, "")]).await;
    let (options, _folder) = caching(options(Format::OpenAiChat, &service, false));
    for size in [2_000, 3_000] {
        // llama.cpp's own size, and that of the training.
        service.tell("/props", json!({"default_generation_settings": {"n_ctx": size}, "modalities": {"vision": false}}));
        service.tell(
            "/v1/models",
            json!({"data": [{"id": "m", "meta": {"n_ctx_train": 9_000}}]}),
        );
        let options = ProviderOptions {
            model: Some("m".to_owned()),
            ..options.clone()
        };
        assert_eq!(
            Remote::openai(&options).unwrap().about().context.tokens(),
            Some(size)
        );
    }
    assert!(!options.facts_cache.unwrap().exists());
}
