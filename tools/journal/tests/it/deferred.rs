//! Approvals that are given after the process has ended.

use std::sync::Arc;

use agent::{
    ApprovalRequest, DeferredConsent, Driver, Event, Outcome, Run, Selection, Session, Turn,
};
use serde_json::{Value, json};
use tools::protocol::{Message, Part};
use tools::{Catalog, Effects, Grant, Host, Policy, Tool, ToolCall, ToolContext, ToolResult};

use crate::crib::{Crib, Workshop, driver, sends, tool};

/// A context that asks before each write.
fn context(crib: &Crib) -> Host {
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_policy(Policy::by_effects())
        .with_session("s");
    DeferredConsent::new().enter(cx.with_journal(Arc::new(crib.journal())))
}

fn session(workshop: &Workshop, crib: &Crib) -> Session {
    Session::new(workshop.catalog.list(), Selection::new(), context(crib))
}

/// Two sends and a thought, and the answer.
fn turns() -> [Turn; 2] {
    let call = |id: &str, tool: &str, to: &str| ToolCall::new(id, tool, json!({"to": to}));
    [
        Turn::calls([
            call("a", "send", "ann"),
            call("b", "think", "-"),
            call("c", "send", "bob"),
        ]),
        Turn::answer("done"),
    ]
}

fn requests(outcome: &Outcome) -> Vec<ApprovalRequest> {
    match outcome {
        Outcome::WaitingForApproval { requests } => requests.clone(),
        other => panic!("{other:?}"),
    }
}

/// A session as another process would open it, with its stored run.
async fn stored(workshop: &Workshop, crib: &Crib) -> (Session, Run) {
    let session = session(workshop, crib);
    let run = session.stored_run().await.unwrap().unwrap();
    (session, run)
}

fn consent(session: &Session) -> Arc<DeferredConsent> {
    session.context().service().unwrap()
}

fn results(messages: &[Message]) -> Vec<(String, ToolResult)> {
    let parts = messages.iter().flat_map(|message| message.parts.clone());
    let result = |part| match part {
        Part::ToolResult { id, result, .. } => Some((id, result)),
        _ => None,
    };
    parts.filter_map(result).collect()
}

#[tokio::test]
async fn a_run_waits_for_approvals_and_continues_in_another_process_with_the_answers() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let summary = driver(turns())
        .run(&mut session(&workshop, &crib), "go")
        .await
        .unwrap();
    let asked = requests(&summary.outcome);
    assert_eq!(
        asked
            .iter()
            .map(|request| (&*request.call, &*request.tool))
            .collect::<Vec<_>>(),
        [("a", "send"), ("c", "send")]
    );
    assert_eq!(workshop.runs(), (0, 1), "the call that needs none has run");

    // The request survives the way to a person and back.
    let text = serde_json::to_string(&asked).unwrap();
    let asked: Vec<ApprovalRequest> = serde_json::from_str(&text).unwrap();
    let (mut second, run) = stored(&workshop, &crib).await;
    assert_eq!(run.waiting_requests(), asked);
    let [first, other] = <[ApprovalRequest; 2]>::try_from(asked).unwrap();
    consent(&second).allow(first);
    consent(&second).deny(other.clone(), "not to bob");
    let summary = driver(turns()).resume(&mut second, run).await.unwrap();
    assert!(
        matches!(&summary.outcome, Outcome::Answer { text, .. } if text == "done"),
        "{summary:?}"
    );
    assert_eq!((workshop.runs(), summary.calls), ((1, 1), 3));
    let results = results(second.messages());
    assert_eq!(
        results
            .iter()
            .map(|(id, result)| (&**id, result.is_error))
            .collect::<Vec<_>>(),
        [("a", false), ("b", false), ("c", true)]
    );
    assert!(
        results[2].1.to_text().contains("not to bob"),
        "{:?}",
        results[2]
    );
    crib.head();
}

#[tokio::test]
async fn a_run_with_one_answer_of_two_waits_for_the_other() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let summary = driver(turns())
        .run(&mut session(&workshop, &crib), "go")
        .await
        .unwrap();
    let asked = requests(&summary.outcome);
    let (mut second, run) = stored(&workshop, &crib).await;
    consent(&second).allow(asked[0].clone());
    let summary = driver(turns()).resume(&mut second, run).await.unwrap();
    assert_eq!(requests(&summary.outcome), asked[1..]);
    let (mut third, run) = stored(&workshop, &crib).await;
    consent(&third).allow(asked[1].clone());
    driver(turns()).resume(&mut third, run).await.unwrap();
    assert_eq!(workshop.runs(), (2, 1), "each once");
}

