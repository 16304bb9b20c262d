//! The settings of answers, in the body of each service.

use std::sync::Arc;

use agent::{
    Driver, GenerationOptions, Provider as _, ProviderError, ProviderOptions, ReasoningEffort,
    Request, RunOptions, Selection, Session, SystemText, ToolChoice, ToolSet,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};
use tools::{CancellationToken, Host};

use crate::service::Service;
use crate::service::wire::{ALL, Block, options, remote, reply, two_calls};
use crate::workshop::{catalog, complete, prompt, run, session};

#[tokio::test]
async fn the_options_of_answers_reach_each_service() {
    let generation = GenerationOptions {
        max_output_tokens: Some(20_000),
        reasoning_effort: Some(ReasoningEffort::High),
        ..GenerationOptions::new()
    };
    for format in ALL {
        let service = Service::new([
            reply(format, true, &[Block::Text("ok")]),
            reply(format, false, &[Block::Text("ok")]),
        ])
        .await;
        for streaming in [true, false] {
            let options = ProviderOptions {
                generation: generation.clone(),
                ..options(format, &service, streaming)
            };
            complete(&remote(format, &options), &["fs.read"])
                .await
                .unwrap();
        }
        for turn in 0..2 {
            let body = service.body(turn);
            let (limit, effort) = match format {
                Format::OpenAiChat => (
                    "/max_completion_tokens",
                    ("/reasoning_effort", json!("high")),
                ),
                Format::OpenAiResponses => {
                    ("/max_output_tokens", ("/reasoning/effort", json!("high")))
                }
                Format::Anthropic => ("/max_tokens", ("/thinking/budget_tokens", json!(16_384))),
                Format::Gemini => (
                    "/generationConfig/maxOutputTokens",
                    (
                        "/generationConfig/thinkingConfig/thinkingLevel",
                        json!("high"),
                    ),
                ),
                _ => ("/options/num_predict", ("/think", json!("high"))),
            };
            assert_eq!(
                body.pointer(limit),
                Some(&json!(20_000)),
                "{format}: {body:#}"
            );
            let found = body
                .pointer(effort.0)
                .map(|found| found.to_string().to_lowercase());
            assert_eq!(found, Some(effort.1.to_string()), "{format}: {body:#}");
        }
    }
}

#[tokio::test]
async fn a_request_for_a_summary_raises_a_low_output_limit() {
    for (limit, sent) in [(1000, 4096), (20_000, 20_000)] {
        let service = Service::new([reply(Format::OpenAiChat, false, &[Block::Text("ok")])]).await;
        let generation = GenerationOptions {
            max_output_tokens: Some(limit),
            ..GenerationOptions::new()
        };
        let model = remote(
            Format::OpenAiChat,
            &ProviderOptions {
                generation,
                ..options(Format::OpenAiChat, &service, false)
            },
        );
        let (messages, tools, token) = (prompt(), ToolSet::default(), CancellationToken::new());
        let mut request = Request::new(&messages, &tools, &token);
        (request.is_summary, request.min_output_tokens) = (true, 4096);
        model.complete(request).await.unwrap();
        assert_eq!(service.body(0)["max_completion_tokens"], sent);
    }
}

#[tokio::test]
async fn the_temperature_reaches_the_services_that_take_it() {
    for format in [
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
    ] {
        let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
        let generation = GenerationOptions {
            temperature: Some(0.5),
            ..GenerationOptions::new()
        };
        let mut options = ProviderOptions {
            generation,
            ..options(format, &service, false)
        };
        if format == Format::OpenAiResponses {
            options = ProviderOptions {
                model: Some("gpt-4.1".into()),
                ..options
            };
        }
        complete(&remote(format, &options), &["fs.read"])
            .await
            .unwrap();
        let body = service.body(0);
        assert_eq!(body["temperature"], 0.5, "{format}: {body:#}");
    }
}

#[tokio::test]
async fn an_option_that_the_service_or_the_model_does_not_take_is_refused_at_once_by_its_name() {
    let service = Service::new([]).await;
    let unreasoned = GenerationOptions {
        reasoning_effort: Some(ReasoningEffort::Off),
        ..GenerationOptions::new()
    };
    let warm = GenerationOptions {
        reasoning_effort: Some(ReasoningEffort::High),
        temperature: Some(0.5),
        ..GenerationOptions::new()
    };
    let plain = || options(Format::OpenAiChat, &service, false);
    for (refused, name) in [
        (
            Remote::openai(&ProviderOptions {
                model: Some("o3".into()),
                generation: unreasoned,
                ..plain()
            }),
            "generation.reasoning_effort",
        ),
        (
            Remote::openai(&ProviderOptions {
                model: Some("gpt-5.1".into()),
                generation: warm,
                ..plain()
            }),
            "generation.temperature",
        ),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, ProviderError::Options { .. }), "{error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(service.requests(), 0);
}

