//! Text from a model as the result of a call.

use std::sync::{Arc, Mutex};

use agent::{
    Budget, BudgetLimits, ModelChoice, Models, Price, Provider, ProviderError, ProviderInfo,
    Request, Scripted, Selection, Session, StopReason, ToolSet, Turn, TurnFuture, Usage,
};
use serde_json::{Value, json};
use tools::policy::{Rule, Verdict};
use tools::protocol::{Message, Part};
use tools::{ErrorCode, Grant, Host, Policy, Services, ToolError, ToolResult};
use tools_testkit::{RecordingApprover, TestHost};

const TOOL: &str = "llm.generate";

/// A model that plays turns and keeps its requests.
#[derive(Clone)]
struct Model {
    script: Arc<Scripted>,
    requests: Arc<Mutex<Vec<Vec<Message>>>>,
    about: Arc<ProviderInfo>,
}

impl Model {
    fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self {
            script: Arc::new(Scripted::new(turns)),
            requests: Arc::default(),
            about: Arc::new(ProviderInfo::new("acme")),
        }
    }

    /// Sets the price of its tokens.
    fn at(self, price: Price) -> Self {
        let about = Arc::new(ProviderInfo {
            price: Some(price),
            ..ProviderInfo::new("acme")
        });
        Self { about, ..self }
    }

    fn answering(texts: &[&str]) -> Self {
        Self::new(texts.iter().map(|text| Turn::answer(*text)))
    }

    fn texts(&self) -> Vec<Vec<String>> {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|messages| messages.iter().map(Message::to_text).collect())
            .collect()
    }
}

impl Provider for Model {
    fn about(&self) -> &ProviderInfo {
        &self.about
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        assert!(request.tools.is_empty());
        self.requests
            .lock()
            .unwrap()
            .push(request.messages.to_vec());
        self.script.complete(request)
    }
}

fn host(models: Models) -> TestHost {
    TestHost::new(agent::tool::register).with_service(models)
}

fn models(model: &Model) -> Models {
    Models::new(Arc::new(model.clone()))
}

/// Calls the tool of a session of this host.
async fn call(host: &TestHost, arguments: Value) -> Result<ToolResult, ToolError> {
    let session = Session::new(
        host.catalog().list(),
        Selection::new(),
        host.context().clone(),
    );
    session
        .tools()
        .execute(session.context(), TOOL, arguments)
        .await
}

async fn generate(model: &Model, arguments: Value) -> Result<ToolResult, ToolError> {
    call(&host(models(model)), arguments).await
}

fn numbers() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false})
}

#[tokio::test]
async fn the_model_sees_the_prompt_and_its_text_is_the_result() {
    let model = Model::answering(&["Bonjour."]);
    let result = generate(
        &model,
        json!({"prompt": "Translate: Hello.", "system": "To French."}),
    )
    .await
    .unwrap();
    assert_eq!(result.to_text(), "Bonjour.");
    assert_eq!(model.texts(), [["To French.", "Translate: Hello."]]);
}

#[tokio::test]
async fn a_session_without_models_has_no_such_tool() {
    let entries = || TestHost::new(agent::tool::register).catalog().list();
    assert!(!ToolSet::new(entries(), &Selection::new(), &Services::new()).contains(TOOL));
    let cx = Host::new().with_service(models(&Model::answering(&[])));
    assert!(
        Session::new(entries(), Selection::new(), cx)
            .tools()
            .contains(TOOL)
    );
}

