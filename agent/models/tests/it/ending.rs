//! How replies end: with a reason, without one, or not at all.

use std::sync::Arc;

use crate::service::Service;
use crate::service::reply::{Api, Block, Way};
use crate::workshop::{answer, catalog, result, run};
use agent::{Driver, Outcome, Selection, Session, StopReason};
use serde_json::json;
use tools::Host;

const TEXT: &[Block] = &[Block::Text("well")];
const CALL: &[Block] = &[Block::Call("a", r#"{"path":"a"}"#)];
const HALF_CALL: &[Block] = &[Block::Call("a", r#"{"path":"#)];

/// Why a reply stops.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    Absent,
    Usual,
    Filter,
    Length,
}

impl Reason {
    fn word(self, api: Api, blocks: &[Block]) -> Option<&'static str> {
        match (api, self) {
            (_, Self::Absent) => None,
            (_, Self::Usual) => Some(api.stops(blocks)),
            (Api::Chat, Self::Filter) => Some("content_filter"),
            (Api::Messages, Self::Filter) => Some("refusal"),
            (Api::Chat, Self::Length) => Some("length"),
            (Api::Messages, Self::Length) => Some("max_tokens"),
        }
    }
}

/// The end of a run whose model gave the reply.
#[derive(Debug, PartialEq)]
enum Ending {
    Answer(StopReason),
    /// The call was made.
    Ran,
    /// The call was not run, and its result gives the reason: a cut-off or another one.
    Told {
        is_cut_off: bool,
    },
    /// The reply was withdrawn, and the model asked again.
    AskedAgain,
}

#[tokio::test]
async fn a_reply_is_whole_unless_it_says_otherwise_or_breaks_off() {
    let mut wrong = Vec::new();
    for api in Api::ALL {
        for way in [Way::Whole, Way::Stream, Way::Cut] {
            let service = Service::new([]).await;
            let driver = Driver::new(Arc::new(api.model(&service, way != Way::Whole)));
            for blocks in [TEXT, CALL, HALF_CALL] {
                for reason in [
                    Reason::Absent,
                    Reason::Usual,
                    Reason::Filter,
                    Reason::Length,
                ] {
                    service.serve([
                        api.reply(way, blocks, reason.word(api, blocks)),
                        api.answer(way),
                    ]);
                    let came = ending(&driver).await;
                    let expected = match (way, reason) {
                        (Way::Cut, Reason::Absent) => Ending::AskedAgain,
                        (_, Reason::Absent | Reason::Usual) => match blocks[0] {
                            Block::Call(_, arguments) if arguments.ends_with('}') => Ending::Ran,
                            Block::Call(..) => Ending::Told { is_cut_off: false },
                            _ => Ending::Answer(StopReason::Answer),
                        },
                        (_, _) if matches!(blocks[0], Block::Call(..)) => Ending::Told {
                            is_cut_off: reason == Reason::Length,
                        },
                        (_, Reason::Filter) => Ending::Answer(StopReason::Refusal),
                        (_, Reason::Length) => Ending::Answer(StopReason::Length),
                    };
                    if came != expected {
                        wrong.push(format!(
                            "{api:?} {way:?} {blocks:?} {reason:?}: {came:?}, not {expected:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

async fn ending(driver: &Driver) -> Ending {
    let (catalog, ran) = catalog(&["fs.read"]);
    let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
    let summary = driver.run(&mut session, "go").await.unwrap();
    let has_run = !ran.lock().unwrap().is_empty();
    match (
        summary.calls,
        summary.failed_calls,
        has_run,
        summary.outcome,
    ) {
        (0, 0, false, Outcome::Answer { text, stop }) if text == "well" => Ending::Answer(stop),
        (0, 0, false, Outcome::Answer { text, .. }) if text == "ok" => Ending::AskedAgain,
        (1, 0, true, Outcome::Answer { .. }) => Ending::Ran,
        (1, 1, false, Outcome::Answer { .. }) => Ending::Told {
            is_cut_off: result(&session.messages()[2].parts[0]).contains("cut off"),
        },
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_complete_calls_of_a_reply_without_a_reason_are_made() {
    let blocks = [
        Block::Text("I look."),
        CALL[0],
        Block::Call("b", r#"{"path":"#),
        Block::Call("c", "{}"),
    ];
    for api in Api::ALL {
        for way in [Way::Whole, Way::Stream] {
            let service = Service::new([api.reply(way, &blocks, None), api.answer(way)]).await;
            let (summary, session, ran) =
                run(api.model(&service, way == Way::Stream), &["fs.read"]).await;
            assert_eq!(
                answer(&summary),
                ("ok", &StopReason::Answer),
                "{api:?} {way:?}"
            );
            let mut arguments: Vec<_> = ran
                .lock()
                .unwrap()
                .iter()
                .map(|(_, arguments)| arguments.clone())
                .collect();
            arguments.sort_by_key(ToString::to_string);
            assert_eq!(
                arguments,
                [json!({"path": "a"}), json!({})],
                "{api:?} {way:?}"
            );
            assert_eq!(session.messages()[1].to_text(), "I look.");
            let text = result(&session.messages()[2].parts[1]);
            assert!(
                text.contains("not a JSON object"),
                "{api:?} {way:?}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn no_call_of_a_reply_that_was_cut_off_is_made() {
    let blocks = [Block::Call("a", "{}"), Block::Call("b", r#"{"pa"#)];
    let (api, way) = (Api::Chat, Way::Stream);
    let service = Service::new([api.reply(way, &blocks, Some("length")), api.answer(way)]).await;
    let (summary, session, ran) = run(api.model(&service, true), &["fs.read"]).await;
    assert_eq!(
        (
            ran.lock().unwrap().len(),
            summary.calls,
            summary.failed_calls
        ),
        (0, 2, 2)
    );
    for text in session.messages()[2].parts.iter().map(result) {
        assert!(text.contains("cut off"), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_without_a_word_is_one() {
    for way in [Way::Whole, Way::Stream] {
        let service = Service::new([Api::Messages.reply(way, &[], Some("refusal"))]).await;
        let (summary, ..) = run(service.anthropic(way == Way::Stream), &[]).await;
        let (text, stop) = answer(&summary);
        assert!(!text.is_empty() && *stop == StopReason::Refusal, "{way:?}");
    }
}

#[tokio::test]
async fn thoughts_of_a_stream_without_a_reason_keep_their_signature() {
    let api = Api::Messages;
    let blocks = [Block::Thought("Hm."), CALL[0]];
    for piece in [1, 7, 997] {
        let service = Service::new([
            api.reply(Way::Stream, &blocks, None).in_pieces(piece),
            api.answer(Way::Stream),
        ]);
        let service = service.await;
        let (summary, ..) = run(service.anthropic(true), &["fs.read"]).await;
        assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
        let usage = summary.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (14, 6));
        let again = service.body(1)["messages"][1]["content"][0].clone();
        assert_eq!(
            again,
            json!({"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"})
        );
    }
}