#[tokio::test]
async fn a_forced_call_is_asked_for_once_so_that_the_run_ends() {
    for format in ALL.into_iter().filter(|format| *format != Format::Ollama) {
        for choice in [ToolChoice::Required, ToolChoice::Tool("fs.read".to_owned())] {
            let service = Service::new([
                reply(format, false, &two_calls()),
                reply(format, false, &[Block::Text("done")]),
            ])
            .await;
            let generation = GenerationOptions {
                tool_choice: Some(choice.clone()),
                ..GenerationOptions::new()
            };
            let model = remote(
                format,
                &ProviderOptions {
                    generation,
                    ..options(format, &service, false)
                },
            );
            run(model, &["fs.read"]).await;
            let field = if format == Format::Gemini {
                "toolConfig"
            } else {
                "tool_choice"
            };
            let [first, second] = [0, 1].map(|turn| service.body(turn)[field].clone());
            assert!(
                !first.is_null() && second.is_null(),
                "{format}: {first} {second}"
            );
            let names_tool = first.to_string().contains("fs__read");
            assert_eq!(
                names_tool,
                choice != ToolChoice::Required,
                "{format}: {first}"
            );
        }
        let service = Service::new([]).await;
        let absent = GenerationOptions {
            tool_choice: Some(ToolChoice::Tool("fs.write".to_owned())),
            ..GenerationOptions::new()
        };
        let model = remote(
            format,
            &ProviderOptions {
                generation: absent,
                ..options(format, &service, false)
            },
        );
        let error = complete(&model, &["fs.read"]).await.unwrap_err();
        assert!(
            error.to_string().contains("fs.write") && service.requests() == 0,
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_forced_call_of_a_tool_that_a_search_would_hide_is_made() {
    let names: Vec<_> = (0..1000)
        .map(|number| format!("shop.item_{number}"))
        .collect();
    let mut catalog = catalog(&names.iter().map(String::as_str).collect::<Vec<_>>()).0;
    agent::tool::register(&mut catalog).unwrap();
    let all = ALL.into_iter().filter(|format| *format != Format::Ollama);
    for format in all {
        let forced = Block::Call("a", "shop__item_777", json!({}));
        let service = Service::new([
            reply(format, false, &[forced]),
            reply(format, false, &[Block::Text("done")]),
        ])
        .await;
        let generation = GenerationOptions {
            tool_choice: Some(ToolChoice::Tool("shop.item_777".to_owned())),
            ..GenerationOptions::new()
        };
        let model = remote(
            format,
            &ProviderOptions {
                generation,
                ..options(format, &service, false)
            },
        );
        let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
        let summary = Driver::new(Arc::new(model))
            .run(&mut session, "go")
            .await
            .unwrap();
        assert_eq!(
            (summary.calls, summary.failed_calls),
            (1, 0),
            "{format}: {:?}",
            session.messages()
        );
        let [first, second] = [0, 1].map(|turn| service.body(turn)["tools"].clone());
        assert_eq!(first, second, "{format}");
        let offered: Vec<_> = match format {
            Format::Gemini => first[0]["functionDeclarations"]
                .as_array()
                .unwrap()
                .iter()
                .collect(),
            _ => first.as_array().unwrap().iter().collect(),
        };
        assert_eq!(offered.len(), 3, "{format}: {offered:?}");
        assert!(
            format!("{offered:?}").contains("shop__item_777"),
            "{format}: {offered:?}"
        );
    }
}

#[tokio::test]
async fn no_call_is_forced_on_a_sub_agent() {
    for choice in [
        ToolChoice::Required,
        ToolChoice::Tool("agent.spawn".to_owned()),
    ] {
        let service =
            Service::new([reply(Format::OpenAiChat, false, &[Block::Text("done")])]).await;
        let generation = GenerationOptions {
            tool_choice: Some(choice),
            ..GenerationOptions::new()
        };
        let model = remote(
            Format::OpenAiChat,
            &ProviderOptions {
                generation,
                ..options(Format::OpenAiChat, &service, false)
            },
        );
        let cx = Host::new().with_agent("helper").unwrap();
        let mut session = Session::new(catalog(&["fs.read"]).0.list(), Selection::new(), cx);
        Driver::new(Arc::new(model))
            .run(&mut session, "go")
            .await
            .unwrap();
        let body = service.body(0);
        assert!(
            body["tools"].is_array() && body["tool_choice"].is_null(),
            "{body:#}"
        );
    }
}

#[tokio::test]
async fn no_call_is_forced_while_a_long_conversation_is_summarised() {
    for format in ALL.into_iter().filter(|format| *format != Format::Ollama) {
        // The model is asked again, because it makes no call.
        let replies =
            ["The summary.", "done", "done"].map(|text| reply(format, false, &[Block::Text(text)]));
        let service = Service::new(replies).await;
        let generation = GenerationOptions {
            tool_choice: Some(ToolChoice::Required),
            ..GenerationOptions::new()
        };
        let model = remote(
            format,
            &ProviderOptions {
                generation,
                ..options(format, &service, false)
            },
        );
        let said = |role, text: &str| Message::text(role, text.repeat(400));
        let earlier = [
            said(Role::User, "task "),
            said(Role::Assistant, "answer "),
            said(Role::User, "more "),
        ];
        let mut session =
            session(&["fs.read"]).with_messages([&earlier[..], &earlier[1..2]].concat());
        let driver = Driver::new(Arc::new(model)).with_options(RunOptions {
            context_tokens: Some(2000),
            ..RunOptions::default()
        });
        driver.run(&mut session, "go").await.unwrap();
        let field = if format == Format::Gemini {
            "toolConfig"
        } else {
            "tool_choice"
        };
        let [summary, turn] = [0, 1].map(|request| service.body(request));
        assert!(
            summary[field].is_null() && !turn[field].is_null(),
            "{format}: {summary:#} {turn:#}"
        );
        let texts =
            [&summary, &turn].map(|body| body.to_string().matches("answer answer").count() > 0);
        assert_eq!(texts, [true, false], "{format}");
        assert!(
            turn.to_string().contains("The summary.") && turn.to_string().contains("task task"),
            "{format}"
        );
    }
}

#[tokio::test]
async fn settings_that_no_service_takes_are_refused_at_once() {
    let service = Service::new([]).await;
    let refused = |format, generation: GenerationOptions| {
        let options = ProviderOptions {
            generation,
            ..options(format, &service, false)
        };
        match format {
            Format::Ollama => Remote::ollama(&options),
            _ => Remote::openai(&options),
        }
        .unwrap_err()
    };
    for error in [
        refused(
            Format::OpenAiChat,
            GenerationOptions {
                temperature: Some(2.1),
                ..GenerationOptions::new()
            },
        ),
        refused(
            Format::OpenAiChat,
            GenerationOptions {
                temperature: Some(f64::NAN),
                ..GenerationOptions::new()
            },
        ),
        refused(
            Format::OpenAiChat,
            GenerationOptions {
                max_output_tokens: Some(0),
                ..GenerationOptions::new()
            },
        ),
        refused(
            Format::Ollama,
            GenerationOptions {
                tool_choice: Some(ToolChoice::Required),
                ..GenerationOptions::new()
            },
        ),
    ] {
        assert!(matches!(error, ProviderError::Options { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn anthropic_caches_the_tools_the_system_text_and_the_conversation_on_request() {
    let format = Format::Anthropic;
    let service = Service::new([
        reply(format, false, &[Block::Text("ok")]),
        reply(format, false, &[Block::Text("ok")]),
    ])
    .await;
    for caching in [true, false] {
        let options = ProviderOptions {
            generation: GenerationOptions {
                caching: Some(caching),
                ..GenerationOptions::new()
            },
            ..options(format, &service, false)
        };
        let system = SystemText::new().with_section("identity", "You are it.");
        let mut session = session(&["a", "b"]).with_system(system);
        Driver::new(Arc::new(remote(format, &options)))
            .run(&mut session, "go")
            .await
            .unwrap();
    }
    let marker = json!({"type": "ephemeral"});
    let body = service.body(0);
    assert_eq!(
        (&body["cache_control"], &body["tools"][0]["cache_control"]),
        (&marker, &Value::Null),
        "{body:#}"
    );
    for place in [
        "/tools/1/cache_control/type",
        "/system/0/cache_control/type",
    ] {
        assert_eq!(body.pointer(place), Some(&json!("ephemeral")), "{body:#}");
    }
    assert!(!service.body(1).to_string().contains("cache_control"));
}

#[tokio::test]
async fn the_output_limit_of_anthropic_fits_the_model() {
    let service = Service::new([]).await;
    for (model, limit) in [
        ("claude-sonnet-4-5", 64_000),
        ("claude-3-haiku-20240307", 4096),
        ("glm-5", 8192),
    ] {
        service.serve([reply(Format::Anthropic, false, &[Block::Text("ok")])]);
        let turn = service.requests();
        let options = ProviderOptions {
            model: Some(model.into()),
            ..options(Format::Anthropic, &service, false)
        };
        complete(&remote(Format::Anthropic, &options), &[])
            .await
            .unwrap();
        assert_eq!(service.body(turn)["max_tokens"], limit, "{model}");
    }
}
