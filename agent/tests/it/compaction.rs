//! Conversations that are longer than the model's context.

use std::sync::Arc;

use agent::{
    Compacted, CompactionCause, Driver, DriverError, Event, Plan, RunOptions, Selection, Session,
    Turn,
};
use serde_json::{Value, json};
use tools::protocol::{Message, ResourceContents, Role};
use tools::{Content, OutputStore, ToolCall, ToolContext, ToolResult};

use crate::small_context::{
    SmallContext, catalog, check_pairing, context, handle, read_back, text, tokens, too_long,
};
use crate::workshop::{EventLog, answer, calling, playing, results, scripted, tool};

pub(crate) fn session(bytes: usize) -> Session {
    Session::new(catalog(bytes).list(), Selection::new(), context())
}

pub(crate) fn driver(model: &SmallContext, log: &EventLog) -> Driver {
    Driver::new(Arc::new(model.clone()))
        .with_max_steps(2000)
        .with_events(log.clone())
}

pub(crate) fn compactions(log: &EventLog) -> Vec<Compacted> {
    let compacted = |event| match event {
        Event::Compacted(compacted) => Some(compacted),
        _ => None,
    };
    log.events().into_iter().filter_map(compacted).collect()
}

/// Checks that a model can read the results that these compactions replaced.
async fn check_readable(session: &mut Session, compactions: &[Compacted], bytes: usize) {
    let replaced: Vec<_> = compactions
        .iter()
        .flat_map(|compacted| compacted.replaced.clone())
        .collect();
    let read = read_back(session, &replaced).await;
    assert!(!replaced.is_empty() && read.len() == replaced.len());
    for (id, result) in replaced.iter().zip(read) {
        let (number, file) = id[1..].split_once('-').unwrap();
        let whole = text(
            &json!({"number": number.parse::<u64>().unwrap(), "file": file}),
            bytes,
        );
        assert!(result.starts_with(&whole), "{id}: {result}");
    }
}

