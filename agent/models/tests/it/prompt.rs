//! Images in prompts, and messages that are sent to a run.

use std::sync::Arc;

use agent::{Driver, DriverError, Prompt, ProviderError, ProviderOptions, RunHandle};
use agent_models::Remote;
use serde_json::json;
use tools::Content;

use crate::service::Service;
use crate::service::reply::{Api, Block, Way};
use crate::workshop::session;

fn with_image(mime_type: &str, bytes: usize) -> Prompt {
    Prompt::from("What is this?").with_content([Content::Image {
        data: "AAAA".repeat(bytes / 4),
        mime_type: mime_type.to_owned(),
    }])
}

#[tokio::test]
async fn an_image_goes_where_each_format_has_it() {
    for api in Api::ALL {
        let service = Service::new([api.answer(Way::Whole)]).await;
        let driver = Driver::new(Arc::new(api.model(&service, false)));
        let prompt = with_image("image/png", 8);
        driver.run(&mut session(&[]), prompt).await.unwrap();
        let content = service.body(0)["messages"][0]["content"].clone();
        assert_eq!(content[0]["text"], "What is this?");
        let image = match api {
            Api::Chat => {
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAAAAAA"}})
            }
            Api::Messages => {
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAAAAAA"}})
            }
        };
        let mut sent = content[1].clone();
        sent.as_object_mut().unwrap().remove("cache_control");
        assert_eq!(sent, image);
    }
}

#[tokio::test]
async fn an_image_that_the_model_or_its_service_refuses_is_an_error_before_the_request() {
    let service = Service::new([]).await;
    for (dialect, model, prompt, reason) in [
        (
            "openai",
            "gpt-3.5-turbo",
            with_image("image/png", 8),
            "it takes none",
        ),
        (
            "deepseek",
            "deepseek-chat",
            with_image("image/png", 8),
            "it takes none",
        ),
        (
            "groq",
            "llama-4",
            with_image("image/png", 4_194_308),
            "the service takes 4194304 bytes",
        ),
        (
            "xai",
            "grok-4",
            with_image("image/gif", 8),
            "takes image/png, image/jpeg, and not image/gif",
        ),
    ] {
        let options = ProviderOptions {
            base_url: Some(format!("{}/v1", service.url)),
            dialect: Some(dialect.to_owned()),
            ..service.options(model, false)
        };
        let driver = Driver::new(Arc::new(Remote::openai(&options).unwrap()));
        let mut session = session(&[]);
        let error = driver.run(&mut session, prompt).await.unwrap_err();
        let DriverError::Provider(ProviderError::Image { .. }) = &error else {
            panic!("{error:?}")
        };
        let error = error.to_string();
        assert!(error.contains(model) && error.contains(reason), "{error}");
        assert!(session.messages().is_empty());
    }
    assert_eq!(service.requests(), 0);
}

#[tokio::test]
async fn a_message_to_a_run_follows_the_results_as_each_format_has_it() {
    for api in Api::ALL {
        let blocks = [Block::Call("c1", r#"{"path":"a"}"#)];
        let call = api.reply(Way::Whole, &blocks, Some(api.stops(&blocks)));
        let service = Service::new([call, api.answer(Way::Whole)]).await;
        let handle = RunHandle::new();
        let sender = handle.clone();
        let driver = Driver::new(Arc::new(api.model(&service, false)))
            .with_handle(handle)
            .with_events(move |event| {
                if matches!(event, agent::Event::CallStarted { .. }) {
                    sender.send("and b?").unwrap();
                }
            });
        driver
            .run(&mut session(&["fs.read"]), "read a")
            .await
            .unwrap();
        let messages = service.body(1)["messages"].as_array().unwrap().clone();
        match api {
            Api::Chat => assert_eq!(
                (&messages[2]["role"], &messages[3]),
                (
                    &json!("tool"),
                    &json!({"role": "user", "content": "and b?"})
                )
            ),
            Api::Messages => {
                assert_eq!(messages.len(), 3);
                let content = &messages[2]["content"];
                assert_eq!(content[0]["type"], "tool_result");
                assert_eq!(content[1]["text"], "and b?");
            }
        }
    }
}
