//! Resuming a session whose conversation was compacted.

use std::sync::Arc;

use agent::{Driver, Outcome, Run, Selection, Session};
use serde_json::json;
use tools::protocol::{Message, Role};

use crate::crib::{Crib, context};
use crate::small_context::{
    SmallContext, catalog, check_pairing, handle, read_back, result_texts, text,
};

fn session(crib: &Crib) -> Session {
    let cx = context(&crib.journal()).with_service(tools::OutputStore::default());
    Session::new(catalog(1100).list(), Selection::new(), cx)
}

async fn run(model: &SmallContext, crib: &Crib) -> Session {
    let mut session = session(crib);
    let driver = Driver::new(Arc::new(model.clone()))
        .with_checkpoints(true)
        .with_max_steps(500);
    let summary = match session.stored_run().await.unwrap() {
        Some(run) => driver.resume(&mut session, run).await,
        None => driver.run(&mut session, "Read the files.").await,
    };
    assert!(matches!(
        summary.unwrap().outcome,
        Outcome::Answer { .. } | Outcome::Budget(_)
    ));
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_session_continues_with_the_compacted_conversation_and_the_journal_has_all_of_it()
{
    let crib = Crib::new();
    let model = SmallContext::open(100, 8_000);
    let first = Driver::new(Arc::new(model.clone()))
        .with_checkpoints(true)
        .with_max_steps(64);
    let ended = first
        .run(&mut session(&crib), "Read the files.")
        .await
        .unwrap();
    assert!(matches!(ended.outcome, Outcome::Budget(_)), "{ended:?}");
    let (before, summaries) = {
        let log = model.log.lock().unwrap();
        (log.requests.len(), log.summaries)
    };
    assert!(summaries > 0);

    let stored: Run = session(&crib).stored_run().await.unwrap().unwrap();
    assert_eq!(
        result_texts(stored.messages()).len() as u32,
        ended.calls,
        "the journal keeps everything"
    );
    let compacted = stored.request_messages().len();
    assert!(
        compacted < stored.messages().len() / 2,
        "{compacted} of {}",
        stored.messages().len()
    );

    let mut second = run(
        &SmallContext {
            turns: 68,
            ..model.clone()
        },
        &crib,
    )
    .await;
    let (request, refused) = {
        let log = model.log.lock().unwrap();
        (log.requests[before].clone(), log.refused)
    };
    assert_eq!(request[0], Message::text(Role::User, "Read the files."));
    assert!(
        request[1]
            .to_text()
            .contains(&format!("Summary {summaries}")),
        "{}",
        request[1].to_text()
    );
    assert!(
        request.len() <= compacted + 2,
        "{} and {compacted}",
        request.len()
    );
    assert_eq!(
        (refused, crib.entries().len()),
        (0, 272),
        "an intent and an outcome of each call, once"
    );
    check_pairing(second.messages());
    let results = result_texts(second.messages());
    assert_eq!(results.len(), 136);
    let first = text(&json!({"number": 1, "file": "a"}), 1100);
    assert_eq!(results[0], first);

    // The first process wrote the handles in the summary and in the notices.
    let summary = request[1].to_text();
    let notices = result_texts(&request);
    let handles = [&summary]
        .into_iter()
        .chain(&notices)
        .filter_map(|text| handle(text))
        .collect::<Vec<_>>();
    let read = read_back(&mut second, &handles).await;
    assert!(read.len() > 1 && read[0].starts_with(&first), "{read:?}");
    assert!(
        read.iter().all(|text| text.starts_with("line of ")),
        "{read:?}"
    );
    crib.head();
}
