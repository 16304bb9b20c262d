//! Questions of tools to the person at the host.

use std::sync::Arc;
use std::time::Duration;

use crate::sample::{Log, holding, pure};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tools::call::{AskError, CallPlace, DeadlineObserver, PersonClock};
use tools::context::{AnswerFuture, NobodyThere};
use tools::question::{AnswerKind, InvalidQuestion};
use tools::{
    Answer, CancellationToken, Catalog, ErrorCode, Host, Person, Question, ToolContext, ToolError,
};

const LIMIT: Duration = Duration::from_secs(2);
const WAIT: Duration = Duration::from_secs(60);

/// A person who needs a minute for each answer.
struct Slow;

impl Person for Slow {
    fn answer<'a>(&'a self, question: &'a Question, _cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(async {
            sleep(WAIT).await;
            Ok(Answer::Text(format!("{} Later.", question.text())))
        })
    }
}

/// A person from a function.
struct Says<F>(F);

impl<F: Fn() -> Result<Answer, NobodyThere> + Send + Sync> Person for Says<F> {
    fn answer<'a>(&'a self, _question: &'a Question, _cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(async { (self.0)() })
    }
}

fn says(answer: impl Fn() -> Result<Answer, NobodyThere> + Send + Sync + 'static) -> Host {
    Host::new().with_person(Arc::new(Says(answer)))
}

fn when() -> Question {
    Question::new("When?", AnswerKind::Text).unwrap()
}

fn text(answer: Answer) -> Result<String, ToolError> {
    match answer {
        Answer::Text(text) => Ok(text),
        other => Err(ToolError::execution_failed(format!("{other:?} is no text"))),
    }
}

/// A tool that asks, and works before and after that for a second each.
fn asking() -> Catalog {
    holding(pure("asks"), async |cx: ToolContext, _: Value| {
        sleep(LIMIT / 2).await;
        let answer = cx.ask(when()).await?;
        sleep(LIMIT / 4).await;
        text(answer)
    })
}

#[tokio::test]
async fn the_answer_is_returned_to_the_tool() {
    let ask = async |kind: AnswerKind, answer: Answer| {
        let cx = says(move || Ok(answer.clone()));
        cx.ask(Question::new("Which?", kind).unwrap()).await
    };
    let choice = AnswerKind::Choice {
        options: vec!["a".to_owned(), "b".to_owned()],
    };
    for (kind, answer) in [
        (AnswerKind::Text, Answer::Text(String::new())),
        (choice.clone(), Answer::Choice("b".to_owned())),
        (AnswerKind::Confirmation, Answer::Confirmation(false)),
        (AnswerKind::Confirmation, Answer::Declined),
    ] {
        assert_eq!(ask(kind, answer.clone()).await, Ok(answer));
    }
    for (kind, answer) in [
        (choice, Answer::Choice("c".to_owned())),
        (AnswerKind::Text, Answer::Confirmation(true)),
        (AnswerKind::Confirmation, Answer::Text("yes".to_owned())),
    ] {
        assert!(matches!(
            ask(kind, answer).await,
            Err(AskError::Host { .. })
        ));
    }
}

#[tokio::test]
async fn the_person_clock_of_a_call_measures_the_wait_for_an_answer() {
    const PAUSE: Duration = Duration::from_millis(20);
    let cx = says(|| {
        std::thread::sleep(PAUSE);
        Ok(Answer::Text("now".to_owned()))
    });
    let asks = holding(pure("asks"), async |cx: ToolContext, _: Value| {
        text(cx.ask(when()).await?)
    });
    let clock = Arc::new(PersonClock::default());
    let cx = cx.with_place(CallPlace::default().with_person_clock(clock.clone()));
    asks.execute(&cx, "asks", json!({})).await.unwrap();
    let waited = clock.total();
    assert!(waited >= PAUSE, "{waited:?}");
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(clock.total(), waited, "the clock stopped at the answer");
}

