//! Approvals that are given after the run has ended.

use std::sync::{Arc, Mutex};

use agent::{
    ApprovalRequest, DeferredConsent, Driver, Outcome, Run, Selection, Session, Summary, Turn,
};
use serde_json::{Value, json};
use tools::handler::PreviewFuture;
use tools::{
    Catalog, Digest, Effects, Grant, Handler, HandlerFuture, Host, Input, Policy, Preview, Tool,
    ToolCall, ToolContext, ToolError, ToolResult,
};

use crate::workshop::{results, scripted};

/// A tool that notes its arguments, and asks for an approval first.
struct Post {
    catalog: Catalog,
    sent: Arc<Mutex<Vec<Value>>>,
}

impl Post {
    fn new() -> Self {
        let (mut catalog, sent) = (Catalog::new(), Arc::default());
        let schema = json!({"type": "object", "properties": {
            "to": {"type": "string"},
            "pin": {"type": "string", "writeOnly": true},
        }});
        let effects: Effects = serde_json::from_value(json!({"writes": ["mail:outbox"]})).unwrap();
        let log: Arc<Mutex<Vec<Value>>> = Arc::clone(&sent);
        let handler = move |_: ToolContext, arguments: Value| {
            log.lock().unwrap().push(arguments);
            async { "sent" }
        };
        catalog
            .register(
                Tool::new("send", "Sends.", schema)
                    .unwrap()
                    .with_effects(effects),
                handler,
            )
            .unwrap();
        Self { catalog, sent }
    }

    fn session(&self, cx: &ToolContext) -> Session {
        Session::new(self.catalog.list(), Selection::new(), cx.clone())
    }

    fn sent(&self) -> Vec<Value> {
        self.sent.lock().unwrap().clone()
    }
}

/// A context that asks before each write.
fn context() -> Host {
    DeferredConsent::new().enter(
        Host::new()
            .with_grant(Grant::all())
            .with_policy(Policy::by_effects()),
    )
}

fn consent(session: &Session) -> Arc<DeferredConsent> {
    session.context().service().unwrap()
}

/// A call of `send` without an id, as some services give none, and the answer.
fn driver(arguments: Value) -> Driver {
    scripted([
        Turn::calls([ToolCall::new("", "send", arguments)]),
        Turn::answer("done"),
    ])
}

/// The one request of a run that waits.
fn request(summary: &Summary) -> ApprovalRequest {
    match &summary.outcome {
        Outcome::WaitingForApproval { requests } if requests.len() == 1 => requests[0].clone(),
        other => panic!("{other:?}"),
    }
}

fn waiting(session: &Session) -> Run {
    session.waiting_run().unwrap().clone()
}

#[tokio::test]
async fn each_of_two_sessions_of_one_context_gets_its_own_request() {
    let (post, cx) = (Post::new(), context());
    let [mut ann, mut bob] = [(); 2].map(|()| post.session(&cx));
    let drivers = ["ann", "bob"].map(|to| driver(json!({"to": to})));
    let [anns, bobs] = &drivers;
    let (anns, bobs) = tokio::join!(anns.run(&mut ann, "go"), bobs.run(&mut bob, "go"));
    let [anns, bobs] = [anns.unwrap(), bobs.unwrap()].map(|summary| request(&summary));
    assert_eq!(
        (anns.arguments.clone(), bobs.arguments),
        (json!({"to": "ann"}).into(), json!({"to": "bob"}).into())
    );

    consent(&ann).allow(anns);
    let run = waiting(&ann);
    drivers[0].resume(&mut ann, run).await.unwrap();
    assert_eq!(post.sent(), [json!({"to": "ann"})]);
}

#[tokio::test]
async fn an_answer_does_not_fit_the_equal_call_of_another_session() {
    let (post, cx) = (Post::new(), context());
    let [mut ann, mut bob] = [(); 2].map(|()| post.session(&cx));
    let driver = driver(json!({"to": "us"}));
    let anns = request(&driver.run(&mut ann, "go").await.unwrap());
    let bobs = request(&driver.run(&mut bob, "go").await.unwrap());
    assert_eq!((&anns.call, &anns.arguments), (&bobs.call, &bobs.arguments));
    assert_ne!(anns, bobs);

    consent(&bob).allow(anns);
    let run = waiting(&bob);
    assert_eq!(request(&driver.resume(&mut bob, run).await.unwrap()), bobs);
    assert!(post.sent().is_empty());
}

