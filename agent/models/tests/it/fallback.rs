//! Models that take over from others in a run.

use std::sync::{Arc, Mutex};

use agent::{
    BudgetLimits, Cost, Driver, DriverError, Event, FailureKind, Outcome, Price, Prompt, Provider,
    ProviderError, ProviderOptions, RepeatLimits, RunOptions, Selection, Session, StopReason,
    SubAgents,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness};
use tools::protocol::{Message, Part};
use tools::{CancellationToken, Content, Grant, Host};
use tools_journal::{JournalOptions, SqliteJournal};

use crate::judge::Judge;
use crate::prefix::conversation;
use crate::service::wire::{ALL, Block, SIGNATURE, options, remote, reply, stream};
use crate::service::{Reply, Service, json as whole, sent};
use crate::workshop::{answer, catalog, session};

/// A thought that goes back only to the model that made it.
const THOUGHT: &str = "only-I-know-this";

type Events = Arc<Mutex<Vec<Event>>>;

fn error(status: u16, code: &str) -> Reply {
    whole(
        status,
        json!({"type": "error", "error": {"type": code, "code": code, "message": "no"}}),
    )
    .with_header("x-should-retry: false")
}

fn overloaded() -> Reply {
    error(529, "overloaded_error")
}

fn ok(format: Format) -> Reply {
    reply(format, false, &[Block::Text("ok")])
}

fn call(format: Format, id: &'static str) -> Reply {
    reply(
        format,
        false,
        &[Block::Call(id, "fs__read", json!({"path": "a"}))],
    )
}

/// A model of this service that is another one than the first. That of Gemini takes no call without a signature.
fn other(format: Format, service: &Service) -> Remote {
    let model = if format == Format::Gemini {
        "gemini-3-pro-preview"
    } else {
        "the-other"
    };
    remote(
        format,
        &ProviderOptions {
            model: Some(model.into()),
            ..options(format, service, false)
        },
    )
}

/// Returns a driver of the first model with the others as fallbacks, and its events.
fn driver<const N: usize>(first: Remote, others: [Remote; N]) -> (Driver, Events) {
    let events = Events::default();
    let sink = events.clone();
    let others = others.map(|model| Arc::new(model) as Arc<dyn Provider>);
    let driver = Driver::new(Arc::new(first))
        .with_fallbacks(others.into())
        .with_events(move |event: Event| sink.lock().unwrap().push(event));
    (driver, events)
}

/// Returns the changes of the model as JSON.
fn changes(events: &Events) -> Vec<Value> {
    let events = events.lock().unwrap();
    let changes = events.iter().filter_map(|event| match event {
        Event::ModelChanged(change) => Some(serde_json::to_value(change).unwrap()),
        _ => None,
    });
    changes.collect()
}

/// A first service of chat completions and a second one of Anthropic's messages, with these replies.
struct Pair {
    first: Service,
    second: Service,
    driver: Driver,
    events: Events,
    session: Session,
}

impl Pair {
    async fn new<const N: usize, const M: usize>(
        streaming: bool,
        first: [Reply; N],
        second: [Reply; M],
    ) -> Self {
        let first = Service::new(first).await;
        let second = Service::new(second).await;
        let (driver, events) = driver(
            remote(
                Format::OpenAiChat,
                &options(Format::OpenAiChat, &first, streaming),
            ),
            [other(Format::Anthropic, &second)],
        );
        Self {
            first,
            second,
            driver,
            events,
            session: session(&["fs.read"]),
        }
    }

    async fn run(&mut self) -> Result<agent::Summary, DriverError> {
        self.driver.run(&mut self.session, "go").await
    }

    fn requests(&self) -> (usize, usize) {
        (self.first.requests(), self.second.requests())
    }
}

/// A prompt with an image.
fn picture() -> Prompt {
    Prompt::from("What is this?").with_content([Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/png".to_owned(),
    }])
}

/// A model of this service that sees no images.
fn blind(service: &Service) -> Remote {
    let format = Format::OpenAiResponses;
    remote(
        format,
        &ProviderOptions {
            model: Some("gpt-3.5-turbo".into()),
            ..options(format, service, false)
        },
    )
}

fn first(service: &Service) -> Remote {
    remote(
        Format::OpenAiChat,
        &options(Format::OpenAiChat, service, false),
    )
}