#[tokio::test(start_paused = true)]
async fn without_a_person_nobody_is_there() {
    for cx in [Host::new(), says(|| Err(NobodyThere))] {
        assert_eq!(cx.ask(when()).await, Err(NobodyThere.into()));
        let error = asking().execute(&cx, "asks", json!({})).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unavailable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_who_panics_is_a_fault_of_the_host_and_not_of_the_tool() {
    let error = asking()
        .execute(&says(|| panic!("on purpose")), "asks", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionFailed);
    assert!(error.to_string().contains("on purpose"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_an_answer_does_not_count_against_the_deadline() {
    let cx = Host::new().with_timeout(LIMIT).with_person(Arc::new(Slow));
    let result = asking().execute(&cx, "asks", json!({})).await.unwrap();
    assert_eq!(result.to_text(), "When? Later.");
}

#[tokio::test(start_paused = true)]
async fn the_time_that_is_left_after_the_answer_is_the_time_that_was_left_before() {
    let begun = tokio::time::Instant::now();
    let catalog = holding(pure("asks"), async |cx: ToolContext, _: Value| {
        sleep(LIMIT / 2).await;
        cx.ask(when()).await?;
        sleep(LIMIT * 10).await;
        Ok::<_, ToolError>("late")
    });
    let cx = Host::new().with_timeout(LIMIT).with_person(Arc::new(Slow));
    let error = catalog.execute(&cx, "asks", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    let elapsed = begun.elapsed();
    assert!(
        elapsed >= WAIT + LIMIT && elapsed < WAIT + LIMIT * 2,
        "{elapsed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_another_task_starts_the_clock_again() {
    let begun = tokio::time::Instant::now();
    let catalog = holding(pure("asks"), async |cx: ToolContext, _: Value| {
        let asks = cx.clone();
        drop(tokio::spawn(async move { asks.ask(when()).await }));
        std::future::pending::<()>().await;
        Ok::<_, ToolError>("never")
    });
    let cx = Host::new().with_timeout(LIMIT).with_person(Arc::new(Slow));
    let error = catalog.execute(&cx, "asks", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    assert!(begun.elapsed() < WAIT + LIMIT * 2, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn questions_at_the_same_time_stop_the_clock_once() {
    let catalog = holding(pure("asks"), async |cx: ToolContext, _: Value| {
        let (one, other) = tokio::join!(cx.ask(when()), async {
            sleep(LIMIT / 2).await;
            cx.ask(when()).await
        });
        sleep(LIMIT * 3 / 4).await;
        Ok::<_, ToolError>(format!("{}{}", text(one?)?, text(other?)?))
    });
    let cx = Host::new().with_timeout(LIMIT).with_person(Arc::new(Slow));
    assert_eq!(
        catalog
            .execute(&cx, "asks", json!({}))
            .await
            .unwrap()
            .to_text(),
        "When? Later.When? Later."
    );
}

#[tokio::test(start_paused = true)]
async fn nested_calls_ask_the_same_person_and_stop_the_clocks_of_their_outer_calls() {
    let mut catalog = asking();
    let outer = async |cx: ToolContext, _: Value| {
        // A tool cannot answer for the person.
        assert!(cx.host().is_none());
        cx.execute("asks", json!({})).await
    };
    catalog.register(pure("outer"), outer).unwrap();
    let cx = Host::new().with_timeout(LIMIT).with_person(Arc::new(Slow));
    assert_eq!(
        catalog
            .execute(&cx, "outer", json!({}))
            .await
            .unwrap()
            .to_text(),
        "When? Later."
    );
}

#[tokio::test(start_paused = true)]
async fn a_retried_call_may_ask_too() {
    let catalog = holding(
        crate::sample::reader("asks"),
        async |cx: ToolContext, _: Value| {
            let answer = cx.ask(when()).await?;
            if cx.attempt() == 1 {
                return Err(ToolError::transient("try again"));
            }
            text(answer)
        },
    );
    let cx = crate::sample::unlimited()
        .with_timeout(LIMIT)
        .with_person(Arc::new(Slow));
    let result = catalog
        .execute(&cx, "asks", json!({"path": "a"}))
        .await
        .unwrap();
    assert_eq!(result.to_text(), "When? Later.");
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_at_its_time_limit_and_at_the_hosts_deadline() {
    let cx = Host::new()
        .with_person(Arc::new(Slow))
        .with_approval_timeout(LIMIT);
    assert_eq!(
        cx.ask(when()).await,
        Err(AskError::Unanswered { limit: LIMIT })
    );
    let error = asking().execute(&cx, "asks", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionFailed);

    let begun = tokio::time::Instant::now();
    let cx = Host::new()
        .with_person(Arc::new(Slow))
        .with_deadline((begun + LIMIT).into_std());
    let error = asking().execute(&cx, "asks", json!({})).await.unwrap_err();
    assert_eq!(
        (error.code(), begun.elapsed() < LIMIT * 2),
        (ErrorCode::Timeout, true)
    );
}

#[tokio::test(start_paused = true)]
async fn cancellation_of_the_call_ends_the_question() {
    let token = CancellationToken::new();
    let cx = Host::new()
        .with_person(Arc::new(Slow))
        .with_cancellation(token.clone());
    let call = asking().execute(&cx, "asks", json!({}));
    let cancelled = async {
        sleep(WAIT / 2).await;
        token.cancel();
    };
    let (outcome, ()) = timeout(WAIT, async { tokio::join!(call, cancelled) })
        .await
        .unwrap();
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(cx.ask(when()).await, Err(AskError::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn the_observer_of_the_call_sees_its_deadline_move() {
    struct Moves(Log);
    impl DeadlineObserver for Moves {
        fn on_start(&self, _: &ToolContext, limit: Duration) {
            self.0.note(format!("started {limit:?}"));
        }

        fn on_move(&self, cx: &ToolContext) {
            let left = cx
                .deadline()
                .unwrap()
                .saturating_duration_since(tokio::time::Instant::now().into_std());
            self.0.note(format!(
                "{} has {:.0} s",
                cx.tool().unwrap(),
                left.as_secs_f64()
            ));
        }
    }
    let log = Log::default();
    let mut catalog = asking();
    catalog
        .register(pure("outer"), async |cx: ToolContext, _: Value| {
            cx.execute("asks", json!({})).await
        })
        .unwrap();
    let cx = Host::new()
        .with_timeout(LIMIT)
        .with_person(Arc::new(Slow))
        .with_approval_timeout(WAIT * 2);
    let cx = cx.with_place(CallPlace::default().with_observer(Arc::new(Moves(log.clone()))));
    catalog.execute(&cx, "outer", json!({})).await.unwrap();
    assert_eq!(
        log.taken(),
        ["started 2s", "outer has 121 s", "outer has 1 s"]
    );
}

#[test]
fn an_unclear_question_is_refused_with_its_fault() {
    let options = |count: usize| {
        (0..count)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
    };
    let ask = |text: &str, options| Question::new(text, AnswerKind::Choice { options });
    assert_eq!(ask(" \n", options(2)), Err(InvalidQuestion::Empty));
    assert_eq!(
        ask(&"ü".repeat(2001), options(2)),
        Err(InvalidQuestion::TooLong { length: 2001 })
    );
    assert!(ask(&"ü".repeat(2000), options(20)).is_ok());
    for count in [0, 1, 21] {
        assert_eq!(
            ask("Which?", options(count)),
            Err(InvalidQuestion::OptionCount { count })
        );
    }
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(
        ask("Which?", texts(&["a", " "])),
        Err(InvalidQuestion::EmptyOption { number: 2 })
    );
    assert_eq!(
        ask("Which?", texts(&["b", "a", "a"])),
        Err(InvalidQuestion::RepeatedOption {
            first: 2,
            number: 3
        })
    );
    let long = "x".repeat(201);
    assert_eq!(
        ask("Which?", texts(&["a", &long])),
        Err(InvalidQuestion::LongOption {
            number: 2,
            length: 201
        })
    );
}