#[tokio::test]
async fn an_answer_is_used_up_when_the_call_runs() {
    let (post, cx) = (Post::new(), context());
    let mut session = post.session(&cx);
    let driver = driver(json!({"to": "ann"}));
    let asked = request(&driver.run(&mut session, "go").await.unwrap());
    let run = waiting(&session);
    consent(&session).allow(asked.clone());
    driver.resume(&mut session, run.clone()).await.unwrap();
    assert_eq!(post.sent().len(), 1);

    // The same run again, and an equal call of a new conversation.
    assert_eq!(
        request(&driver.resume(&mut session, run.clone()).await.unwrap()),
        asked
    );
    session.clear();
    assert_ne!(
        request(&driver.run(&mut session, "go").await.unwrap()),
        asked
    );
    assert_eq!(post.sent().len(), 1);

    // The last of two answers to a request holds, and the first one does not come after it.
    consent(&session).allow(asked.clone());
    consent(&session).deny(asked.clone(), "not now");
    driver.resume(&mut session, run.clone()).await.unwrap();
    assert_eq!(
        request(&driver.resume(&mut session, run).await.unwrap()),
        asked
    );
    assert_eq!(post.sent().len(), 1);
}

#[tokio::test]
async fn an_answer_does_not_fit_a_call_with_another_secret_and_the_request_does_not_reveal_it() {
    let (post, cx) = (Post::new(), context());
    let mut session = post.session(&cx);
    let arguments = json!({"to": "ann", "pin": "pin of ann"});
    let driver = driver(arguments.clone());
    let asked = request(&driver.run(&mut session, "go").await.unwrap());
    let shown = serde_json::to_string(&asked).unwrap();
    assert!(
        shown.contains("[secret]") && !shown.contains("pin of ann"),
        "{shown}"
    );
    assert!(
        !shown.contains(&Digest::hash_json(&arguments).to_string()),
        "the pin could be guessed: {shown}"
    );

    let stored = serde_json::to_string(&waiting(&session)).unwrap();
    let changed: Run = serde_json::from_str(&stored.replace("pin of ann", "6789")).unwrap();
    consent(&session).allow(asked.clone());
    let again = request(&driver.resume(&mut session, changed).await.unwrap());
    assert_eq!(
        (&again.call, &again.arguments),
        (&asked.call, &asked.arguments)
    );
    assert_ne!(again, asked);
    assert!(post.sent().is_empty());

    driver
        .resume(&mut session, serde_json::from_str(&stored).unwrap())
        .await
        .unwrap();
    assert_eq!(post.sent(), [arguments], "the answer fits its own call");
}

