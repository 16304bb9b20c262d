//! Replies of careless services, of which a good answer or the right word is left.

use std::sync::{Arc, Mutex};

use agent::{
    Driver, DriverError, Event, FailureKind, GenerationOptions, Outcome, ProviderError,
    ProviderOptions, Selection, Session, StopReason, Summary, ToolChoice,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::Host;

use crate::service::reply::{Api, Block, Way, completion};
use crate::service::{Reply, Service, events, json as reply};
use crate::workshop::{answer, catalog, result, run};

fn chunk(choice: Value) -> String {
    format!(
        "data: {}\n\n",
        json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
    )
}

fn delta(delta: Value) -> String {
    chunk(json!({"index": 0, "delta": delta}))
}

fn fragment(fragment: Value) -> String {
    delta(json!({"tool_calls": [fragment]}))
}

fn finish(reason: &str) -> String {
    chunk(json!({"index": 0, "delta": {}, "finish_reason": reason})) + "data: [DONE]\n\n"
}

fn ok() -> Reply {
    Api::Chat.answer(Way::Stream)
}

/// Runs a prompt, and returns the summary with the events.
async fn observed(service: &Service) -> (Result<Summary, DriverError>, Vec<Event>) {
    observed_with(service.openai(true)).await
}

async fn observed_with(model: Remote) -> (Result<Summary, DriverError>, Vec<Event>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let kept = events.clone();
    let driver = Driver::new(Arc::new(model));
    let driver = driver.with_events(move |event: Event| kept.lock().unwrap().push(event));
    let mut session = Session::new(
        catalog(&["fs.read"]).0.list(),
        Selection::new(),
        Host::new(),
    );
    let summary = driver.run(&mut session, "go").await;
    let events = events.lock().unwrap().clone();
    (summary, events)
}

#[tokio::test]
async fn fragments_at_an_unknown_index_belong_to_the_open_call() {
    let stream = [
        fragment(
            json!({"index": 0, "id": "c1", "function": {"name": "fs__read", "arguments": "{\"path\":\"a\"}"}}),
        ),
        fragment(
            json!({"index": 0, "id": "c2", "function": {"name": "fs__list", "arguments": ""}}),
        ),
        fragment(json!({"index": 1, "function": {"arguments": "{\"path\":"}})),
        fragment(json!({"index": 1, "function": {"arguments": "\"sub\"}"}})),
        finish("tool_calls"),
    ];
    let service = Service::new([events(stream.concat()), ok()]).await;
    let (_, _, ran) = run(service.openai(true), &["fs.read", "fs.list"]).await;
    let mut ran = ran.lock().unwrap().clone();
    ran.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [("fs.list", "sub"), ("fs.read", "a")];
    assert_eq!(
        ran,
        expected.map(|(name, path)| (name.to_owned(), json!({"path": path})))
    );
}

#[tokio::test]
async fn a_call_that_may_lack_arguments_is_not_run_with_fewer() {
    let stream = [
        fragment(
            json!({"index": 0, "id": "c1", "function": {"name": "fs__read", "arguments": ""}}),
        ),
        fragment(
            json!({"index": 0, "id": "c2", "function": {"name": "fs__list", "arguments": ""}}),
        ),
        fragment(json!({"index": 3, "function": {"arguments": "{\"path\":\"a\"}"}})),
        fragment(json!({"index": 4, "function": {"arguments": "{\"path\":\"b\"}"}})),
        finish("tool_calls"),
    ];
    let service = Service::new([events(stream.concat()), ok()]).await;
    let (summary, _, ran) = run(service.openai(true), &["fs.read", "fs.list"]).await;
    assert_eq!((ran.lock().unwrap().len(), summary.failed_calls), (0, 2));
}

#[tokio::test]
async fn a_reply_that_ends_without_its_finish_is_repeated_and_its_text_withdrawn() {
    let half = delta(json!({"content": "It is"}))
        + &fragment(
            json!({"index": 0, "id": "c1", "function": {"name": "fs__read", "arguments": "{\"pa"}}),
        );
    for half in [events(half.clone()), events(half).broken()] {
        let service = Service::new([half, ok()]).await;
        let (summary, events) = observed(&service).await;
        assert_eq!((answer(&summary.unwrap()).0, service.requests()), ("ok", 2));
        let marks = events.iter().filter_map(|event| match event {
            Event::Text { text } => Some(text.as_str()),
            Event::RequestRetried(retry) if retry.withdraws_text => Some("(withdrawn)"),
            _ => None,
        });
        assert_eq!(marks.collect::<String>(), "It is(withdrawn)ok");
    }
}

#[tokio::test]
async fn an_empty_turn_is_asked_again_and_then_a_failure() {
    for (api, way) in [(Api::Chat, Way::Stream), (Api::Messages, Way::Whole)] {
        let silent = |blocks: &[Block]| api.reply(way, blocks, Some(api.stops(&[])));
        let replies = [
            silent(&[]),
            silent(&[Block::Thought("Hm.")]),
            api.answer(way),
        ];
        let service = Service::new(replies).await;
        let (summary, session, _) = run(api.model(&service, way == Way::Stream), &[]).await;
        assert_eq!(
            (answer(&summary).0, service.requests()),
            ("ok", 3),
            "{api:?}"
        );
        assert_eq!(session.messages().len(), 2, "no empty turn is kept");
        assert!(
            service.text(2).contains("neither text nor") || service.text(2).contains("nor a call"),
            "{api:?}"
        );
    }
    let silent = || Api::Chat.reply(Way::Stream, &[Block::Text("\n")], Some("stop"));
    let service = Service::new(std::iter::repeat_with(silent).take(9)).await;
    let (summary, events) = observed(&service).await;
    assert!(
        matches!(
            summary,
            Err(DriverError::Provider(ProviderError::NoAnswer { .. }))
        ),
        "{summary:?}"
    );
    assert_eq!(service.requests(), 3);
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, Event::ReplyRejected { .. }))
            .count(),
        2
    );
    let Some(Event::Done(summary)) = events.last() else {
        panic!("{events:?}")
    };
    assert!(matches!(
        &summary.outcome,
        Outcome::Failed {
            failure: Some(FailureKind::MalformedReply),
            ..
        }
    ));
}

