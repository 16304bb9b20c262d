//! Turns without text or calls that a limit or a refusal ended, and their place in later requests.

use std::sync::Arc;

use crate::service::Service;
use crate::service::reply::{Api, Block, Way};
use crate::workshop::{answer, catalog};
use agent::{Driver, Provider, Run, Selection, Session, StopReason};
use serde_json::{Value, json};
use tools::Host;
use tools::protocol::{Message, Role};

const CALL: Block = Block::Call("a", "{}");
const THOUGHT: Block = Block::Thought("Hm.");

/// Prompts a model that answers with these blocks after a result of a tool, and then twice more. Gives the session, and the
/// messages of the last request.
async fn three_prompts(
    api: Api,
    way: Way,
    blocks: &[Block],
    reason: &str,
) -> (Session, Vec<Value>) {
    let call = api.reply(way, &[CALL], Some(api.stops(&[CALL])));
    let says_nothing = api.reply(way, blocks, Some(reason));
    let service = Service::new([call, says_nothing, api.answer(way), api.answer(way)]).await;
    let driver = Driver::new(Arc::new(api.model(&service, way == Way::Stream)));
    let mut session = Session::new(
        catalog(&["fs.read"]).0.list(),
        Selection::new(),
        Host::new(),
    );
    driver.run(&mut session, "go").await.unwrap();
    for prompt in ["well?", "and now?"] {
        assert_eq!(
            answer(&driver.run(&mut session, prompt).await.unwrap()),
            ("ok", &StopReason::Answer),
            "{api:?} {way:?}"
        );
    }
    let sent = service.body(3)["messages"].as_array().unwrap().clone();
    (session, sent)
}

fn roles(sent: &[Value]) -> Vec<&str> {
    sent.iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_turn_that_says_nothing_is_kept_and_not_sent() {
    let thought_and_blank = [THOUGHT, Block::Text("\n\n")];
    let silences: [&[Block]; 4] = [&[], &[Block::Text("\n")], &[THOUGHT], &thought_and_blank];
    for way in [Way::Whole, Way::Stream] {
        for blocks in silences {
            let (session, sent) = three_prompts(Api::Chat, way, blocks, "length").await;
            assert_eq!(
                roles(&sent),
                ["user", "assistant", "tool", "user", "assistant", "user"],
                "{blocks:?} {sent:#?}"
            );
            assert_eq!(sent[2]["tool_call_id"], "a");
            assert!(sent[3].to_string().contains("well?"), "{sent:#?}");
            assert_eq!(session.messages().len(), 8);
            assert_eq!(session.messages()[3].role, Role::Assistant);

            let (session, sent) = three_prompts(Api::Messages, way, blocks, "max_tokens").await;
            assert_eq!(
                roles(&sent),
                ["user", "assistant", "user", "assistant", "user"],
                "{blocks:?} {sent:#?}"
            );
            // The result and the next prompt are one message of the user.
            assert_eq!(sent[2]["content"][0]["tool_use_id"], "a");
            assert_eq!(sent[2]["content"][1]["text"], "well?");
            assert_eq!(session.messages().len(), 8);
        }
    }
}

#[tokio::test]
async fn the_thoughts_of_a_turn_that_says_nothing_stay_in_the_record() {
    for api in Api::ALL {
        let limit = if api == Api::Chat {
            "length"
        } else {
            "max_tokens"
        };
        let (session, _) = three_prompts(api, Way::Stream, &[THOUGHT], limit).await;
        let turn = &session.messages()[3];
        assert!(
            serde_json::to_string(turn).unwrap().contains("Hm."),
            "{turn:?}"
        );
    }
}

#[tokio::test]
async fn a_filter_or_a_limit_that_leaves_nothing_does_not_end_the_session() {
    for (api, reasons) in [
        (Api::Chat, ["content_filter", "length"]),
        (Api::Messages, ["refusal", "max_tokens"]),
    ] {
        for reason in reasons {
            for blocks in [&[][..], &[THOUGHT]] {
                let (session, sent) = three_prompts(api, Way::Whole, blocks, reason).await;
                assert_eq!(session.messages().len(), 8, "{api:?} {reason}");
                assert_eq!(sent.last().unwrap()["role"], "user");
            }
        }
    }
}

/// Anthropic refuses a message of the model that ends with a thought.
#[tokio::test]
async fn no_turn_that_is_sent_to_anthropic_ends_with_a_thought() {
    let (session, sent) = three_prompts(
        Api::Messages,
        Way::Whole,
        &[THOUGHT, Block::Text("I see."), THOUGHT],
        "max_tokens",
    )
    .await;
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"});
    assert_eq!(
        sent[3]["content"].as_array().unwrap()[..],
        [thought, json!({"type": "text", "text": "I see."})]
    );
    assert_eq!(session.messages()[3].parts.len(), 3);
}

/// As an earlier version has stored it, whose next prompt failed.
#[tokio::test]
async fn a_session_that_was_stored_with_an_empty_turn_goes_on() {
    let stored = json!([
        {"role": "user", "parts": [{"content": {"type": "text", "text": "go"}}]},
        {"role": "assistant", "parts": [{"tool_call": {"id": "a", "name": "fs.read", "arguments": {}}}]},
        {"role": "tool", "parts": [{"tool_result": {"id": "a", "name": "fs.read", "result": {
            "content": [{"type": "text", "text": "done"}]}}}]},
        {"role": "assistant", "parts": []},
        {"role": "user", "parts": [{"content": {"type": "text", "text": "well?"}}]},
    ]);
    let messages: Vec<Message> = serde_json::from_value(stored.clone()).unwrap();
    let text = serde_json::to_string(&Run::new(messages)).unwrap();
    for api in Api::ALL {
        let service = Service::new([api.answer(Way::Stream), api.answer(Way::Stream)]).await;
        let model: Arc<dyn Provider> = Arc::new(api.model(&service, true));
        let mut session = Session::new(
            catalog(&["fs.read"]).0.list(),
            Selection::new(),
            Host::new(),
        );
        let run: Run = serde_json::from_str(&text).unwrap();
        let driver = Driver::new(model);
        assert_eq!(
            answer(&driver.resume(&mut session, run).await.unwrap()),
            ("ok", &StopReason::Answer),
            "{api:?}"
        );
        driver.run(&mut session, "and now?").await.unwrap();
        assert_eq!(session.messages().len(), 8);
        assert_eq!(
            serde_json::to_value(&session.messages()[..5]).unwrap(),
            stored
        );
        let sent = service.body(1)["messages"].clone();
        assert_eq!(
            sent.as_array().unwrap().len(),
            if api == Api::Chat { 6 } else { 5 },
            "{sent:#}"
        );
    }
}