#[tokio::test]
async fn a_model_that_sees_no_images_is_left_out_if_the_prompt_has_one() {
    let services = [vec![overloaded()], vec![], vec![ok(Format::Anthropic)]].map(Service::new);
    let [one, two, three] = services;
    let (one, two, three) = (one.await, two.await, three.await);
    let others = [blind(&two), other(Format::Anthropic, &three)];
    let (driver, events) = driver(first(&one), others);
    let summary = driver.run(&mut session(&[]), picture()).await.unwrap();
    assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
    assert_eq!(two.requests(), 0);
    let changes = changes(&events);
    assert_eq!(
        (changes.len(), &changes[0]["to"]),
        (1, &json!("anthropic/the-other"))
    );
}

#[tokio::test]
async fn a_run_ends_with_a_clear_error_if_only_models_without_images_are_left() {
    let one = Service::new([overloaded()]).await;
    let two = Service::new([]).await;
    let (driver, events) = driver(first(&one), [blind(&two)]);
    let mut session = session(&[]);
    let error = driver.run(&mut session, picture()).await.unwrap_err();
    let DriverError::Provider(ProviderError::Image { model, .. }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!((&**model, two.requests()), ("gpt-3.5-turbo", 0));
    // It says why the first one does not answer.
    assert_eq!(changes(&events)[0]["kind"], "overloaded");
    assert!(session.messages().is_empty());
}

#[tokio::test]
async fn a_model_that_sees_no_images_takes_over_if_only_an_earlier_prompt_had_one() {
    let one = Service::new([ok(Format::OpenAiChat), overloaded()]).await;
    let two = Service::new([ok(Format::OpenAiResponses)]).await;
    let (driver, _) = driver(first(&one), [blind(&two)]);
    let mut session = session(&[]);
    driver.run(&mut session, picture()).await.unwrap();
    driver.run(&mut session, "And now?").await.unwrap();
    let body = two.body(0).to_string();
    let sentence = "[an image from the user, which you cannot see because this model takes none: image/png, 8 bytes]";
    assert!(body.contains(sentence) && !body.contains("iVBOR"), "{body}");
}

#[tokio::test]
async fn the_next_model_answers_after_an_overload_a_limit_a_quota_or_an_unknown_model() {
    for (first, kind) in [
        (overloaded(), FailureKind::Overloaded),
        (error(429, "rate_limit_error"), FailureKind::RateLimit),
        (error(429, "insufficient_quota"), FailureKind::Quota),
        (error(404, "model_not_found"), FailureKind::UnknownModel),
    ] {
        let mut pair = Pair::new(false, [first], [ok(Format::Anthropic)]).await;
        let summary = pair.run().await.unwrap();
        assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
        assert_eq!((pair.requests(), summary.steps), ((1, 1), 1), "{kind}");
        let change = changes(&pair.events).remove(0);
        assert_eq!(change["from"], "openai/gpt-5.1");
        assert_eq!(change["to"], "anthropic/the-other");
        assert_eq!(change["kind"], json!(kind));
        assert!(change["reason"].as_str().unwrap().contains("no"));
    }
}

#[tokio::test]
async fn the_retries_of_a_service_come_before_the_next_model() {
    let busy = || whole(503, "busy");
    let mut pair = Pair::new(false, [busy(), busy(), busy()], [ok(Format::Anthropic)]).await;
    pair.run().await.unwrap();
    assert_eq!(pair.requests(), (3, 1));
    let events = pair.events.lock().unwrap();
    let is_retry = |event: &Event| matches!(event, Event::RequestRetried(_));
    let (retries, rest) = events.split_at(2);
    assert!(retries.iter().all(is_retry) && !rest.iter().any(is_retry));
    assert!(matches!(rest[0], Event::ModelChanged(_)), "{rest:?}");
}

#[tokio::test]
async fn other_failures_and_refusals_stay_with_the_model() {
    for (first, kind) in [
        (error(400, "content_filter"), FailureKind::ContentPolicy),
        (error(401, "invalid_api_key"), FailureKind::Authentication),
        (error(400, "invalid_request_error"), FailureKind::BadRequest),
        (error(500, "server_error"), FailureKind::Internal),
    ] {
        let mut pair = Pair::new(false, [first], [ok(Format::Anthropic)]).await;
        let failure = pair.run().await.unwrap_err();
        assert_eq!((failure.kind(), pair.requests()), (Some(kind), (1, 0)));
    }
    let refusal = json!({"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": null, "refusal": "I will not."}});
    let refusal = whole(
        200,
        json!({"id": "x", "object": "chat.completion", "model": "m", "choices": [refusal]}),
    );
    let mut pair = Pair::new(false, [refusal], [ok(Format::Anthropic)]).await;
    let summary = pair.run().await.unwrap();
    assert_eq!(answer(&summary).1, &StopReason::Refusal);
    assert_eq!(pair.requests(), (1, 0));
}

