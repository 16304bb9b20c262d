//! The host's time limit of calls, and the tools that delegate their work.

use std::sync::Arc;
use std::time::Duration;

use agent::{Driver, Event, Models, Provider, ProviderInfo, Request, Turn, TurnFuture};
use serde_json::{Value, json};
use tokio::time::sleep;
use tools::{Catalog, ToolCall, ToolContext};

use crate::spawn::{catalog, context, session, spawning};
use crate::workshop::{EventLog, answer, kind, results, tool};

const LIMIT: Duration = Duration::from_secs(2);

/// A model that needs longer for each turn than a call may take. The agent with the task `look` calls the tool `slow`.
struct SlowModel(Turn);

impl Provider for SlowModel {
    fn about(&self) -> &ProviderInfo {
        static SLOW: ProviderInfo = ProviderInfo::new("slow");
        &SLOW
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let is_first =
            request.messages.len() == 1 || request.agent.is_some() && request.messages.len() == 2;
        let turn = match (is_first, request.agent) {
            (true, None) if !request.tools.is_empty() => self.0.clone(),
            (true, Some("one")) => {
                Turn::calls([spawning("t", json!({"name": "two", "task": "look"}))])
            }
            (true, Some(_)) => Turn::calls([ToolCall::new("c", "slow", json!({}))]),
            _ => Turn::answer("done"),
        };
        Box::pin(async {
            sleep(LIMIT * 10).await;
            Ok(turn)
        })
    }
}

fn slow_catalog() -> Catalog {
    let mut catalog = catalog();
    let slow = async |_: ToolContext, _: Value| {
        sleep(LIMIT * 5).await;
        "slowly"
    };
    catalog.register(tool("slow"), slow).unwrap();
    catalog
}

/// The model of a sub-agent takes its time, and the limit holds for the calls at each level.
#[tokio::test(start_paused = true)]
async fn the_time_limit_of_calls_holds_for_those_of_sub_agents_and_not_for_their_models() {
    let log = EventLog::default();
    let turn = Turn::calls([
        spawning("s", json!({"name": "one", "task": "delegate"})),
        ToolCall::new("c", "slow", json!({})),
    ]);
    let driver = Driver::new(Arc::new(SlowModel(turn))).with_events(log.clone());
    let mut session = session(&slow_catalog(), context().with_timeout(LIMIT));
    let summary = driver.run(&mut session, "lead").await.unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    let results = results(session.messages());
    assert!(
        !results[0].1.is_error && results[0].1.to_text().starts_with("done"),
        "{results:?}"
    );
    assert_eq!(kind(&results[1].1), "timeout");
    let deepest = log.events().into_iter().find_map(|event| match event {
        Event::SubAgent { agent, event, .. } if agent == "one/two" => match *event {
            Event::Result { result, .. } => Some(result),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(kind(&deepest.unwrap()), "timeout");
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_calls_is_not_that_of_a_model_that_is_asked_for_text() {
    let turn = Turn::calls([ToolCall::new(
        "g",
        "llm.generate",
        json!({"prompt": "Say something."}),
    )]);
    let model = Arc::new(SlowModel(turn));
    let cx = context()
        .with_timeout(LIMIT)
        .with_service(Models::new(model.clone()));
    let mut session = session(&catalog(), cx);
    Driver::new(model).run(&mut session, "lead").await.unwrap();
    let results = results(session.messages());
    assert_eq!(
        (results[0].1.is_error, results[0].1.to_text().as_str()),
        (false, "done"),
        "{results:?}"
    );
}