#[tokio::test]
async fn a_session_of_400_turns_with_a_small_context_compacts_loses_no_pairing_and_finishes() {
    let model = SmallContext::new(400, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    assert_eq!(
        (answer(&summary.outcome), summary.steps, summary.calls),
        ("read 400", 401, 800)
    );

    {
        let seen = model.log.lock().unwrap();
        assert!(
            seen.refused > 0 && seen.summaries > 1 && seen.largest <= 8_000,
            "{}, {}",
            seen.refused,
            seen.summaries
        );
        for request in &seen.requests {
            assert_eq!(
                request[0],
                Message::text(Role::User, "Read the files."),
                "the stable prefix stays"
            );
        }
        let last = seen.requests.last().unwrap();
        assert!(
            last[1]
                .to_text()
                .contains(&format!("Summary {}", seen.summaries)),
            "{}",
            last[1].to_text()
        );
    }

    let compactions = compactions(&log);
    assert!(
        compactions
            .iter()
            .all(|compacted| compacted.cause == CompactionCause::ContextLength)
    );
    assert!(
        compactions
            .iter()
            .all(|compacted| compacted.after.bytes < compacted.before.bytes)
    );
    assert!(
        compactions
            .iter()
            .any(|compacted| compacted.summarised.is_some())
    );

    // The session has everything that the requests left out.
    check_pairing(session.messages());
    let results = results(session.messages());
    assert_eq!(results.len(), 800);
    for (number, pair) in results.chunks(2).enumerate() {
        assert_eq!(
            pair[0].1.to_text(),
            text(&json!({"number": number + 1, "file": "a"}), 900)
        );
    }
    check_readable(&mut session, &compactions, 900).await;
}

#[tokio::test]
async fn the_reported_usage_tells_how_full_the_context_is() {
    let model = SmallContext::open(100, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    assert_eq!(answer(&summary.outcome), "read 100");
    let seen = model.log.lock().unwrap();
    assert_eq!(seen.refused, 0, "no request is too long");
    assert!(
        seen.summaries > 0 && seen.largest > 5_000,
        "{} {}",
        seen.summaries,
        seen.largest
    );
    let compactions = compactions(&log);
    assert!(
        compactions
            .iter()
            .all(|compacted| compacted.cause == CompactionCause::NearLimit)
    );
    for compacted in compactions {
        assert!(
            (6_400..=8_000).contains(&compacted.before.tokens),
            "{compacted:?}"
        );
        assert!(compacted.after.tokens < 4_500, "{compacted:?}");
    }
    let usage = summary.usage.unwrap();
    let requested: u64 = seen.requests.iter().map(|request| tokens(request)).sum();
    assert_eq!(usage.input_tokens, requested, "summaries count");
}

#[tokio::test]
async fn the_option_limits_the_context_of_a_model_that_does_not_tell_it() {
    let model = SmallContext::new(60, 1_000_000);
    let (mut session, log) = (session(900), EventLog::default());
    let options = RunOptions {
        context_tokens: Some(8_000),
        ..RunOptions::default()
    };
    driver(&model, &log)
        .with_options(options)
        .with_max_steps(100)
        .run(&mut session, "Read.")
        .await
        .unwrap();
    let seen = model.log.lock().unwrap();
    assert!(
        seen.largest < 12_000 && !compactions(&log).is_empty(),
        "{}",
        seen.largest
    );
}

#[tokio::test]
async fn a_replaced_result_is_read_by_its_handle() {
    let model = SmallContext::open(12, 8_000);
    let (mut session, log) = (session(1500), EventLog::default());
    driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let first = &compactions(&log)[0];
    assert_eq!(first.replaced[0], "c1-a");
    let requests = model.log.lock().unwrap().requests.clone();
    let shown = results(
        requests
            .iter()
            .find(|request| is_replaced(request))
            .unwrap(),
    );
    let notice = shown[0].1.to_text();
    let read = read_back(&mut session, &[handle(&notice).unwrap()])
        .await
        .swap_remove(0);
    assert!(read.starts_with(&text(&json!({"number": 1, "file": "a"}), 1500)));
}

#[tokio::test]
async fn images_and_resources_of_a_replaced_result_are_read_again_too() {
    let resource = ResourceContents::Text {
        uri: "a:b".to_owned(),
        mime_type: None,
        text: "line\n".repeat(200),
    };
    let image = Content::Image {
        data: "aGk=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let content = vec![
        Content::text("page 3"),
        image.clone(),
        Content::Resource {
            resource: resource.clone(),
        },
    ];
    let shot = ToolResult {
        content,
        ..ToolResult::default()
    };
    let blank = ToolResult {
        content: vec![image.clone()],
        ..ToolResult::default()
    };
    let mut catalog = catalog(10);
    for (name, result) in [("shot", shot.clone()), ("blank", blank.clone())] {
        let handler = move |_: ToolContext, _: Value| {
            let result = result.clone();
            async move { result }
        };
        catalog.register(tool(name), handler).unwrap();
    }
    let mut session = Session::new(catalog.list(), Selection::new(), context());
    let calls = ["shot", "blank", "blank", "blank", "blank"].map(|name| calling(&[name]));
    let (log, options) = (
        EventLog::default(),
        RunOptions {
            context_tokens: Some(8000),
            ..RunOptions::default()
        },
    );
    let driver = scripted(calls.into_iter().chain([Turn::answer("done")])).with_options(options);
    driver
        .with_events(log.clone())
        .run(&mut session, "Look.")
        .await
        .unwrap();
    let [Compacted { replaced, .. }] = &compactions(&log)[..] else {
        panic!("{:?}", compactions(&log))
    };
    assert_eq!(replaced[..2], ["a", "a_2"]);

    read_back(&mut session, &replaced[..2]).await;
    let read = results(session.messages());
    let [(_, first), (_, second)] = &read[read.len() - 2..] else {
        panic!("{read:?}")
    };
    assert_eq!(
        (&first.content[1..], &second.content[1..]),
        (&[image.clone()][..], &[image][..])
    );
    let whole = first.to_text();
    assert!(
        whole.starts_with("page 3\n") && whole.contains(&"line\\n".repeat(200)),
        "{whole}"
    );
}

#[tokio::test]
async fn more_results_than_a_store_holds_are_readable_after_one_compaction_and_truncated_outputs_stay()
 {
    let model = SmallContext::open(150, 90_000);
    let (mut session, log) = (session(1500), EventLog::default());
    let store = session.context().service::<OutputStore>().unwrap();
    let truncated = store.keep(None, "the whole output".to_owned()).unwrap();
    driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let compactions = compactions(&log);
    assert!(
        compactions[0].replaced.len() > OutputStore::MAX_OUTPUTS,
        "{}",
        compactions[0].replaced.len()
    );
    check_readable(&mut session, &compactions, 1500).await;
    assert!(store.read(None, &truncated).is_some());
}

fn is_replaced(request: &[Message]) -> bool {
    results(request)
        .first()
        .is_some_and(|(id, result)| id == "c1-a" && result.to_text().contains("handle"))
}

#[tokio::test]
async fn later_runs_of_the_session_continue_with_the_summary_and_the_plan() {
    let model = SmallContext::open(60, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    let items = json!([{"text": "read on"}]);
    session
        .execute("todo.write", json!({"items": items}))
        .await
        .unwrap();
    driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let summaries = model.log.lock().unwrap().summaries;
    let more = SmallContext {
        turns: 62,
        ..model.clone()
    };
    driver(&more, &log)
        .run(&mut session, "Go on.")
        .await
        .unwrap();
    let seen = model.log.lock().unwrap();
    let last = seen.requests.last().unwrap();
    assert_eq!(results(session.messages()).len(), 124);
    assert!(last.len() < session.messages().len() / 2);
    let summary = last[1].to_text();
    assert!(
        summary.contains(&format!("Summary {summaries}")) && summary.contains("[open] read on"),
        "{summary}"
    );
    assert_eq!(
        session.context().service::<Plan>().unwrap().items().len(),
        1
    );
}

#[tokio::test]
async fn a_later_prompt_stays_word_for_word_when_the_turns_after_it_are_summarised() {
    let model = SmallContext::open(2, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let more = SmallContext {
        turns: 60,
        ..model.clone()
    };
    driver(&more, &log)
        .run(&mut session, "Now read the others.")
        .await
        .unwrap();
    let seen = model.log.lock().unwrap();
    assert!(seen.summaries > 1);
    let last = seen.requests.last().unwrap();
    assert_eq!(last[0].to_text(), "Read the files.");
    assert!(
        last[1].to_text().contains("Now read the others."),
        "{}",
        last[1].to_text()
    );
}

#[tokio::test]
async fn a_new_result_that_exceeds_the_context_alone_is_replaced_too() {
    let model = SmallContext::new(3, 8_000);
    let (mut session, log) = (session(20_000), EventLog::default());
    let summary = driver(&model, &log)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    assert_eq!(answer(&summary.outcome), "read 3");
    assert_eq!(
        model.log.lock().unwrap().summaries,
        0,
        "there was nothing older"
    );
    assert!(compactions(&log)[0].replaced.contains(&"c1-a".to_owned()));
}

#[tokio::test]
async fn a_request_that_cannot_be_shortened_fails_with_the_error_of_the_service() {
    let model = SmallContext::new(3, 100);
    let (mut session, log) = (session(900), EventLog::default());
    let error = driver(&model, &log)
        .run(&mut session, "long ".repeat(1000))
        .await
        .unwrap_err();
    let DriverError::Provider(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.to_string(), too_long().to_string());
    assert_eq!(
        (model.log.lock().unwrap().refused, compactions(&log).len()),
        (1, 0)
    );
}

#[tokio::test]
async fn a_chat_goes_on_however_small_the_context_is_that_no_refusal_names() {
    for most in (400..2_400).step_by(50) {
        let driver = playing(move |request| {
            let turn = if tokens(request.messages) > most {
                Err(too_long())
            } else {
                Ok(Turn::answer(format!("answer {}", "lorem ".repeat(60))))
            };
            Box::pin(async move { turn })
        });
        let mut session = session(900);
        for number in 0..12 {
            let prompt = format!("prompt {number} {}", "word ".repeat(30));
            let summary = driver.run(&mut session, prompt).await;
            assert!(
                summary.is_ok(),
                "{most} tokens, prompt {number}: {summary:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_call_whose_result_was_left_out_may_be_repeated() {
    let read = |number: usize| {
        Turn::calls([ToolCall::new(
            format!("c{number}"),
            "read",
            json!({"number": 1}),
        )])
    };
    let play = playing(move |request| {
        let last = request
            .messages
            .iter()
            .rev()
            .flat_map(Message::calls)
            .next();
        let next = last.map_or(0, |call| call.id[1..].parse::<usize>().unwrap() + 1);
        let turn = if next < 12 {
            read(next)
        } else {
            Turn::answer("done")
        };
        let turn = if request.is_summary {
            Turn::answer("Summary.")
        } else {
            turn
        };
        Box::pin(async move { Ok(turn) })
    });
    let log = EventLog::default();
    let driver = play
        .with_options(RunOptions {
            context_tokens: Some(2500),
            ..RunOptions::default()
        })
        .with_events(log.clone());
    let summary = driver.run(&mut session(3000), "Read it.").await.unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    assert!(compactions(&log).len() > 2);
}

#[tokio::test]
async fn a_host_compacts_an_answered_conversation_and_goes_on_with_another_provider() {
    let model = SmallContext::open(30, 1_000_000);
    let (mut session, log) = (session(900), EventLog::default());
    let driver = driver(&model, &log);
    driver.run(&mut session, "Read the files.").await.unwrap();
    assert!(compactions(&log).is_empty(), "there is room for all of it");
    let before = session.messages().to_vec();

    let summary = driver.compact(&mut session).await.unwrap();
    assert_eq!((answer(&summary.outcome), summary.steps), ("read 30", 0));
    assert_eq!(session.messages(), before, "the conversation stays");
    let [compacted] = &compactions(&log)[..] else {
        panic!("{:?}", compactions(&log))
    };
    assert_eq!(compacted.cause, CompactionCause::Requested);
    assert!(
        compacted.after.bytes <= compacted.before.bytes / 2,
        "{compacted:?}"
    );

    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = seen.clone();
    let next = playing(move |request| {
        log.lock().unwrap().push(request.messages.to_vec());
        Box::pin(std::future::ready(Ok(Turn::answer("more"))))
    });
    let driver = driver.with_provider(next.provider().clone());
    let summary = driver.run(&mut session, "And now?").await.unwrap();
    assert_eq!(answer(&summary.outcome), "more");
    let requests = seen.lock().unwrap();
    assert!(
        requests[0].len() < before.len() / 2 + 2 || compacted.summarised.is_none(),
        "{} of {}",
        requests[0].len(),
        before.len()
    );
    assert_eq!(requests[0][0], Message::text(Role::User, "Read the files."));
}
