//! Questions of servers to the person and to the host's model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, model};
use serde_json::{Value, json};
use tools::context::{AnswerFuture, NobodyThere};
use tools::question::AnswerKind;
use tools::{Answer, Person, Question, ToolContext};
use tools_mcp::client::{Sample, SampleRequest, Sampling};

use crate::scripted::{BOTH, LEGACY, MODERN, Scripted, cx, imported, tool};

/// A person with prepared answers, who remembers the questions.
#[derive(Default)]
struct Prepared {
    answers: Mutex<VecDeque<Answer>>,
    questions: Mutex<Vec<Question>>,
}

impl Prepared {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            questions: Mutex::default(),
        })
    }
}

impl Person for Prepared {
    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a> {
        assert_eq!(cx.tool().unwrap(), &"mcp:s/t");
        self.questions.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async { answer.ok_or(NobodyThere) })
    }
}

/// A server whose tool asks a question in the way of its revision, and returns the answer.
pub(crate) fn asking(revision: model::ProtocolVersion, question: Value) -> Scripted {
    let is_legacy = revision == LEGACY;
    Scripted::new(revision, vec![tool("t")]).with_call(move |params, context| {
        let question = question.clone();
        async move {
            if is_legacy {
                ask_in_call(question, context).await
            } else {
                Ok(ask_in_rounds(question, params))
            }
        }
    })
}

