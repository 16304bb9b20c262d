//! Chats in a context that has room for little more than the first and the newest prompt.

use std::sync::{Arc, Mutex};

use agent::{
    ContextSize, Driver, Provider, ProviderInfo, Request, Selection, Session, Turn, TurnFuture,
    Usage,
};
use tools::Host;
use tools::protocol::{Message, Role};

use crate::compaction::compactions;
use crate::small_context::{tokens, too_long};
use crate::workshop::{EventLog, answer};

/// The tokens of the context.
const CONTEXT: u64 = 700;

/// A model whose summaries are longer than the conversation.
#[derive(Clone)]
struct LongWinded {
    /// Names the context if the model tells it, and the usage of each request.
    info: Arc<ProviderInfo>,
    requests: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Provider for LongWinded {
    fn about(&self) -> &ProviderInfo {
        &self.info
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let input_tokens = tokens(request.messages);
        let turn = match (input_tokens > CONTEXT, request.is_summary) {
            (true, _) => Err(too_long()),
            (false, true) => Ok(Turn::answer("And then there was more to say. ".repeat(200))),
            (false, false) => {
                self.requests
                    .lock()
                    .unwrap()
                    .push(request.messages.to_vec());
                Ok(Turn::answer("An answer. ".repeat(20)))
            }
        };
        let usage = Usage {
            input_tokens,
            output_tokens: 40,
            ..Usage::default()
        };
        let turn = turn.map(|turn| {
            if self.info.context.tokens().is_some() {
                Turn {
                    usage: Some(usage),
                    ..turn
                }
            } else {
                turn
            }
        });
        Box::pin(async move { turn })
    }
}

#[tokio::test]
async fn a_chat_goes_on_while_its_first_and_its_newest_prompt_fit() {
    for is_open in [false, true] {
        let model = LongWinded {
            info: Arc::new(ProviderInfo {
                context: ContextSize::new(if is_open { CONTEXT } else { 0 }),
                ..ProviderInfo::new("long-winded")
            }),
            requests: Arc::default(),
        };
        let log = EventLog::default();
        let driver = Driver::new(Arc::new(model.clone())).with_events(log.clone());
        let mut session = Session::new(Vec::new(), Selection::new(), Host::new());
        session.push(Message::text(Role::System, "Be brief."));
        for number in 1..=12 {
            let prompt = format!("Prompt {number}: {}", "word ".repeat(40));
            let summary = driver.run(&mut session, &prompt).await.unwrap();
            assert!(
                answer(&summary.outcome).starts_with("An answer."),
                "{is_open} {number}"
            );
            let request = model.requests.lock().unwrap().last().unwrap().clone();
            assert_eq!(request[0].role, Role::System);
            assert!(
                request[1].to_text().starts_with("Prompt 1:"),
                "{is_open} {number}"
            );
            assert_eq!(
                request.last().unwrap().to_text(),
                prompt,
                "{is_open} {number}"
            );
        }
        let compactions = compactions(&log);
        assert!(
            compactions
                .iter()
                .any(|compacted| compacted.dropped.is_some()),
            "{is_open}"
        );
        for compacted in compactions {
            assert!(
                compacted.after.bytes <= compacted.before.bytes,
                "{is_open} {compacted:?}"
            );
        }
        assert_eq!(session.messages().len(), 25, "the session keeps all");
    }
}
