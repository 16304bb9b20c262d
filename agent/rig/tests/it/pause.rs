//! Turns that the service pauses and continues.

use crate::service::reply::{Api, Block, Way};
use crate::service::{Reply, Service};
use crate::workshop::{answer, run};
use agent::StopReason;

const API: Api = Api::Messages;

fn paused(way: Way) -> Reply {
    API.reply(way, &[Block::Thought("Hm."), Block::Text("I search")], Some("pause_turn"))
}

#[tokio::test]
async fn a_paused_turn_goes_back_as_it_is_and_continues() {
    for way in [Way::Whole, Way::Stream] {
        let call = [Block::Text(" and read."), Block::Call("a", "{}")];
        let call = API.reply(way, &call, Some("tool_use"));
        let service = Service::new([paused(way), paused(way), call, API.answer(way)]).await;
        let (summary, session, ran) = run(service.anthropic(way == Way::Stream), &["fs.read"]).await;
        assert_eq!((answer(&summary).0, ran.lock().unwrap().len(), summary.steps), ("ok", 1, 2), "{way:?}");
        assert_eq!(session.messages()[1].parts.len(), 6);
        let usage = summary.usage.unwrap();
        assert_eq!(usage.input_tokens, 28, "the tokens of all requests");
        let roles = |index: usize| {
            let sent = service.body(index)["messages"].as_array().unwrap().clone();
            sent.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(roles(1), ["user", "assistant"], "{way:?}");
        let again = &service.body(1)["messages"][1]["content"];
        assert_eq!((again[0]["signature"].as_str(), again[1]["text"].as_str()), (Some("c2lnbmVk"), Some("I search")));
        assert_eq!(service.body(2)["messages"][1]["content"].as_array().unwrap().len(), 4);
        assert_eq!(roles(3), ["user", "assistant", "user"], "{way:?}");
    }
}

#[tokio::test]
async fn a_turn_that_pauses_for_ever_ends() {
    let service = Service::new(std::iter::repeat_with(|| paused(Way::Whole)).take(100)).await;
    let (summary, ..) = run(service.anthropic(false), &[]).await;
    assert_eq!(answer(&summary).1, &StopReason::Other("pause_turn".to_owned()));
    assert!((10..100).contains(&service.requests()));
}