#[tokio::test]
async fn an_answer_fits_only_the_request_that_it_was_given_for() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let summary = driver(turns())
        .run(&mut session(&workshop, &crib), "go")
        .await
        .unwrap();
    let asked = requests(&summary.outcome);

    // Another call, other arguments, another session: the answer is not theirs.
    for (field, value) in [
        ("call", json!("c")),
        ("session", json!("t")),
        ("tool", json!("think")),
    ] {
        let mut other = serde_json::to_value(&asked[0]).unwrap();
        other[field] = value;
        let (mut second, run) = stored(&workshop, &crib).await;
        consent(&second).allow(serde_json::from_value(other).unwrap());
        let summary = driver(turns()).resume(&mut second, run).await.unwrap();
        assert_eq!(requests(&summary.outcome), asked, "{field}");
    }
    let mut other = serde_json::to_value(&asked[0]).unwrap();
    other["call"] = json!("c");
    other["tool_digest"] = serde_json::to_value(asked[1].tool_digest).unwrap();
    let (mut second, run) = stored(&workshop, &crib).await;
    consent(&second).allow(serde_json::from_value(other).unwrap());
    let summary = driver(turns()).resume(&mut second, run).await.unwrap();
    assert_eq!(
        requests(&summary.outcome),
        asked,
        "the arguments are those of the other call"
    );

    // The tool was replaced since.
    let mut changed = Catalog::new();
    let send = tool("send", sends()).with_title("Another one");
    changed
        .register(send, async |_: ToolContext, _: Value| "sent".to_owned())
        .unwrap();
    let mut third = Session::new(changed.list(), Selection::new(), context(&crib));
    let run = third.stored_run().await.unwrap().unwrap();
    asked
        .iter()
        .for_each(|request| consent(&third).allow(request.clone()));
    let summary = driver(turns()).resume(&mut third, run).await.unwrap();
    let again = requests(&summary.outcome);
    assert_eq!(again.len(), 2);
    assert!(
        again[0] != asked[0]
            && again[0].id != asked[0].id
            && again[0].tool_digest != asked[0].tool_digest
    );
    assert_eq!(workshop.runs().0, 0);
}

#[tokio::test]
async fn without_a_journal_the_session_has_the_run_and_another_prompt_leaves_it() {
    let workshop = Workshop::new();
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_policy(Policy::by_effects());
    let open = || {
        Session::new(
            workshop.catalog.list(),
            Selection::new(),
            DeferredConsent::new().enter(cx.clone()),
        )
    };
    let mut first = open();
    let events = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = events.clone();
    let noting = driver(turns()).with_events(move |event| log.lock().unwrap().push(event));
    let asked = requests(&noting.run(&mut first, "go").await.unwrap().outcome);
    let of_calls: Vec<_> = events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match event {
            Event::ApprovalDeferred { id, request } => Some((id.clone(), Some(request.id.clone()))),
            Event::Result { id, .. } => Some((id.clone(), None)),
            _ => None,
        })
        .collect();
    assert_eq!(of_calls.len(), 3, "{of_calls:?}");
    assert!(
        of_calls.contains(&("b".to_owned(), None))
            && of_calls.contains(&("a".to_owned(), Some(asked[0].id.clone())))
    );

    let run: Run =
        serde_json::from_value(serde_json::to_value(first.waiting_run().unwrap()).unwrap())
            .unwrap();
    let mut second = open();
    asked
        .iter()
        .for_each(|request| consent(&second).allow(request.clone()));
    driver(turns()).resume(&mut second, run).await.unwrap();
    assert_eq!((workshop.runs(), second.waiting_run()), ((2, 1), None));

    // The first session goes on without the approvals: each call has a result.
    let answer = driver(turns()).run(&mut first, "never mind").await.unwrap();
    assert!(matches!(answer.outcome, Outcome::Answer { .. }));
    let results = results(first.messages());
    assert_eq!(
        results
            .iter()
            .map(|(_, result)| result.is_error)
            .collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!((workshop.runs(), first.waiting_run()), ((2, 1), None));
}

#[tokio::test]
async fn a_call_of_a_running_call_cannot_wait_and_is_refused() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let outer = Tool::new("outer", "Sends.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let handler =
        async |cx: ToolContext, _: Value| match cx.execute("send", json!({"to": "ann"})).await {
            Ok(_) => "sent".to_owned(),
            Err(error) => error.code().to_string(),
        };
    workshop.catalog.register(outer, handler).unwrap();
    let mut session = session(&workshop, &crib);
    let turns = [
        Turn::calls([ToolCall::new("a", "outer", json!({}))]),
        Turn::answer("done"),
    ];
    let summary = driver(turns).run(&mut session, "go").await.unwrap();
    assert!(
        matches!(summary.outcome, Outcome::Answer { .. }),
        "{summary:?}"
    );
    assert_eq!(results(session.messages())[0].1.to_text(), "unapproved");
    assert_eq!(workshop.runs(), (0, 0));
}

#[tokio::test]
async fn a_cancelled_run_does_not_wait() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let mut session = session(&workshop, &crib);
    let token = tools::CancellationToken::new();
    let cancel = token.clone();
    let driver: Driver = driver(turns())
        .with_cancellation(token)
        .with_events(move |event| {
            if matches!(event, Event::ApprovalDeferred { .. }) {
                cancel.cancel();
            }
        });
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(summary.outcome, Outcome::Cancelled);
    assert_eq!(
        results(session.messages()).len(),
        3,
        "each call has a result"
    );
}