#[tokio::test]
async fn output_that_the_server_cannot_read_is_repeated_once_and_then_the_model_is_told() {
    for message in [
        "Failed to parse input at pos 12: {",
        "Failed to parse tool call arguments as JSON: [json.exception]",
        "error parsing tool call: raw='{\"a', err=unexpected end of JSON input",
    ] {
        let broken = || {
            reply(
                500,
                json!({"error": {"code": 500, "message": message, "type": "server_error"}}),
            )
        };
        let service = Service::new([broken(), broken(), ok()]).await;
        let (summary, _) = observed(&service).await;
        assert_eq!(
            (answer(&summary.unwrap()).0, service.requests()),
            ("ok", 3),
            "{message}"
        );
        assert_eq!(service.body(0)["messages"], service.body(1)["messages"]);
        assert_ne!(
            service.body(1)["messages"],
            service.body(2)["messages"],
            "the model is told"
        );
        let service = Service::new(std::iter::repeat_with(broken).take(20)).await;
        assert!(observed(&service).await.0.is_err());
        assert!(service.requests() <= 6, "{}", service.requests());
    }
}

#[tokio::test]
async fn thoughts_and_end_marks_in_the_text_are_no_part_of_the_answer() {
    for way in [Way::Whole, Way::Stream] {
        let blocks = [Block::Text(
            "<think>\nHm, 2 + 2.\n</think>\n\nIt is 4.<|im_end|>",
        )];
        let service = Service::new([Api::Chat.reply(way, &blocks, Some("eos_token"))]).await;
        let (summary, session, _) = run(service.openai(way == Way::Stream), &[]).await;
        assert_eq!(
            answer(&summary),
            ("It is 4.", &StopReason::Answer),
            "{way:?}"
        );
        assert!(
            serde_json::to_string(&session.messages()[1])
                .unwrap()
                .contains("Hm, 2 + 2.")
        );
    }
    let blocks = [
        Block::Text("<think>Hm"),
        Block::Text(".</thi"),
        Block::Text("nk> 4<|im_"),
        Block::Text("end|>"),
    ];
    let service = Service::new([Api::Chat.reply(Way::Stream, &blocks, Some("stop"))]).await;
    let (_, events) = observed(&service).await;
    let texts = events.iter().filter_map(|event| match event {
        Event::Text { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(texts.collect::<String>(), "4");
}

#[tokio::test]
async fn a_usual_end_has_many_spellings() {
    for (reason, stop) in [
        ("eos_token", StopReason::Answer),
        ("COMPLETE", StopReason::Answer),
        ("refusal", StopReason::Refusal),
        ("odd", StopReason::Other("odd".to_owned())),
    ] {
        let message = json!({"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": reason});
        let service = Service::new([completion(message)]).await;
        let (summary, ..) = run(service.openai(false), &[]).await;
        assert_eq!(answer(&summary), ("ok", &stop));
    }
}

#[tokio::test]
async fn arguments_in_a_json_string_are_the_object() {
    let arguments = json!(json!({"path": "a"}).to_string()).to_string();
    let call =
        json!({"index": 0, "id": "c1", "function": {"name": "fs__read", "arguments": arguments}});
    let service = Service::new([events(fragment(call) + &finish("tool_calls")), ok()]).await;
    let (_, _, ran) = run(service.openai(true), &["fs.read"]).await;
    assert_eq!(
        *ran.lock().unwrap(),
        [("fs.read".to_owned(), json!({"path": "a"}))]
    );
}

#[tokio::test]
async fn a_near_name_is_the_tool_unless_two_are_near() {
    for name in [
        "fs_read",
        "fs.read",
        "FS__Read",
        "functions.fs_read",
        "fs-read",
        "fs__read<|channel|>commentary",
    ] {
        let call = json!({"index": 0, "id": "c1", "function": {"name": name, "arguments": "{}"}});
        let stream = || events(fragment(call.clone()) + &finish("tool_calls"));
        let service = Service::new([stream(), ok()]).await;
        let (summary, _, ran) = run(service.openai(true), &["fs.read", "fs.list"]).await;
        assert_eq!(
            (ran.lock().unwrap().len(), summary.failed_calls),
            (1, 0),
            "{name}"
        );
        let service = Service::new([stream(), ok()]).await;
        let (summary, session, _) = run(service.openai(true), &["fsrea.d", "f.sread"]).await;
        assert_eq!(
            summary.failed_calls,
            1,
            "{name}: {}",
            result(&session.messages()[2].parts[0])
        );
    }
}

#[tokio::test]
async fn a_call_that_is_written_as_text_is_told_once_and_then_in_the_outcome() {
    let written = || {
        let text = Block::Text(
            "<tool_call>\n{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
        );
        Api::Chat.reply(Way::Stream, &[text], Some("stop"))
    };
    let call = || Api::Chat.reply(Way::Stream, &[Block::Call("a", "{}")], Some("tool_calls"));
    let service = Service::new([written(), call(), ok()]).await;
    let (summary, events) = observed(&service).await;
    let summary = summary.unwrap();
    assert_eq!(
        (answer(&summary), summary.calls),
        (("ok", &StopReason::Answer), 1)
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::ReplyRejected { .. }))
    );
    let service = Service::new([written(), written(), written()]).await;
    let (summary, _) = observed(&service).await;
    assert!(matches!(answer(&summary.unwrap()).1, StopReason::Other(_)));
    assert_eq!(service.requests(), 2);
}

#[tokio::test]
async fn an_answer_in_place_of_a_required_call_is_told_once_and_then_in_the_outcome() {
    let call = || Api::Chat.reply(Way::Stream, &[Block::Call("a", "{}")], Some("tool_calls"));
    for (replies, requests, calls, is_told) in [
        (vec![ok(), call(), ok()], 3, 1, false),
        (vec![ok(), ok(), ok()], 2, 0, true),
    ] {
        let service = Service::new(replies).await;
        let generation = GenerationOptions {
            tool_choice: Some(ToolChoice::Required),
            ..GenerationOptions::new()
        };
        let options = ProviderOptions {
            base_url: Some(format!("{}/v1", service.url)),
            generation,
            ..service.options("gpt-test", true)
        };
        let (summary, events) = observed_with(Remote::openai(&options).unwrap()).await;
        let summary = summary.unwrap();
        assert_eq!((service.requests(), summary.calls), (requests, calls));
        assert_eq!(
            matches!(answer(&summary).1, StopReason::Other(reason) if reason.contains("no call")),
            is_told
        );
        let is_rejected = |event: &&Event| matches!(event, Event::ReplyRejected { .. });
        assert_eq!(events.iter().filter(is_rejected).count(), 1, "{events:?}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_responses_api_is_one() {
    let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let response = json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": [item]});
    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let added = json!({"type": "message", "id": "m", "role": "assistant", "status": "in_progress", "content": []});
    let stream = [
        event(json!({"type": "response.output_item.added", "output_index": 0, "item": added})),
        event(
            json!({"type": "response.refusal.delta", "output_index": 0, "item_id": "m", "content_index": 0, "delta": "I cannot."}),
        ),
        event(json!({"type": "response.output_item.done", "output_index": 0, "item": item})),
        event(
            json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}),
        ),
    ];
    // Some gateways state no item again at its end.
    let unstated = [&stream[..2], &stream[3..]].concat();
    for (streaming, sent) in [
        (false, reply(200, &response)),
        (true, events(stream.concat())),
        (true, events(unstated.concat())),
    ] {
        let service = Service::new([sent]).await;
        let options = ProviderOptions {
            base_url: Some(format!("{}/v1", service.url)),
            ..service.options("gpt-test", streaming)
        };
        let (summary, ..) = run(
            agent_models::Remote::openai_responses(&options).unwrap(),
            &[],
        )
        .await;
        assert_eq!(
            answer(&summary),
            ("I cannot.", &StopReason::Refusal),
            "{streaming}"
        );
    }
}

#[tokio::test]
async fn an_unknown_tool_without_a_near_name_is_answered_with_the_names_of_the_tools() {
    let call =
        json!({"index": 0, "id": "c1", "function": {"name": "launch_rocket", "arguments": "{}"}});
    let service = Service::new([events(fragment(call) + &finish("tool_calls")), ok()]).await;
    let others: Vec<_> = (0..58)
        .map(|number| format!("quite.other{number}"))
        .collect();
    let tools = ["fs.read", "time.now"]
        .into_iter()
        .chain(others.iter().map(String::as_str))
        .collect::<Vec<_>>();
    let (_, session, _) = run(service.openai(true), &tools).await;
    let text = result(&session.messages()[2].parts[0]);
    assert!(
        text.contains("fs__read") && text.contains("time__now") && !text.contains("crate"),
        "{text}"
    );
}