/// Returns a tool that reads a URL, and a context that grants every host and names none.
fn fetching() -> (Catalog, Host) {
    let mut catalog = Catalog::new();
    let schema =
        json!({"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}});
    let effects: Effects =
        serde_json::from_value(json!({"reads": ["net:{url|host}"], "open_world": true})).unwrap();
    let tool = Tool::new("fetch", "Reads.", schema)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "read")
        .unwrap();
    let cx = DeferredConsent::new()
        .enter(Host::new().with_grant(Grant::parse(["net:read:**"]).unwrap()));
    (catalog, cx)
}

#[tokio::test]
async fn a_host_is_approved_for_the_session_or_for_the_run_of_a_session_without_a_name() {
    let (catalog, cx) = fetching();
    // The name of the session that gets the approval, that of a later run, and whether the later run asks.
    for (approved, later, asks) in [
        (None, None, true),
        (Some("a"), Some("a"), false),
        (Some("a"), Some("b"), true),
        (Some("a"), None, true),
    ] {
        let run = |name: Option<&str>| {
            let cx = name.map_or_else(|| cx.clone(), |name| cx.clone().with_session(name));
            let call = ToolCall::new("", "fetch", json!({"url": "https://a.org/"}));
            let driver = scripted([Turn::calls([call]), Turn::answer("done")]);
            (driver, Session::new(catalog.list(), Selection::new(), cx))
        };
        let (driver, mut session) = run(approved);
        let summary = driver.run(&mut session, "go").await.unwrap();
        if let Outcome::WaitingForApproval { .. } = &summary.outcome {
            consent(&session).allow(request(&summary));
            let waiting = waiting(&session);
            let outcome = driver.resume(&mut session, waiting).await.unwrap().outcome;
            assert!(
                !matches!(outcome, Outcome::WaitingForApproval { .. }),
                "{outcome:?}"
            );
        }
        let (driver, mut session) = run(later);
        let outcome = driver.run(&mut session, "go").await.unwrap().outcome;
        assert_eq!(
            matches!(outcome, Outcome::WaitingForApproval { .. }),
            asks,
            "{approved:?} {later:?}"
        );
    }
}

#[tokio::test]
async fn an_approval_of_an_unnamed_host_holds_for_later_calls_on_it() {
    let (catalog, cx) = fetching();
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let fetch = |url: &str| Turn::calls([ToolCall::new("", "fetch", json!({"url": url}))]);
    let urls = [
        "https://a.org/?q=1",
        "https://a.org/?q=2",
        "https://b.org/",
        "https://b.org/",
    ];
    let driver = scripted(
        urls.map(fetch)
            .into_iter()
            .chain([Turn::answer("done")])
            .collect::<Vec<_>>(),
    );

    let first = request(
        &driver
            .run(
                &mut session,
                "ask https://a.org/?q=1 and https://a.org/?q=2",
            )
            .await
            .unwrap(),
    );
    assert_eq!(first.arguments, json!({"url": urls[0]}));
    assert!(
        first.remarks[0].starts_with("net:read:a.org (no grant names this host"),
        "{:?}",
        first.remarks
    );
    consent(&session).allow(first);
    let run = waiting(&session);
    // The second URL has the same host. The third has another one, which is denied, and asked about again.
    let third = request(&driver.resume(&mut session, run).await.unwrap());
    assert_eq!(third.arguments, json!({"url": urls[2]}));
    consent(&session).deny(third, "not there");
    let run = waiting(&session);
    let fourth = request(&driver.resume(&mut session, run).await.unwrap());
    assert_eq!(fourth.arguments, json!({"url": urls[3]}));
    let outcomes: Vec<_> = results(session.messages())
        .into_iter()
        .map(|(_, result)| result.is_error)
        .collect();
    assert_eq!(outcomes[..3], [false, false, true]);
}

#[tokio::test]
async fn a_request_says_for_how_long_an_approval_of_an_unnamed_host_holds() {
    for (name, span) in [(Some("a"), "in this session"), (None, "in this run")] {
        // A process: it has nothing of the others but the stored run and the answer.
        let process = |run: Option<&Run>, answer: Option<&ApprovalRequest>| {
            let (catalog, cx) = fetching();
            let cx = name.map_or_else(|| cx.clone(), |name| cx.clone().with_session(name));
            let mut session = Session::new(catalog.list(), Selection::new(), cx);
            let fetch = |url: &str| Turn::calls([ToolCall::new("", "fetch", json!({"url": url}))]);
            let urls = [
                "https://a.org/",
                "https://a.org/#2",
                "https://b.org/",
                "https://a.org/#3",
            ];
            let run: Option<Run> = run.map(|run| serde_json::from_value(json!(run)).unwrap());
            answer
                .into_iter()
                .for_each(|answer| consent(&session).allow(answer.clone()));
            let driver = scripted(urls.map(fetch));
            async move {
                let summary = match run {
                    Some(run) => driver.resume(&mut session, run).await,
                    None => driver.run(&mut session, "go").await,
                };
                (request(&summary.unwrap()), waiting(&session))
            }
        };
        let (first, run) = process(None, None).await;
        let remark = format!(
            "(no grant names this host; an approval holds for it {span}; a program that resumes it later asks again)"
        );
        assert_eq!(first.remarks, [format!("net:read:a.org {remark}")]);
        // The approval holds for the second call, and the third one is about another host.
        let (third, run) = process(Some(&run), Some(&first)).await;
        assert_eq!(third.remarks, [format!("net:read:b.org {remark}")]);
        // The program that resumed the run has ended, so the fourth call asks again.
        let (fourth, _) = process(Some(&run), Some(&third)).await;
        assert_eq!(
            (&fourth.remarks, fourth.arguments),
            (&first.remarks, json!({"url": "https://a.org/#3"}).into())
        );
    }
}

/// Writes a file, and shows it before if there is one.
struct Write;

impl Handler for Write {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("written")))
    }

    fn preview<'a>(&'a self, _: ToolContext, arguments: Input) -> Option<PreviewFuture<'a>> {
        let is_there = !arguments.json().value()["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("missing"));
        Some(Box::pin(async move {
            if is_there {
                Ok(Preview::diff("-a\n+b\n"))
            } else {
                Err(ToolError::execution_failed("not a file"))
            }
        }))
    }
}

