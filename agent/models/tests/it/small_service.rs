//! Services whose models have a small context, which they name in different places.

use std::sync::Arc;

use agent::{Driver, Provider, RunHandle, Selection, Session};
use serde_json::{Value, json};
use tools::Host;
use tools::protocol::wire::Format;

use crate::service::wire::{options, remote};
use crate::service::{Reply, Service, json as reply, wire};
use crate::workshop::{answer, catalog};

/// The tokens of the context.
const CONTEXT: usize = 2048;

fn size(body: &Value) -> usize {
    body.to_string().len() / 4
}

/// Returns more tools than fit.
fn many() -> tools::Catalog {
    let names: Vec<_> = (0..60)
        .map(|number| format!("tool.number_{number}_{}", "long".repeat(20)))
        .collect();
    let (mut catalog, _) = catalog(&names.iter().map(String::as_str).collect::<Vec<_>>());
    agent::tool::register(&mut catalog).unwrap();
    catalog
}

/// Runs a prompt of a session with more tools than fit. Returns the sizes of its requests, and of the context that is known afterwards.
async fn sizes(format: Format, service: &Service) -> (Vec<usize>, Option<u64>) {
    let mut session = Session::new(many().list(), Selection::new(), Host::new());
    let model = Arc::new(remote(format, &options(format, service, false)));
    let driver = Driver::new(model.clone());
    for _ in 0..2 {
        assert_eq!(
            answer(&driver.run(&mut session, "go").await.unwrap()).0,
            "ok"
        );
    }
    let sizes = (0..service.requests()).map(|index| size(&service.body(index)));
    (sizes.collect(), model.about().context.tokens())
}

fn ok(format: Format) -> Reply {
    wire::reply(format, false, &[wire::Block::Text("ok")])
}

async fn refusing(refusal: Value) -> Service {
    let reply = move |body: &Value| {
        if size(body) > CONTEXT {
            reply(400, &refusal)
        } else {
            ok(Format::OpenAiChat)
        }
    };
    Service::answering(reply).await
}

#[tokio::test]
async fn a_first_request_that_is_too_long_is_repeated_with_a_search_for_tools() {
    let unnamed = || json!({"error": {"message": "no room", "code": "context_length_exceeded"}});
    let named = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": CONTEXT,
        "message": "the request exceeds the available context size, try increasing it"}});
    let list = |field: &str| json!({"object": "list", "data": [{"id": "other", field: 1}, {"id": "gpt-5.1", field: CONTEXT}]});
    let properties = json!({"default_generation_settings": {"n_ctx": CONTEXT}});
    for (refusal, told) in [
        (named, None),
        (unnamed(), None),
        (unnamed(), Some(("/props", properties))),
        (unnamed(), Some(("/v1/models", list("max_model_len")))),
        (unnamed(), Some(("/v1/models", list("context_length")))),
        (unnamed(), Some(("/v1/models", list("context_window")))),
        (
            unnamed(),
            Some((
                "/v1/models",
                json!({"data": [{"id": "x", "meta": {"n_ctx_train": CONTEXT}}]}),
            )),
        ),
    ] {
        let service = refusing(refusal.clone()).await;
        // A server without a size of its own says 0, and the list of models has it.
        service.tell("/props", json!({"n_ctx": 0}));
        told.iter()
            .for_each(|(path, answer)| service.tell(path, answer.clone()));
        let (sizes, context) = sizes(Format::OpenAiChat, &service).await;
        let is_told = told.is_some() || refusal.to_string().contains("n_ctx");
        assert_eq!(
            context == Some(CONTEXT as u64),
            is_told,
            "{refusal} {told:?}: {context:?}"
        );
        assert!(
            sizes.len() == 3 && sizes[0] > CONTEXT,
            "{refusal} {told:?}: {sizes:?}"
        );
        assert!(
            sizes[1..].iter().all(|size| *size <= CONTEXT),
            "{refusal} {told:?}: {sizes:?}"
        );
    }
}

#[tokio::test]
async fn a_message_that_came_before_the_first_request_is_in_its_repetition() {
    let refusal = json!({"error": {"message": "no room", "code": "context_length_exceeded"}});
    let service = refusing(refusal).await;
    let handle = RunHandle::new();
    handle.send("and quickly").unwrap();
    let mut session = Session::new(many().list(), Selection::new(), Host::new());
    let format = Format::OpenAiChat;
    let model = Arc::new(remote(format, &options(format, &service, false)));
    let driver = Driver::new(model).with_handle(handle);
    driver.run(&mut session, "go").await.unwrap();
    for index in [0, service.requests() - 1] {
        let body = service.body(index).to_string();
        assert_eq!(body.matches("and quickly").count(), 1, "{body}");
    }
    let messages = session.messages();
    let texts: Vec<_> = messages.iter().map(|message| message.to_text()).collect();
    assert_eq!(texts, ["go", "and quickly", "ok"]);
}

#[tokio::test]
async fn a_request_that_ollama_would_cut_is_not_sent() {
    for told in [
        json!({"model_info": {"llama.context_length": CONTEXT}}),
        json!({"parameters": format!("num_ctx {CONTEXT}"), "model_info": {"llama.context_length": 131_072}}),
    ] {
        let service = Service::answering(|_| ok(Format::Ollama)).await;
        service.tell("/api/show", told);
        let (sizes, context) = sizes(Format::Ollama, &service).await;
        assert_eq!(context, Some(CONTEXT as u64));
        assert!(
            sizes.len() == 2 && sizes.iter().all(|size| *size <= CONTEXT),
            "{sizes:?}"
        );
    }
}

// The list is read while the thread waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_model_of_a_service_has_the_context_of_its_list() {
    let service = Service::answering(|_| ok(Format::OpenAiChat)).await;
    let models = json!({"data": [{"id": "mine", "max_model_len": CONTEXT}]});
    service.tell("/v1/models", models);
    let mut options = options(Format::OpenAiChat, &service, false);
    options.model = None;
    let model = remote(Format::OpenAiChat, &options);
    let about = model.about();
    assert_eq!(about.model.as_deref(), Some("mine"));
    assert_eq!(about.context.tokens(), Some(CONTEXT as u64));
}
