//! The differences of known services, in the bodies of requests.

use agent::{
    GenerationOptions, Provider as _, ProviderOptions, ReasoningEffort, Request, ToolChoice,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Content};

use crate::service::Service;
use crate::service::wire::{Block, options, remote, reply};
use crate::workshop::{complete, session};

/// Returns the body of a request to a known service.
async fn body(dialect: &str, model: &str, generation: GenerationOptions) -> Value {
    let format = Format::OpenAiChat;
    let service = Service::new([reply(format, true, &[Block::Text("ok")])]).await;
    let options = ProviderOptions {
        model: Some(model.into()),
        dialect: Some(dialect.into()),
        generation,
        ..options(format, &service, true)
    };
    complete(&Remote::openai(&options).unwrap(), &["fs.read"])
        .await
        .unwrap();
    service.body(0)
}

#[tokio::test]
async fn the_effort_of_reasoning_is_in_the_field_of_the_service() {
    let (high, off) = (ReasoningEffort::High, ReasoningEffort::Off);
    for (dialect, effort, field, value) in [
        ("groq", high, "reasoning_effort", json!("high")),
        ("deepseek", high, "thinking", json!({"type": "enabled"})),
        ("deepseek", off, "thinking", json!({"type": "disabled"})),
        ("openrouter", high, "reasoning", json!({"effort": "high"})),
        ("together", high, "reasoning", json!({"enabled": true})),
        ("ollama", off, "reasoning_effort", json!("none")),
    ] {
        let body = body(
            dialect,
            "some",
            GenerationOptions {
                reasoning_effort: Some(effort),
                ..GenerationOptions::new()
            },
        )
        .await;
        assert_eq!(body[field], value, "{dialect}: {body:#}");
    }
}

#[tokio::test]
async fn a_call_is_forced_as_far_as_the_service_takes_it() {
    let choosing = |choice| GenerationOptions {
        tool_choice: Some(choice),
        ..GenerationOptions::new()
    };
    let forced = || choosing(ToolChoice::Required);
    let silent = GenerationOptions {
        reasoning_effort: Some(ReasoningEffort::Off),
        ..forced()
    };
    for (dialect, generation, choice) in [
        ("groq", forced(), json!("required")),
        ("llamacpp", forced(), json!("required")),
        ("deepseek", forced(), Value::Null),
        ("deepseek", silent, json!("required")),
        ("moonshot", forced(), Value::Null),
    ] {
        let body = body(dialect, "some", generation).await;
        assert_eq!(body["tool_choice"], choice, "{dialect}: {body:#}");
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["content"] != "go", dialect == "moonshot", "{body:#}");
    }
    let service = Service::new([]).await;
    let named = choosing(ToolChoice::Tool("fs.read".to_owned()));
    for dialect in ["llamacpp", "moonshot"] {
        let options = ProviderOptions {
            dialect: Some(dialect.into()),
            ..options(Format::OpenAiChat, &service, true)
        };
        let error = Remote::openai(&ProviderOptions {
            generation: named.clone(),
            ..options
        })
        .unwrap_err();
        assert!(
            error.to_string().contains("generation.tool_choice"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn the_usage_of_a_stream_is_asked_for_where_the_service_takes_the_field() {
    for (dialect, is_asked) in [("groq", true), ("mistral", false), ("openrouter", false)] {
        let body = body(dialect, "some", GenerationOptions::new()).await;
        assert_eq!(body["stream_options"].is_object(), is_asked, "{dialect}");
    }
}

#[tokio::test]
async fn a_model_that_sees_no_images_is_told_of_them() {
    let png = Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let messages = [Message {
        role: Role::User,
        parts: vec![Part::Content(Content::text("look")), Part::Content(png)],
    }];
    for (format, model, sees) in [
        (Format::OpenAiChat, "gpt-4o", true),
        (Format::OpenAiChat, "o3-mini", false),
        (Format::OpenAiResponses, "gpt-3.5-turbo", false),
        (Format::Anthropic, "claude-sonnet-4-5", true),
    ] {
        let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
        let options = ProviderOptions {
            model: Some(model.into()),
            ..options(format, &service, false)
        };
        let (session, token) = (session(&[]), CancellationToken::new());
        let request = Request::new(&messages, session.tools(), &token);
        remote(format, &options).complete(request).await.unwrap();
        let body = service.body(0).to_string();
        assert_eq!(body.contains("iVBORw0KGgo"), sees, "{model}: {body}");
        assert!(body.contains("image/png"), "{model}: {body}");
    }
}