/// A session with the tool, and a driver whose model writes these files.
fn writing(paths: [&str; 2]) -> (Session, Driver) {
    let mut catalog = Catalog::new();
    let schema =
        json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
    let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    catalog
        .register(
            Tool::new("write", "Writes.", schema)
                .unwrap()
                .with_effects(effects),
            Write,
        )
        .unwrap();
    let session = Session::new(
        catalog.list(),
        Selection::new(),
        DeferredConsent::new().enter(Host::new()),
    );
    let calls = paths.map(|path| ToolCall::new("", "write", json!({"path": path})));
    (
        session,
        scripted([Turn::calls(calls), Turn::answer("done")]),
    )
}

#[tokio::test]
async fn no_answer_permits_a_change_of_a_file_that_runs_by_itself_and_cannot_be_shown() {
    let (mut session, driver) = writing([".git/hooks/missing", "missing"]);
    let summary = driver.run(&mut session, "go").await.unwrap();
    let Outcome::WaitingForApproval { requests } = summary.outcome else {
        panic!("{summary:?}")
    };
    requests
        .into_iter()
        .for_each(|request| consent(&session).allow(request));
    let run = waiting(&session);
    driver.resume(&mut session, run).await.unwrap();
    let results: Vec<_> = results(session.messages())
        .into_iter()
        .map(|(_, result)| result.is_error)
        .collect();
    assert_eq!(results, [true, false]);
}

#[tokio::test]
async fn a_request_has_the_preview_and_the_remarks_of_a_question_which_bind_no_answer() {
    let (mut session, driver) = writing([".git/hooks/pre-commit", "missing"]);
    let summary = driver.run(&mut session, "go").await.unwrap();
    let Outcome::WaitingForApproval { requests } = summary.outcome else {
        panic!("{summary:?}")
    };
    let [hook, missing] = <[ApprovalRequest; 2]>::try_from(requests).unwrap();
    assert_eq!(hook.preview.as_deref(), Some("-a\n+b\n"));
    let [remark] = &hook.remarks[..] else {
        panic!("{hook:?}")
    };
    assert!(
        remark.starts_with("fs:write:.git/hooks/pre-commit, ")
            && remark.ends_with(" (not granted)"),
        "{remark}"
    );
    assert!(remark.contains("git runs the hooks"), "{remark}");
    assert!(
        missing
            .preview
            .as_ref()
            .is_some_and(|text| text.starts_with("no preview: ")),
        "{missing:?}"
    );
    assert_eq!(missing.remarks, ["fs:write:missing (not granted)"]);

    let mut edited = hook.clone();
    (edited.preview, edited.remarks) = (None, Vec::new());
    assert_eq!(edited, hook);
    consent(&session).allow(edited);
    consent(&session).deny(missing, "there is none");
    let run = waiting(&session);
    driver.resume(&mut session, run).await.unwrap();
    let results: Vec<_> = results(session.messages())
        .into_iter()
        .map(|(_, result)| result.is_error)
        .collect();
    assert_eq!(results, [false, true]);
}
