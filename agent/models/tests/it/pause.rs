//! Turns that the service pauses and continues.

use std::sync::Arc;

use agent::{BudgetLimits, Driver, Exhausted, Outcome, Resource, RunOptions, StopReason};
use serde_json::{Value, json};

use crate::service::reply::{Api, Block, Way};
use crate::service::{Reply, Service, json as body};
use crate::workshop::{answer, run, session};

const API: Api = Api::Messages;

fn paused(way: Way) -> Reply {
    API.reply(
        way,
        &[Block::Thought("Hm."), Block::Text("I search")],
        Some("pause_turn"),
    )
}

#[tokio::test]
async fn a_paused_turn_goes_back_as_it_is_and_each_request_is_a_step() {
    for way in [Way::Whole, Way::Stream] {
        let call = [Block::Text(" and read."), Block::Call("a", "{}")];
        let call = API.reply(way, &call, Some("tool_use"));
        let service = Service::new([paused(way), paused(way), call, API.answer(way)]).await;
        let (summary, session, ran) =
            run(service.anthropic(way == Way::Stream), &["fs.read"]).await;
        assert_eq!(
            (answer(&summary).0, ran.lock().unwrap().len(), summary.steps),
            ("ok", 1, 4),
            "{way:?}"
        );
        let parts: Vec<_> = session
            .messages()
            .iter()
            .map(|message| message.parts.len())
            .collect();
        assert_eq!(parts, [1, 2, 2, 2, 1, 1]);
        let usage = summary.usage.unwrap();
        assert_eq!(usage.input_tokens, 28, "the tokens of all requests");
        let roles = |index: usize| {
            let sent = service.body(index)["messages"].as_array().unwrap().clone();
            sent.iter()
                .map(|message| message["role"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(roles(1), ["user", "assistant"], "{way:?}");
        let again = &service.body(1)["messages"][1]["content"];
        assert_eq!(
            (again[0]["signature"].as_str(), again[1]["text"].as_str()),
            (Some("c2lnbmVk"), Some("I search"))
        );
        assert_eq!(
            service.body(2)["messages"][1]["content"]
                .as_array()
                .unwrap()
                .len(),
            4
        );
        assert_eq!(roles(3), ["user", "assistant", "user"], "{way:?}");
    }
}

#[tokio::test]
async fn the_text_before_a_pause_belongs_to_the_answer() {
    for way in [Way::Whole, Way::Stream] {
        let service = Service::new([paused(way), API.answer(way)]).await;
        let (summary, ..) = run(service.anthropic(way == Way::Stream), &[]).await;
        assert_eq!(
            answer(&summary),
            ("I search\nok", &StopReason::Answer),
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn a_thought_at_the_end_of_a_part_goes_back_with_the_next_part() {
    let part = |block| API.reply(Way::Whole, &[block], Some("pause_turn"));
    let service = Service::new([
        part(Block::Thought("Hm.")),
        part(Block::Text("So")),
        API.answer(Way::Whole),
    ])
    .await;
    run(service.anthropic(false), &[]).await;
    let body = service.body(2);
    let sent = body["messages"][1]["content"].as_array().unwrap();
    let kinds: Vec<_> = sent
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text"], "{body:#}");
}

#[tokio::test]
async fn a_service_tool_and_its_results_go_back_when_a_pause_is_between_them() {
    let reply = |content: Value, stop: &str| {
        body(
            200,
            json!({
                "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
                "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
            }),
        )
    };
    let used =
        json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}]);
    let found = json!([
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_use", "id": "a", "name": "fs__read", "input": {}},
    ]);
    let service = Service::new([
        reply(used, "pause_turn"),
        reply(found, "tool_use"),
        API.answer(Way::Whole),
    ])
    .await;
    run(service.anthropic(false), &["fs.read"]).await;
    let body = service.body(2);
    let sent = body["messages"][1]["content"].as_array().unwrap();
    let kinds: Vec<_> = sent
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["server_tool_use", "web_search_tool_result", "tool_use"],
        "{body:#}"
    );
}

#[tokio::test]
async fn a_turn_that_pauses_for_ever_ends_with_the_budget_and_the_text_so_far() {
    for (limits, resource, requests) in [
        (
            BudgetLimits {
                steps: Some(1),
                ..BudgetLimits::default()
            },
            Resource::Steps,
            1,
        ),
        (
            BudgetLimits {
                steps: Some(5),
                ..BudgetLimits::default()
            },
            Resource::Steps,
            5,
        ),
        // Each reply has seven tokens of input and some of output.
        (
            BudgetLimits {
                tokens: Some(8),
                ..BudgetLimits::default()
            },
            Resource::Tokens,
            1,
        ),
    ] {
        let service = Service::new(std::iter::repeat_with(|| paused(Way::Whole)).take(100)).await;
        let mut session = session(&[]);
        let options = RunOptions {
            limits,
            ..RunOptions::default()
        };
        let driver = Driver::new(Arc::new(service.anthropic(false))).with_options(options);
        let summary = driver.run(&mut session, "go").await.unwrap();
        let Outcome::Budget(Exhausted {
            resource: used_up, ..
        }) = summary.outcome
        else {
            panic!("{summary:?}")
        };
        assert_eq!((used_up, service.requests()), (resource, requests));
        assert_eq!(usize::try_from(summary.steps).unwrap(), requests);
        assert_eq!(session.messages().last().unwrap().to_text(), "I search");
    }
}
