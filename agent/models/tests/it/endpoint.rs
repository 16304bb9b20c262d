//! The way to a service: its URL, dialect, key and proxy.

use std::path::PathBuf;

use agent::{KeySource, ProviderOptions, Proxy};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;

use crate::service::wire::{ALL, Block, options, remote, reply, two_calls};
use crate::service::{KEY, Service, json as whole};
use crate::workshop::{complete, run};

#[tokio::test]
async fn a_url_may_be_a_host_a_base_or_an_endpoint() {
    let cases: [(Format, &str, &[&str]); 5] = [
        (
            Format::OpenAiChat,
            "/v1/chat/completions",
            &["", "/", "/v1", "/v1/", "/v1/chat/completions"],
        ),
        (
            Format::OpenAiResponses,
            "/v1/responses",
            &["", "/v1/", "/v1/responses"],
        ),
        (
            Format::Anthropic,
            "/v1/messages",
            &["", "/", "/v1", "/v1/messages"],
        ),
        (
            Format::Gemini,
            "/v1beta/models/gemini-3-flash-preview:generatecontent",
            &[
                "",
                "/v1beta",
                "/v1beta/models/gemini-3-flash-preview:generateContent",
            ],
        ),
        (
            Format::Ollama,
            "/api/chat",
            &["", "/", "/v1", "/api", "/api/chat"],
        ),
    ];
    let service = Service::new([]).await;
    for (format, path, endings) in cases {
        for ending in endings {
            service.serve([reply(format, false, &[Block::Text("ok")])]);
            let turn = service.requests();
            let options = ProviderOptions {
                base_url: Some(format!("{}{ending}", service.url)),
                ..options(format, &service, false)
            };
            complete(&remote(format, &options), &[]).await.unwrap();
            let head = service.head(turn);
            assert!(
                head.starts_with(&format!("post {path} http/1.1")),
                "{ending}: {head}"
            );
            assert!(
                head.contains(&format!(
                    "user-agent: toolcrib/{}",
                    env!("CARGO_PKG_VERSION")
                )),
                "{head}"
            );
            assert!(head.contains(KEY), "{head}");
        }
    }
}

#[tokio::test]
async fn the_dialect_of_a_known_service_is_chosen_by_name() {
    let format = Format::OpenAiChat;
    let replies = || {
        [
            reply(format, false, &two_calls()),
            reply(format, false, &[Block::Text("done")]),
        ]
    };
    let service = Service::new(replies()).await;
    let options = ProviderOptions {
        model: Some("a-model".into()),
        ..options(format, &service, false)
    };
    run(
        remote(
            format,
            &ProviderOptions {
                dialect: Some("deepseek".into()),
                ..options.clone()
            },
        ),
        &["fs.read"],
    )
    .await;
    // DeepSeek refuses a turn without the field, and other services one with it.
    assert_eq!(service.body(1)["messages"][1]["reasoning_content"], "");
    assert!(
        service.head(0).starts_with("post /chat/completions "),
        "{}",
        service.head(0)
    );

    service.serve(replies());
    run(
        remote(
            format,
            &ProviderOptions {
                dialect: Some("groq".into()),
                ..options.clone()
            },
        ),
        &["fs.read"],
    )
    .await;
    assert_eq!(
        service.body(3)["messages"][1]["reasoning_content"],
        Value::Null
    );
    assert!(
        service
            .head(2)
            .starts_with("post /openai/v1/chat/completions "),
        "{}",
        service.head(2)
    );

    let error = Remote::openai(&ProviderOptions {
        dialect: Some("nobody".into()),
        ..options.clone()
    })
    .unwrap_err();
    assert!(error.to_string().contains("deepseek"), "{error}");
    // The name alone does not send prompts and keys elsewhere.
    let mut unplaced = ProviderOptions {
        dialect: Some("groq".into()),
        ..options
    };
    unplaced.base_url = None;
    let error = Remote::openai(&unplaced).unwrap_err();
    assert!(
        error.to_string().contains("https://api.groq.com"),
        "{error}"
    );
}

#[tokio::test]
async fn a_service_of_the_user_gets_no_empty_key_and_its_refusal_names_the_variable() {
    for format in ALL {
        let service =
            Service::new([whole(401, json!({"error": {"message": "who are you?"}}))]).await;
        let mut options = options(format, &service, false);
        options.key = Some(KeySource::File(empty_file()));
        let error = complete(&remote(format, &options), &[]).await.unwrap_err();
        let head = service.head(0);
        for header in ["authorization", "x-api-key", "x-goog-api-key", "api-key"] {
            assert!(!head.contains(&format!("\n{header}:")), "{format}: {head}");
        }
        assert!(!head.contains("key="), "{head}");
        assert!(error.to_string().contains("no key was sent"), "{error}");
    }
}

#[tokio::test]
async fn the_key_of_gemini_is_in_no_url() {
    let service = Service::new([reply(Format::Gemini, true, &[Block::Text("ok")])]).await;
    complete(
        &remote(Format::Gemini, &options(Format::Gemini, &service, true)),
        &[],
    )
    .await
    .unwrap();
    let head = service.head(0);
    assert!(
        head.contains(&format!("x-goog-api-key: {KEY}"))
            && !head.lines().next().unwrap().contains("key"),
        "{head}"
    );
}

#[tokio::test]
async fn a_configured_proxy_is_used_except_for_this_machine() {
    let format = Format::OpenAiChat;
    let proxy = Service::new([reply(format, false, &[Block::Text("by proxy")])]).await;
    let service = Service::new([reply(format, false, &[Block::Text("direct")])]).await;
    let options = ProviderOptions {
        proxy: Some(Proxy::Url(proxy.url.clone())),
        ..options(format, &service, false)
    };
    let turn = complete(&remote(format, &options), &[]).await.unwrap();
    assert_eq!((turn.as_str(), proxy.requests()), ("direct", 0));
    let options = ProviderOptions {
        base_url: Some("http://service.invalid/v1".into()),
        ..options
    };
    let turn = complete(&remote(format, &options), &[]).await.unwrap();
    assert_eq!((turn.as_str(), proxy.requests()), ("by proxy", 1));
    assert!(
        proxy
            .head(0)
            .starts_with("post http://service.invalid/v1/chat/completions "),
        "{}",
        proxy.head(0)
    );

    let secret = ProviderOptions {
        proxy: Some(Proxy::Url("http://me:secret@h".to_owned())),
        ..options
    };
    let error = Remote::openai(&secret).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

fn empty_file() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty.key");
    std::fs::write(&path, "\n").unwrap();
    path
}
