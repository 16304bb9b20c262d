//! Questions of calls that a server goes on with as tasks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::InputRequest;
use rmcp::task_manager::TaskOptions;
use serde_json::json;
use tools::context::{AnswerFuture, NobodyThere};
use tools::{Answer, Host, Person, Question, ToolContext};

use crate::client_elicitation::form;
use crate::scripted::{cx, imported};
use crate::tasked::{Tasked, keeping, tasks, text, working};

/// A person with prepared answers, who counts the questions.
#[derive(Default)]
struct Prepared {
    answers: Mutex<VecDeque<&'static str>>,
    questions: AtomicUsize,
}

impl Person for Prepared {
    fn answer<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            // A person takes longer than any wait.
            tokio::time::sleep(Duration::from_secs(100)).await;
            answer
                .map(|text| Answer::Text(text.to_owned()))
                .ok_or(NobodyThere)
        })
    }
}

fn question() -> InputRequest {
    serde_json::from_value(form(json!({"name": {"type": "string"}}), json!(["name"]))).unwrap()
}

/// Work that asks after some seconds, and returns the answer after some more.
fn asking(after: u64, rest: u64) -> Tasked {
    let mut server = Tasked::new(move |context| async move {
        tokio::time::sleep(Duration::from_secs(after)).await;
        let answer = context.request_input("q", question()).await?;
        tokio::time::sleep(Duration::from_secs(rest)).await;
        Ok(text(&answer["content"]["name"].to_string()))
    });
    server.options = TaskOptions::new().with_poll_interval_ms(100);
    server
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_task_goes_to_the_person_of_the_call_that_waits() {
    let person = Arc::new(Prepared::default());
    person.answers.lock().unwrap().extend(["Ada", "Bob", "Cyd"]);
    let with = |cx: Host| cx.with_person(person.clone());
    // In the call itself, in which the time of the person does not count.
    let (catalog, _servers, _) = imported(asking(0, 1).import("s")).await;
    for (cx, answer) in [(cx(), "\"Ada\""), (keeping(), "\"Bob\"")] {
        let result = catalog
            .execute(&with(cx), "mcp:s/t", json!({}))
            .await
            .unwrap();
        assert_eq!((result.to_text().as_str(), result.task), (answer, None));
    }
    assert_eq!(person.questions.load(Ordering::SeqCst), 2);
    // In a later call, which asks however long it waits.
    let (catalog, _servers, _) = imported(asking(60, 4).import("s")).await;
    let cx = with(keeping());
    catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
    let task = tasks(&cx).find("t1").unwrap();
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(
        task.state().to_string(),
        "has a question; task.result asks it"
    );
    let untold: Vec<_> = tasks(&cx)
        .take_untold()
        .into_iter()
        .map(|info| info.handle)
        .collect();
    assert_eq!(
        (untold, person.questions.load(Ordering::SeqCst)),
        (vec!["t1".to_owned()], 2)
    );
    task.attend(&cx, Duration::ZERO).await;
    tasks(&cx).next_ended().await;
    assert_eq!(
        tasks(&cx).result(&cx, "t1").await.unwrap().to_text(),
        "\"Cyd\""
    );
    assert_eq!(person.questions.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_without_end_fails_and_is_cancelled() {
    let server = Tasked::new(|context| async move {
        for number in 0.. {
            context
                .request_input(number.to_string(), question())
                .await?;
        }
        Ok(text("never"))
    });
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let person = Arc::new(Prepared::default());
    let error = catalog
        .execute(&cx().with_person(person.clone()), "mcp:s/t", json!({}))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("asked for input more than 10 times in one task"),
        "{error}"
    );
    assert_eq!(person.questions.load(Ordering::SeqCst), 10);
    server.cancelled(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_answered_is_not_asked_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = Tasked::hostile(move |id| {
        let mut state = working(id, 1000);
        if count.fetch_add(1, Ordering::SeqCst) < 500 {
            state["status"] = "input_required".into();
            state["inputRequests"] = json!({"q": serde_json::to_value(question()).unwrap()});
        } else {
            state["status"] = "completed".into();
            state["result"] = json!({"content": [{"type": "text", "text": "done"}]});
        }
        Ok(state)
    });
    let (catalog, _servers, _) = imported(server.import("s")).await;
    let person = Arc::new(Prepared::default());
    person.answers.lock().unwrap().push_back("Ada");
    let cx = cx()
        .with_person(person.clone())
        .with_timeout(Duration::from_secs(1000));
    assert_eq!(
        catalog
            .execute(&cx, "mcp:s/t", json!({}))
            .await
            .unwrap()
            .to_text(),
        "done"
    );
    assert_eq!(person.questions.load(Ordering::SeqCst), 1);
}