#[tokio::test]
async fn text_before_the_failure_is_withdrawn_once() {
    let said = json!({"id": "x", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "Half an"}, "finish_reason": null}]});
    let failed = json!({"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "no"}});
    let cut = stream(Format::OpenAiChat, &[said, failed]);
    let mut pair = Pair::new(true, [cut], [ok(Format::Anthropic)]).await;
    let summary = pair.run().await.unwrap();
    assert_eq!(answer(&summary).0, "ok");
    assert_eq!(changes(&pair.events)[0]["withdraws_text"], true);
    let mut counted = String::new();
    for event in pair.events.lock().unwrap().iter() {
        match event {
            Event::Text { text } => counted += text,
            Event::ModelChanged(change) if change.withdraws_text => counted.clear(),
            Event::RequestRetried(retry) if retry.withdraws_text => counted.clear(),
            _ => {}
        }
    }
    assert_eq!(counted, "ok");
}

#[tokio::test]
async fn the_last_model_of_all_says_why_the_run_failed() {
    let mut pair = Pair::new(
        false,
        [overloaded()],
        [error(402, "no credit left for this")],
    )
    .await;
    let failure = pair.run().await.unwrap_err();
    assert_eq!(failure.kind(), Some(FailureKind::Quota));
    assert!(failure.to_string().contains("anthropic"), "{failure}");
    assert_eq!(pair.session.messages(), []);
    let done = pair.events.lock().unwrap().pop().unwrap();
    let Event::Done(summary) = done else {
        panic!("{done:?}")
    };
    assert!(matches!(
        summary.outcome,
        Outcome::Failed {
            failure: Some(FailureKind::Quota),
            ..
        }
    ));
}

#[tokio::test]
async fn the_limits_of_a_run_count_across_its_models() {
    let limits = |limits: BudgetLimits| RunOptions {
        limits,
        ..RunOptions::default()
    };
    let chat = Format::OpenAiChat;
    let steps = BudgetLimits {
        steps: Some(3),
        ..BudgetLimits::default()
    };
    let calls = BudgetLimits {
        calls: Some(1),
        ..BudgetLimits::default()
    };
    for (options, requests) in [(limits(steps), (2, 1)), (limits(calls), (2, 1))] {
        let first = [call(chat, "c1"), overloaded()];
        let second = ["c2", "c3"].map(|id| call(Format::Anthropic, id));
        let mut pair = Pair::new(false, first, second).await;
        pair.driver = pair.driver.with_options(options);
        let summary = pair.run().await.unwrap();
        assert!(
            matches!(summary.outcome, Outcome::Budget(_)),
            "{:?}",
            summary.outcome
        );
        assert_eq!(pair.requests(), requests);
    }
}

#[tokio::test]
async fn equal_calls_of_two_models_are_repeats() {
    let first = [call(Format::OpenAiChat, "c1"), overloaded()];
    let second = ["c2", "c3"].map(|id| call(Format::Anthropic, id));
    let mut pair = Pair::new(false, first, second).await;
    let repeats = RepeatLimits {
        end: Some(2),
        ..RepeatLimits::default()
    };
    pair.driver = pair.driver.with_options(RunOptions {
        repeats,
        ..RunOptions::default()
    });
    let summary = pair.run().await.unwrap();
    assert!(
        matches!(summary.outcome, Outcome::Loop(_)),
        "{:?}",
        summary.outcome
    );
    assert_eq!(pair.requests(), (2, 1));
}

#[tokio::test]
async fn each_model_costs_its_own_price() {
    let (chat, anthropic) = (Format::OpenAiChat, Format::Anthropic);
    let first = Service::new([call(chat, "c1"), overloaded()]).await;
    let second = Service::new([ok(anthropic)]).await;
    let price = |text: &str| {
        let cost: Cost = text.parse().unwrap();
        Price::new(cost, cost)
    };
    let priced = |format, service: &Service, text| {
        let options = options(format, service, false);
        let prices = [(options.model.clone().unwrap(), price(text))].into();
        remote(format, &ProviderOptions { prices, ..options })
    };
    let (driver, _) = driver(
        priced(chat, &first, "1"),
        [priced(anthropic, &second, "100")],
    );
    let summary = driver.run(&mut session(&["fs.read"]), "go").await.unwrap();
    // Each turn reads 70 tokens and writes 3.
    let expected: Cost = "0.007373".parse().unwrap();
    assert_eq!(summary.spent.cost, expected);
    assert_eq!(summary.spent.tokens, 146);
}

#[tokio::test]
async fn the_next_prompt_begins_with_the_first_model_and_the_checkpoint_says_who_wrote_what() {
    let journal = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(journal.path().join("journal"), JournalOptions::default());
    let host = Host::new()
        .with_journal(Arc::new(journal.unwrap()))
        .with_session("monday");
    let chat = Format::OpenAiChat;
    let first = [call(chat, "c1"), overloaded(), ok(chat)];
    let mut pair = Pair::new(false, first, [ok(Format::Anthropic)]).await;
    pair.session = Session::new(catalog(&["fs.read"]).0.list(), Selection::new(), host);
    pair.driver = pair.driver.with_checkpoints(true);
    pair.run().await.unwrap();
    pair.run().await.unwrap();
    assert_eq!(pair.requests(), (3, 1));
    let stored = pair.session.stored_run().await.unwrap().unwrap();
    let [openai, anthropic] = ["openai/gpt-5.1", "anthropic/the-other"];
    // The prompt, the call, its result, the answer, the second prompt and its answer.
    assert_eq!(
        stored.models().collect::<Vec<_>>(),
        [(1, openai), (3, anthropic), (5, openai)]
    );
    let events = pair.events.lock().unwrap();
    let is_change = |event: &&Event| matches!(event, Event::PrefixChanged(change) if change.model);
    assert_eq!(events.iter().filter(is_change).count(), 1);
}

#[tokio::test]
async fn a_sub_agent_begins_with_the_present_model_and_has_the_ones_after_it() {
    let (anthropic, gemini) = (Format::Anthropic, Format::Gemini);
    let first = Service::new([overloaded()]).await;
    let spawn = Block::Call("c1", "agent__spawn", json!({"name": "n", "task": "work"}));
    let spawn = reply(anthropic, false, &[spawn]);
    let second = Service::new([spawn, overloaded(), ok(anthropic)]).await;
    let third = Service::new([ok(gemini)]).await;
    let (driver, events) = driver(
        remote(
            Format::OpenAiChat,
            &options(Format::OpenAiChat, &first, false),
        ),
        [other(anthropic, &second), other(gemini, &third)],
    );
    let host = Host::new()
        .with_grant(Grant::all())
        .with_service(SubAgents::default());
    let mut session = Session::new(tools::list(), Selection::new(), host);
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary).0, "ok");
    assert_eq!([&first, &second, &third].map(Service::requests), [1, 3, 1]);
    assert_eq!(changes(&events)[0]["to"], "anthropic/the-other");
    let events = events.lock().unwrap();
    let inner = events.iter().find_map(|event| match event {
        Event::SubAgent { event, .. } => match &**event {
            Event::ModelChanged(change) => Some(change.to.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(inner.as_deref(), Some("gemini/gemini-3-pro-preview"));
}

#[tokio::test]
async fn a_run_that_is_cancelled_at_the_change_asks_no_further_model() {
    let mut pair = Pair::new(false, [overloaded()], [ok(Format::Anthropic)]).await;
    let token = CancellationToken::new();
    let cancelled = token.clone();
    pair.driver = pair
        .driver
        .with_cancellation(token)
        .with_events(move |event: Event| {
            if matches!(event, Event::ModelChanged(_)) {
                cancelled.cancel();
            }
        });
    let summary = pair.run().await.unwrap();
    assert_eq!(summary.outcome, Outcome::Cancelled);
    assert_eq!(pair.requests(), (1, 0));
}

/// Returns a call with a thought before it, which the format signs if it can.
fn thoughtful_call(format: Format) -> Reply {
    let Reply::Answer {
        status,
        headers,
        body,
        piece,
    } = call(format, "c1")
    else {
        unreachable!()
    };
    let mut body: Value = serde_json::from_str(&body).unwrap();
    let mut insert_first = |place: &str, item: Value| {
        let items = body.pointer_mut(place).unwrap().as_array_mut().unwrap();
        items.insert(0, item);
    };
    match format {
        Format::OpenAiChat => body["choices"][0]["message"]["reasoning_content"] = THOUGHT.into(),
        Format::OpenAiResponses => {
            let summary = json!([{"type": "summary_text", "text": THOUGHT}]);
            body["output"][0]["summary"] = summary;
        }
        Format::Anthropic => insert_first(
            "/content",
            json!({"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}),
        ),
        Format::Gemini => insert_first(
            "/candidates/0/content/parts",
            json!({"text": THOUGHT, "thought": true}),
        ),
        _ => body["message"]["thinking"] = THOUGHT.into(),
    }
    Reply::Answer {
        status,
        headers,
        body: body.to_string(),
        piece,
    }
}

#[tokio::test]
async fn each_format_takes_over_from_each_in_mid_session_without_foreign_thoughts() {
    for from in ALL {
        for to in ALL {
            let first = Service::new([thoughtful_call(from), overloaded()]).await;
            let second = Service::new([ok(to)]).await;
            let (driver, events) = driver(
                remote(from, &options(from, &first, false)),
                [other(to, &second)],
            );
            let mut session = session(&["fs.read"]);
            let summary = driver.run(&mut session, "go").await.unwrap();
            assert_eq!(answer(&summary), ("ok", &StopReason::Answer), "{from} {to}");
            assert_eq!(changes(&events).len(), 1);

            // The model that made the thought has it again, so that a missing one is left out on purpose.
            let own = first.text(1);
            assert!(
                own.contains(THOUGHT) || own.contains(SIGNATURE),
                "{from}: {own}"
            );
            let text = second.text(0);
            assert!(
                !text.contains(THOUGHT) && !text.contains(SIGNATURE),
                "{from} {to}: {text}"
            );
            assert_taken_over(from, to, &second.body(0));
            let mut parts = session.messages()[1].parts.iter();
            assert!(
                parts.any(|part| matches!(part, Part::Reasoning { .. })),
                "{from}: the session keeps the thought"
            );
        }
    }
}

/// Asserts that the request has the prompt, the call and its result, and definitions that the service takes.
fn assert_taken_over(from: Format, to: Format, body: &Value) {
    let calls = sent::calls(to, body);
    let results = sent::results(to, body);
    let place = format!("{from} {to}: {body:#}");
    assert_eq!(calls.len(), 1, "{place}");
    assert_eq!((&*calls[0].name, results.len()), ("fs__read", 1), "{place}");
    assert_eq!(calls[0].arguments, json!({"path": "a"}), "{place}");
    assert!(body[conversation(to)].to_string().contains("ran fs.read"));
    if to != Format::Ollama {
        assert_eq!(results[0].id, calls[0].id, "{place}");
    }
    for definition in sent::definitions(to, body) {
        let broken = Judge::new(to, Strictness::Relaxed).violations(&definition);
        assert_eq!(broken, [], "{place}");
    }
    let messages = sent::messages(to, body);
    let text = serde_json::to_string(&messages).unwrap();
    // The parts of the first format are in the request only if the second one has them as well.
    for (name, formats) in [
        ("extra_content", &[][..]),
        ("reasoning_content", &[]),
        ("encrypted_content", &[]),
        ("skip_thought_signature_validator", &[Format::Gemini]),
        ("caller", &[]),
        ("tool_calls", &[Format::OpenAiChat, Format::Ollama]),
        ("function_call_output", &[Format::OpenAiResponses]),
        ("functionResponse", &[Format::Gemini]),
        ("tool_use_id", &[Format::Anthropic]),
    ] {
        let quoted = format!("\"{name}\"");
        assert_eq!(
            text.contains(&quoted),
            formats.contains(&to),
            "{name} {place}"
        );
    }
}

#[tokio::test]
async fn a_model_takes_its_own_thoughts_back_after_another_one_has_answered() {
    let (chat, anthropic) = (Format::OpenAiChat, Format::Anthropic);
    let first = Service::new([thoughtful_call(anthropic), overloaded(), ok(anthropic)]).await;
    let second = Service::new([ok(chat)]).await;
    let (driver, _) = driver(
        remote(anthropic, &options(anthropic, &first, false)),
        [other(chat, &second)],
    );
    let mut session = session(&["fs.read"]);
    driver.run(&mut session, "go").await.unwrap();
    driver.run(&mut session, "on").await.unwrap();
    let body = first.body(2);
    assert_eq!(
        body["messages"][1]["content"][0],
        json!({"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE})
    );
    let texts: Vec<_> = session.messages().iter().map(Message::to_text).collect();
    assert_eq!(texts.iter().filter(|text| *text == "ok").count(), 2);
}
