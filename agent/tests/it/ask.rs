//! A session asks its user.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agent::{Event, Selection, Session, ToolSet, Turn};
use serde_json::{Value, json};
use tools::context::AnswerFuture;
use tools::question::AnswerKind;
use tools::{Answer, ErrorCode, Host, Person, Question, Services, ToolContext, ToolError};
use tools_testkit::{HouseRules, RecordingPerson, TestHost};

use crate::workshop::{EventLog, answer, calling, results, scripted, tool};

const TOOL: &str = "user.ask";

fn host() -> TestHost {
    TestHost::new(agent::tool::register)
}

async fn ask(host: &TestHost, arguments: Value) -> Value {
    host.value(TOOL, arguments).await
}

#[test]
fn the_tool_keeps_the_house_rules() {
    let faults = HouseRules::new().check(agent::tool::register);
    assert!(!faults.iter().any(|fault| fault.tool == TOOL), "{faults:?}");
}

#[tokio::test]
async fn the_user_answers_in_the_kind_of_the_question() {
    let options = ["red", "green"].map(str::to_owned).to_vec();
    let person = RecordingPerson::new([
        Answer::Text("an answer".to_owned()),
        Answer::Choice("green".to_owned()),
        Answer::Confirmation(false),
        Answer::Declined,
    ]);
    let host = host().with_person(person.clone());
    assert_eq!(
        ask(&host, json!({"question": "What?"})).await,
        json!({"status": "answered", "answer": "an answer"})
    );
    let choice = json!({"question": "Which?", "kind": "choice", "options": options});
    assert_eq!(
        ask(&host, choice).await,
        json!({"status": "answered", "answer": "green"})
    );
    let confirmation = json!({"question": "Really?", "kind": "confirmation"});
    assert_eq!(
        ask(&host, confirmation.clone()).await,
        json!({"status": "answered", "answer": false})
    );
    assert_eq!(
        ask(&host, confirmation).await,
        json!({"status": "declined"})
    );
    let asked: Vec<_> = person
        .questions()
        .iter()
        .map(|question| question.kind().clone())
        .collect();
    let confirmation = AnswerKind::Confirmation;
    assert_eq!(
        asked,
        [
            AnswerKind::Text,
            AnswerKind::Choice { options },
            confirmation.clone(),
            confirmation
        ]
    );
}

#[tokio::test]
async fn without_a_user_the_tool_is_offered_and_answers_that_nobody_is_there() {
    let set = ToolSet::new(host().catalog().list(), &Selection::new(), &Services::new());
    assert!(set.contains(TOOL));
    let nobody = json!({"status": "nobody_there"});
    assert_eq!(ask(&host(), json!({"question": "What?"})).await, nobody);
    let gone = host().with_person(RecordingPerson::new([]));
    assert_eq!(ask(&gone, json!({"question": "What?"})).await, nobody);
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_in_time_is_no_failure() {
    let host = host()
        .with_person(Silent)
        .with_context(|cx| cx.with_approval_timeout(Duration::from_secs(90)));
    assert_eq!(
        ask(&host, json!({"question": "What?"})).await,
        json!({"status": "unanswered"})
    );
}

#[tokio::test]
async fn an_unclear_question_is_refused() {
    let host = host().with_person(Silent);
    for (arguments, code) in [
        (json!({"question": ""}), ErrorCode::InvalidArguments),
        (
            json!({"question": "x".repeat(2001)}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"question": "Which?", "kind": "choice", "options": vec!["a"; 21]}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"question": "Which?", "kind": "choice"}),
            ErrorCode::ExecutionFailed,
        ),
        (
            json!({"question": "Which?", "kind": "choice", "options": ["a", "a"]}),
            ErrorCode::ExecutionFailed,
        ),
        (
            json!({"question": "Which?", "options": ["a", "b"]}),
            ErrorCode::ExecutionFailed,
        ),
    ] {
        assert_eq!(
            host.call(TOOL, arguments.clone()).await.unwrap_err().code(),
            code,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_session_may_ask_only_if_that_is_granted() {
    let person = RecordingPerson::new([Answer::Text("yes".to_owned())]);
    let host = host().with_person(person.clone());
    let narrow = host.clone().with_grant(&["fs:read:**"]);
    let error = narrow
        .call(TOOL, json!({"question": "What?"}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), person.questions().len()),
        (ErrorCode::PermissionDenied, 0)
    );
    assert_eq!(
        ask(
            &host.with_grant(&["user:read:**"]),
            json!({"question": "What?"})
        )
        .await["answer"],
        "yes"
    );
}

/// A user who reads the question and does not answer.
struct Silent;

impl Person for Silent {
    fn answer<'a>(&'a self, _question: &'a Question, _cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(std::future::pending())
    }
}

/// A user who answers at this time.
struct At(Instant);

impl Person for At {
    fn answer<'a>(&'a self, _question: &'a Question, _cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(async {
            tokio::time::sleep_until(self.0.into()).await;
            Ok(Answer::Confirmation(true))
        })
    }
}

/// The driver abandons a call that is polled a second after its deadline. Without the question that would be 3 s after the start,
/// when the tool holds its thread. The question moves it to 5.6 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn the_driver_does_not_abandon_a_call_that_waited_for_an_answer() {
    let begun = Instant::now();
    let after = move |millis| begun + Duration::from_millis(millis);
    let mut catalog = tools::Catalog::new();
    let asks = move |cx: ToolContext, _: Value| async move {
        cx.ask(Question::new("Go on?", AnswerKind::Confirmation)?)
            .await?;
        thread::sleep(after(3200).saturating_duration_since(Instant::now()));
        Ok::<_, ToolError>("done")
    };
    catalog.register(tool("asks"), asks).unwrap();
    let cx = Host::new()
        .with_timeout(Duration::from_secs(2))
        .with_person(Arc::new(At(after(2600))));
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let log = EventLog::default();
    let driver = scripted([calling(&["asks"]), Turn::answer("finished")]).with_events(log.clone());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary.outcome), "finished");
    assert_eq!(results(session.messages()).len(), 1);
    assert!(
        !log.events()
            .iter()
            .any(|event| matches!(event, Event::Abandoned { .. }))
    );
}