#[tokio::test]
async fn json_that_matches_the_schema_is_the_structured_result() {
    for text in [r#"{"n": 7}"#, "```json\n{\"n\": 7}\n```", " {\"n\":7}\n"] {
        let model = Model::answering(&[text]);
        let result = generate(&model, json!({"prompt": "Count.", "schema": numbers()}))
            .await
            .unwrap();
        assert_eq!(
            result.structured.unwrap().into_value(),
            json!({"n": 7}),
            "{text}"
        );
        assert_eq!(model.texts().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_match_is_repaired_once() {
    for wrong in [
        r#"{"n": "seven"}"#,
        r#"{"n": 7, "n": 8}"#,
        r#"{"n": 7} {"n": 7}"#,
        "Here it is:\n```json\n{\"n\": 7}\n```",
        "Seven.",
    ] {
        let model = Model::answering(&[wrong, r#"{"n": 7}"#]);
        let result = generate(&model, json!({"prompt": "Count.", "schema": numbers()}))
            .await
            .unwrap();
        assert_eq!(result.structured.unwrap().into_value(), json!({"n": 7}));
        let repair = &model.texts()[1];
        assert!(
            repair[1] == wrong && repair[2].contains("does not match"),
            "{repair:?}"
        );

        let model = Model::answering(&[wrong, wrong, r#"{"n": 7}"#]);
        let error = generate(&model, json!({"prompt": "Count.", "schema": numbers()}))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), model.texts().len()),
            (ErrorCode::ExecutionFailed, 2)
        );
    }
    let model = Model::answering(&[r#"{"n": "seven"}"#, r#"{"n": 7}"#]);
    generate(&model, json!({"prompt": "Count.", "schema": numbers()}))
        .await
        .unwrap();
    assert!(model.texts()[1][2].contains("/n") && model.texts()[1][2].contains("integer"));
}

#[tokio::test]
async fn a_call_that_the_model_invents_does_not_go_back() {
    let mut turn = Turn::calls([tools::ToolCall::new("a", "x", json!({}))]);
    turn.message.parts.insert(0, Part::Content("Seven.".into()));
    let model = Model::new([turn, Turn::answer(r#"{"n": 7}"#)]);
    generate(&model, json!({"prompt": "Count.", "schema": numbers()}))
        .await
        .unwrap();
    let requests = model.requests.lock().unwrap();
    assert_eq!(requests[1][1].to_text(), "Seven.");
    assert!(
        requests[1]
            .iter()
            .all(|message| message.calls().next().is_none()),
        "{requests:?}"
    );
}

#[tokio::test]
async fn an_unusable_schema_costs_no_request() {
    let model = Model::answering(&["{}"]);
    for schema in [
        json!({"type": "objekt"}),
        json!({"$ref": "https://example.org/schema.json"}),
        json!({"$ref": "#/$defs/missing"}),
        json!({"type": "string", "pattern": "("}),
    ] {
        let error = generate(&model, json!({"prompt": "Count.", "schema": schema}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionFailed, "{schema}");
    }
    assert!(model.texts().is_empty());
}

#[tokio::test]
async fn a_paused_answer_is_continued_and_each_request_is_a_step() {
    let paused = |text: &str| Turn {
        stop: StopReason::Paused,
        ..Turn::answer(text)
    };
    let model = Model::new([paused("One"), paused("two"), Turn::answer("three")]);
    let budget = Budget::new(BudgetLimits {
        steps: Some(5),
        ..BudgetLimits::default()
    });
    let host = host(models(&model)).with_service(budget.clone());
    let result = call(&host, json!({"prompt": "Count."})).await.unwrap();
    assert_eq!(
        (result.to_text().as_str(), budget.spent().steps),
        ("One\ntwo\nthree", 3)
    );
    assert_eq!(model.texts()[2], ["Count.", "One", "two"]);

    let model = Model::new(vec![paused("Wait"); 10]);
    let host = self::host(models(&model)).with_service(Budget::new(BudgetLimits {
        steps: Some(4),
        ..BudgetLimits::default()
    }));
    let error = call(&host, json!({"prompt": "Count."})).await.unwrap_err();
    assert!(error.to_string().contains("budget"), "{error}");
    assert_eq!(model.texts().len(), 4);
}

#[tokio::test]
async fn half_an_answer_is_an_error() {
    for turn in [
        Turn {
            stop: StopReason::Length,
            ..Turn::answer("Once upon")
        },
        Turn {
            stop: StopReason::Refusal,
            ..Turn::answer("No.")
        },
        Turn::answer(" "),
        Turn::calls([tools::ToolCall::new("a", "x", json!({}))]),
    ] {
        for arguments in [
            json!({"prompt": "Go."}),
            json!({"prompt": "Go.", "schema": numbers()}),
        ] {
            let model = Model::new([turn.clone(), Turn::answer(r#"{"n": 7}"#)]);
            let error = generate(&model, arguments).await.unwrap_err();
            assert_eq!(
                (error.code(), model.texts().len()),
                (ErrorCode::ExecutionFailed, 1),
                "{error}"
            );
        }
    }
    let error = generate(&Model::answering(&[]), json!({"prompt": "Go."}))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no turn left"), "{error}");
}

#[tokio::test]
async fn another_model_is_opened_by_its_name() {
    let (own, other) = (
        Model::answering(&["own", "own"]),
        Model::answering(&["other"]),
    );
    let opened = Arc::new(Mutex::new(Vec::new()));
    let (asked, given) = (opened.clone(), other.clone());
    let open = move |choice: &ModelChoice| -> Result<Arc<dyn Provider>, ProviderError> {
        asked.lock().unwrap().push(choice.clone());
        Ok(Arc::new(given.clone()))
    };
    let named = ModelChoice::new("zeta", Some("small".to_owned()));
    let host = host(models(&own).with_name(named).with_others(open));
    let text = async |arguments: Value| call(&host, arguments).await.unwrap().to_text();
    assert_eq!(text(json!({"prompt": "?"})).await, "own");
    assert_eq!(
        text(json!({"prompt": "?", "model": "zeta/small"})).await,
        "own"
    );
    assert_eq!(
        text(json!({"prompt": "?", "model": "router/meta/large:free"})).await,
        "other"
    );
    assert_eq!(
        text(json!({"prompt": "?", "model": "zeta/default"})).await,
        "other"
    );
    let routed = ModelChoice::new("router", Some("meta/large:free".to_owned()));
    assert_eq!(
        *opened.lock().unwrap(),
        [routed, ModelChoice::new("zeta", None)]
    );

    let error = generate(&own, json!({"prompt": "?", "model": "zeta/large"}))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("zeta"), "{error}");
}

#[tokio::test]
async fn the_default_of_a_session_is_its_model_by_its_real_name() {
    let model = Model::answering(&[]);
    let tool_of = |models: Models| {
        let cx = Host::new().with_service(models);
        let mut session = Session::new(
            host(Models::new(Arc::new(model.clone()))).catalog().list(),
            Selection::new(),
            cx,
        );
        let entry = session.tools().get(TOOL).unwrap();
        session.refresh(host(Models::new(Arc::new(model.clone()))).catalog().list());
        assert!(entry.is_same(&session.tools().get(TOOL).unwrap()));
        entry
    };
    let target = |entry: &tools::Entry| {
        entry
            .targets(&json!({"prompt": "?"}).into(), &Host::new())
            .unwrap()[0]
            .to_string()
    };
    assert_eq!(target(&tool_of(models(&model))), "llm:read:acme/default");
    let named = ModelChoice::new("openai", Some("gpt-5.1".to_owned()));
    let entry = tool_of(models(&model).with_name(named));
    assert_eq!(target(&entry), "llm:read:openai/gpt-5.1");
    assert_eq!(
        entry.tool().parameters["properties"]["model"]["default"],
        "openai/gpt-5.1"
    );
    let alias = ModelChoice::new("gateway", Some("default".to_owned()));
    let answering = Model::answering(&["own"]);
    let text = call(
        &host(models(&answering).with_name(alias)),
        json!({"prompt": "?"}),
    )
    .await
    .unwrap()
    .to_text();
    assert_eq!(text, "own");
    entry.verify().unwrap();

    // A model whose name is no target cannot be asked, and the tool of the catalog needs a name.
    let unnameable = ModelChoice::new("files", Some("../model".to_owned()));
    let error = call(
        &host(models(&model).with_name(unnameable)),
        json!({"prompt": "?"}),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
    let error = host(models(&model))
        .call(TOOL, json!({"prompt": "?"}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn grants_and_rules_hold_for_the_model() {
    let model = Model::answering(&["said"; 2]);
    let models = models(&model).with_name(ModelChoice::new("openai", Some("gpt-5.1".to_owned())));
    let host = host(models.with_others(|_| Err(ProviderError::NoPrompt)));
    let code = async |host: TestHost, arguments: Value| {
        call(&host, arguments).await.map_err(|error| error.code())
    };
    let own = || json!({"prompt": "?"});
    let other = || json!({"prompt": "?", "model": "zeta/large"});
    let granted = |clauses: &[&str]| host.clone().with_grant(clauses);
    assert!(
        code(granted(&["llm:read:openai/gpt-5.1"]), own())
            .await
            .is_ok()
    );
    let denied = Err(ErrorCode::PermissionDenied);
    assert_eq!(
        code(granted(&["llm:read:openai/gpt-5.1"]), other()).await,
        denied
    );
    assert_eq!(
        code(granted(&["llm:read:session/default", "fs:read:**"]), own()).await,
        denied
    );
    // The grant reaches the function that opens the model.
    assert_eq!(
        code(granted(&["llm:read:zeta/**"]), other()).await,
        Err(ErrorCode::ExecutionFailed)
    );

    for (target, arguments) in [
        ("llm:read:openai/gpt-5.1", own()),
        ("llm:read:openai/**", own()),
        (
            "llm:read:openai/small",
            json!({"prompt": "?", "model": "openai/small"}),
        ),
        ("llm:read:zeta/*", other()),
    ] {
        let ruled = |verdict: Verdict| {
            let rule = Rule::for_target(verdict, target.parse().unwrap());
            let policy = Policy::by_effects().with_rules([rule]);
            host.clone()
                .with_context(|cx| cx.with_policy(policy).with_grant(Grant::all()))
        };
        assert_eq!(
            code(ruled(Verdict::Deny), arguments.clone()).await,
            Err(ErrorCode::Denied),
            "{target}"
        );
        assert_eq!(
            code(ruled(Verdict::Ask), arguments.clone()).await,
            Err(ErrorCode::Unapproved),
            "{target}"
        );
    }
    assert_eq!(model.texts().len(), 1);

    let approver = RecordingApprover::new(tools::Decision::Allow);
    let rule = Rule::for_target(Verdict::Ask, "llm:read:openai/**".parse().unwrap());
    let policy = Policy::by_effects().with_rules([rule]);
    let asked = host
        .with_approver(approver.clone())
        .with_context(|cx| cx.with_policy(policy).with_grant(Grant::all()));
    assert!(code(asked, own()).await.is_ok());
    assert_eq!(
        approver.requests()[0].targets[0].to_string(),
        "llm:read:openai/gpt-5.1"
    );
}

#[tokio::test]
async fn the_tokens_of_another_model_have_its_price() {
    let usage = Usage {
        input_tokens: 1_000_000,
        cached_input_tokens: 600_000,
        ..Usage::default()
    };
    let model = Model::new([Turn {
        usage: Some(usage),
        ..Turn::answer("said")
    }]);
    let mut price = Price::new("2".parse().unwrap(), "10".parse().unwrap());
    price.rates.cached = "0.50".parse().unwrap();
    let (opened, budget) = (
        model.clone().at(price),
        Budget::new(BudgetLimits::default()),
    );
    let models = models(&model).with_others(move |_| Ok(Arc::new(opened.clone())));
    let host = host(models).with_service(budget.clone());
    assert_eq!(
        call(&host, json!({"prompt": "?", "model": "zeta/large"}))
            .await
            .unwrap()
            .to_text(),
        "said"
    );
    // 400,000 tokens for 2, and 600,000 for 0.50.
    assert_eq!(budget.spent().cost, "1.10".parse().unwrap());
}

#[tokio::test]
async fn a_request_counts_for_the_budget() {
    let usage = Usage {
        input_tokens: 30,
        output_tokens: 12,
        ..Usage::default()
    };
    let model = Model::new([
        Turn {
            usage: Some(usage),
            ..Turn::answer("said")
        },
        Turn::answer("again"),
    ]);
    let budget = Budget::new(BudgetLimits {
        steps: Some(1),
        ..BudgetLimits::default()
    });
    let price = Price::new("1".parse().unwrap(), "10".parse().unwrap());
    let models = models(&model.clone().at(price))
        .with_name(ModelChoice::new("acme", Some("large".to_owned())));
    let host = host(models).with_service(budget.clone());
    call(&host, json!({"prompt": "?"})).await.unwrap();
    let spent = budget.spent();
    assert_eq!(
        (spent.steps, spent.tokens, spent.cost),
        (1, 42, "0.00015".parse().unwrap())
    );
    let error = call(&host, json!({"prompt": "?"})).await.unwrap_err();
    assert!(error.to_string().contains("budget"), "{error}");
    assert_eq!(model.texts().len(), 1);
}