async fn ask_in_call(
    question: Value,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let request: ServerRequest = serde_json::from_value(question).unwrap();
    let answer = context.peer.send_request(request).await;
    let text = match answer {
        Ok(answer) => serde_json::to_string(&answer).unwrap(),
        Err(error) => error.to_string(),
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn ask_in_rounds(question: Value, params: CallToolRequestParams) -> CallToolResponse {
    match params.input_responses {
        Some(responses) => {
            assert_eq!(params.request_state.as_deref(), Some("st.ate \"1\""));
            CallToolResult::success(vec![ContentBlock::text(responses["q"].to_string())]).into()
        }
        None => {
            let requests =
                InputRequests::from([("q".to_owned(), serde_json::from_value(question).unwrap())]);
            InputRequiredResult::new(Some(requests), Some("st.ate \"1\"".to_owned())).into()
        }
    }
}

fn elicitation(params: Value) -> Value {
    json!({"method": "elicitation/create", "params": params})
}

pub(crate) fn form(properties: Value, required: Value) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    elicitation(json!({"mode": "form", "message": "Who\u{202e}?", "requestedSchema": schema}))
}

/// Calls the tool and returns its text as JSON.
async fn answer(scripted: &Scripted, cx: &ToolContext) -> Value {
    let (catalog, _servers, _) = imported({
        let mut import = scripted.import("s");
        import.has_sampling = true;
        import
    })
    .await;
    let text = catalog
        .execute(cx, "mcp:s/t", json!({}))
        .await
        .unwrap()
        .to_text();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[tokio::test]
async fn each_field_of_a_form_is_a_question_to_the_person_of_the_call() {
    let properties = json!({
        "a_name": {"type": "string", "title": "Name", "description": "Of the user.", "minLength": 2},
        "b_age": {"type": "integer", "minimum": 0},
        "c_color": {"type": "string", "enum": ["red", "green"]},
        "d_size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "e_news": {"type": "boolean"},
        "f_tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}},
        "g_city": {"type": "string", "default": "Bern"},
        "h_note": {"type": "string"},
    });
    let required = json!(["a_name", "b_age", "c_color", "d_size", "e_news"]);
    for revision in BOTH {
        let text = |text: &str| Answer::Text(text.to_owned());
        let person = Prepared::new([
            text("A"),
            text("Ada"),
            text("many"),
            text("36"),
            Answer::Choice("green".to_owned()),
            Answer::Choice("Large".to_owned()),
            Answer::Confirmation(true),
            text("x, z"),
            text(""),
            text(" "),
        ]);
        let scripted = asking(revision, form(properties.clone(), required.clone()));
        assert_eq!(
            answer(&scripted, &cx().with_person(person.clone())).await,
            json!({"action": "accept", "content": {
                "a_name": "Ada", "b_age": 36, "c_color": "green", "d_size": "l", "e_news": true,
                "f_tags": ["x", "z"], "g_city": "Bern",
            }})
        );
        let questions = person.questions.lock().unwrap();
        assert_eq!(
            questions[0].text(),
            "The MCP server s asks: Who<U+202E>?\n\nName: Of the user."
        );
        assert!(
            questions[1].text().contains("That does not fit:"),
            "{}",
            questions[1].text()
        );
        let options = ["red", "green"].map(str::to_owned).to_vec();
        assert_eq!(questions[4].kind(), &AnswerKind::Choice { options });
        let optional: Vec<_> = questions
            .iter()
            .map(|question| question.may_be_empty)
            .collect();
        assert_eq!(optional, [[false; 7].as_slice(), &[true; 3]].concat());
    }
}

#[tokio::test]
async fn a_question_without_a_person_or_with_a_refusal_is_declined() {
    for revision in BOTH {
        let scripted = asking(revision, form(json!({"a": {"type": "string"}}), json!([])));
        for cx in [cx(), cx().with_person(Prepared::new([Answer::Declined]))] {
            assert_eq!(answer(&scripted, &cx).await, json!({"action": "decline"}));
        }
    }
}

#[tokio::test]
async fn a_field_that_is_never_answered_well_cancels_the_form() {
    let person = Prepared::new(std::iter::repeat_n(Answer::Text("x".to_owned()), 9));
    let scripted = asking(
        MODERN,
        form(json!({"a": {"type": "integer"}}), json!(["a"])),
    );
    assert_eq!(
        answer(&scripted, &cx().with_person(person.clone())).await,
        json!({"action": "cancel"})
    );
    assert_eq!(person.questions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_url_is_shown_as_text_and_only_if_it_is_one() {
    for revision in BOTH {
        for (url, expected) in [
            ("https://example.org/login?x=1", "accept"),
            ("javascript:alert(1)", "decline"),
            ("https://example.org/\u{202e}gro", "decline"),
            ("https://github.com@evil.example/login", "decline"),
            ("https://evil.example\\@github.com/login", "decline"),
        ] {
            let question = elicitation(
                json!({"mode": "url", "message": "Log in.", "url": url, "elicitationId": "1"}),
            );
            let person = Prepared::new([Answer::Confirmation(true)]);
            let answer = answer(
                &asking(revision.clone(), question),
                &cx().with_person(person.clone()),
            )
            .await;
            assert_eq!(answer["action"], expected, "{url}");
            let questions = person.questions.lock().unwrap();
            assert!(
                questions
                    .iter()
                    .all(|question| question.text().contains(url))
            );
            assert!(
                questions
                    .iter()
                    .all(|question| question.text().contains("\nHost: example.org\n"))
            );
            assert_eq!(questions.len(), usize::from(expected == "accept"));
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_ever_is_stopped() {
    let scripted = Scripted::new(MODERN, vec![tool("t")]).with_call(|_, _| async {
        Ok(ask_in_rounds(
            form(json!({}), json!([])),
            CallToolRequestParams::new("t"),
        ))
    });
    let (catalog, _servers, _) = imported(scripted.import("s")).await;
    let person = Prepared::new(std::iter::repeat_n(Answer::Confirmation(true), 100));
    let error = catalog
        .execute(&cx().with_person(person.clone()), "mcp:s/t", json!({}))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("asked for input more than 10 times"),
        "{error}"
    );
    assert_eq!(person.questions.lock().unwrap().len(), 11);
}

#[tokio::test]
async fn roots_are_none() {
    for revision in BOTH {
        let scripted = asking(revision, json!({"method": "roots/list"}));
        assert_eq!(answer(&scripted, &cx()).await, json!({"roots": []}));
    }
}

async fn echo(request: SampleRequest, cx: ToolContext) -> Result<Sample, String> {
    assert_eq!(
        (cx.tool().unwrap().as_str(), request.server.as_str()),
        ("mcp:s/t", "s")
    );
    let content = request.messages[0].content[0].clone();
    Ok(Sample {
        model: "echo".to_owned(),
        content,
        stop_reason: Some("endTurn".to_owned()),
    })
}

fn sampling() -> Value {
    let content = json!({"type": "text", "text": "hello"});
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": content}], "maxTokens": 9,
    }})
}

#[tokio::test]
async fn sampling_uses_the_sampler_of_the_call_and_is_refused_without_one() {
    for revision in BOTH {
        let scripted = asking(revision.clone(), sampling());
        assert_eq!(
            answer(&scripted, &cx().with_service(Sampling::new(echo))).await,
            json!({"model": "echo", "stopReason": "endTurn", "role": "assistant", "content": {"type": "text", "text": "hello"}})
        );
        for (has_sampling, cx) in [
            (true, cx()),
            (false, cx().with_service(Sampling::new(echo))),
        ] {
            let (catalog, _servers, _) = imported({
                let mut import = scripted.import("s");
                import.has_sampling = has_sampling;
                import
            })
            .await;
            let refused = match catalog.execute(&cx, "mcp:s/t", json!({})).await {
                Ok(result) => result.to_text(),
                Err(error) => error.to_string(),
            };
            assert!(
                refused.contains("this session gives the server no access to its model"),
                "{refused}"
            );
        }
    }
}

#[tokio::test]
async fn a_question_that_may_belong_to_another_session_is_declined() {
    let (asked, calls) = (
        Arc::new(tokio::sync::Barrier::new(2)),
        Arc::new(tokio::sync::Barrier::new(2)),
    );
    let scripted =
        Scripted::new(LEGACY, vec![tool("t"), tool("u")]).with_call(move |params, context| {
            let (asked, calls) = (asked.clone(), calls.clone());
            async move {
                calls.wait().await;
                let answer = if params.name == "t" {
                    let answer = ask_in_call(form(json!({}), json!([])), context).await;
                    asked.wait().await;
                    return answer;
                } else {
                    asked.wait().await;
                    CallToolResult::success(Vec::new()).into()
                };
                Ok(answer)
            }
        });
    for (sessions, expected) in [(["one", "two"], "decline"), (["one", "one"], "accept")] {
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        struct Yes;
        impl Person for Yes {
            fn answer<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
                Box::pin(async { Ok(Answer::Confirmation(true)) })
            }
        }
        let calls = ["mcp:s/t", "mcp:s/u"]
            .into_iter()
            .zip(sessions)
            .map(|(name, session)| {
                let cx = cx().with_person(Arc::new(Yes)).with_session(session);
                tokio::spawn(catalog.execute(&cx, name, json!({})))
            });
        let calls: Vec<_> = calls.collect();
        let mut texts = Vec::new();
        for call in calls {
            texts.push(call.await.unwrap().unwrap().to_text());
        }
        assert_eq!(
            serde_json::from_str::<Value>(&texts[0]).unwrap()["action"],
            expected
        );
    }
}

#[test]
fn the_questions_of_these_tests_are_those_of_the_protocol() {
    let request: InputRequest = serde_json::from_value(form(json!({}), json!([]))).unwrap();
    let InputRequest::Elicitation(ElicitRequest { params, .. }) = request else {
        panic!("{request:?}")
    };
    assert!(matches!(
        params,
        ElicitRequestParams::FormElicitationParams { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_person_and_of_the_model_does_not_count_against_the_call() {
    struct Slow;
    impl Person for Slow {
        fn answer<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(Answer::Confirmation(true))
            })
        }
    }
    let slow = |_: SampleRequest, _: ToolContext| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Sample {
            model: "slow".to_owned(),
            content: tools::Content::text("at last"),
            stop_reason: None,
        })
    };
    for revision in BOTH {
        let scripted = asking(revision.clone(), form(json!({}), json!([])));
        let cx = cx()
            .with_person(Arc::new(Slow))
            .with_service(Sampling::new(slow));
        let cx = cx.with_timeout(Duration::from_secs(2));
        assert_eq!(answer(&scripted, &cx).await["action"], "accept");
        let scripted = asking(revision, sampling());
        assert_eq!(answer(&scripted, &cx).await["content"]["text"], "at last");
        let cx = cx.with_approval_timeout(Duration::from_secs(30));
        let (catalog, _servers, _) = imported({
            let mut import = scripted.import("s");
            import.has_sampling = true;
            import
        })
        .await;
        let late = match catalog.execute(&cx, "mcp:s/t", json!({})).await {
            Ok(result) => result.to_text(),
            Err(error) => error.to_string(),
        };
        assert!(late.contains("30s"), "{late}");
    }
}
