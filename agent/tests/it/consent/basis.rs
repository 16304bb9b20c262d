//! Consent to calls whose effect depends on content that the session can change.

use std::sync::Mutex;

use agent::consent::CHANGED;
use tools::handler::PreviewFuture;
use tools::{Access, Basis, Concern, Digest, Handler, HandlerFuture, Input, Preview, Targets};

use super::*;

/// A tool whose target is each word of its argument, and whose effect depends on content.
#[derive(Clone, Default)]
struct RunScript(Arc<Script>);

#[derive(Default)]
struct Script {
    /// The content. `None` makes the preview fail.
    basis: Mutex<Option<Basis>>,
    has_concern: Mutex<bool>,
}

impl Handler for RunScript {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("done")))
    }

    fn targets(&self, arguments: Input) -> Option<Targets> {
        let names = arguments.value()["path"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        Some(Ok(names
            .split(' ')
            .map(|name| Target::new(Access::Write, "box", name).unwrap())
            .collect()))
    }

    fn preview<'a>(&'a self, _: ToolContext, _: Input) -> Option<PreviewFuture<'a>> {
        let basis = *self.0.basis.lock().unwrap();
        let preview = basis.map(|basis| Preview::summary("a script").with_basis(basis));
        let preview = preview.ok_or_else(|| ToolError::execution_failed("it cannot be read"));
        Some(Box::pin(async { preview }))
    }

    fn concerns(&self, _: &ToolContext, _: &Input) -> Vec<Concern> {
        let target = Target::new(Access::Write, "box", "a").unwrap();
        self.0
            .has_concern
            .lock()
            .unwrap()
            .then(|| Concern::new(target, "it is odd", "do it otherwise"))
            .into_iter()
            .collect()
    }
}

fn content(text: &str) -> Option<Basis> {
    Some(Basis::Content(Digest::hash_bytes(text.as_bytes())))
}

/// Returns the tool, its state, a context that may call it, and the person who is asked.
fn running(basis: Option<Basis>) -> (Catalog, Arc<Script>, Host, Person) {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects: Effects = serde_json::from_value(json!({"writes": ["box:{*}"]})).unwrap();
    let script = Arc::new(Script {
        basis: Mutex::new(basis),
        ..Script::default()
    });
    let mut catalog = Catalog::new();
    catalog
        .register(
            Tool::new("run", "Runs.", parameters)
                .unwrap()
                .with_effects(effects),
            RunScript(script.clone()),
        )
        .unwrap();
    let (cx, person) = asking();
    (catalog, script, cx.with_grant(Grant::all()), person)
}

#[tokio::test]
async fn an_approval_for_the_session_holds_while_the_content_is_the_same() {
    let (catalog, script, cx, mut person) = running(content("old"));
    let (text, may_last, ended) = answered(
        &catalog,
        &cx,
        &mut person,
        ("run", "a"),
        ApprovalAnswer::Session,
    )
    .await;
    assert!(
        may_last && ended.is_ok() && !text.contains(CHANGED),
        "{text}"
    );
    call(&catalog, &cx, "run", "a").await.unwrap();
    for changed in [
        content("new"),
        Some(Basis::Arguments),
        Some(Basis::Unknown),
        None,
    ] {
        *script.basis.lock().unwrap() = changed;
        let (text, ..) = answered(&catalog, &cx, &mut person, ("run", "a"), no()).await;
        assert!(text.contains(CHANGED), "{text}");
    }
    *script.basis.lock().unwrap() = content("old");
    call(&catalog, &cx, "run", "a").await.unwrap();
    assert!(person.is_idle());
}

#[tokio::test]
async fn an_approval_of_unknown_content_is_for_one_call() {
    for basis in [Some(Basis::Unknown), None] {
        let (catalog, _, cx, mut person) = running(basis);
        for _ in 0..2 {
            let (_, may_last, ended) = answered(
                &catalog,
                &cx,
                &mut person,
                ("run", "a"),
                ApprovalAnswer::Session,
            )
            .await;
            assert!(!may_last && ended.is_ok(), "{basis:?}");
        }
    }
}

#[tokio::test]
async fn each_target_needs_its_own_approval_of_the_content() {
    let (catalog, script, cx, mut person) = running(content("one"));
    answered(
        &catalog,
        &cx,
        &mut person,
        ("run", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    answered(&catalog, &cx, &mut person, ("run", "a b"), no())
        .await
        .2
        .unwrap_err();
    *script.basis.lock().unwrap() = content("two");
    answered(
        &catalog,
        &cx,
        &mut person,
        ("run", "b"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    for name in ["one", "two"] {
        *script.basis.lock().unwrap() = content(name);
        answered(&catalog, &cx, &mut person, ("run", "a b"), no())
            .await
            .2
            .unwrap_err();
    }
    *script.basis.lock().unwrap() = Some(Basis::Arguments);
    answered(
        &catalog,
        &cx,
        &mut person,
        ("run", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    answered(&catalog, &cx, &mut person, ("run", "a b"), no())
        .await
        .2
        .unwrap_err();
}

#[tokio::test]
async fn a_call_with_a_concern_is_asked_about_each_time() {
    let (catalog, script, cx, mut person) = running(Some(Basis::Arguments));
    answered(
        &catalog,
        &cx,
        &mut person,
        ("run", "a"),
        ApprovalAnswer::Session,
    )
    .await
    .2
    .unwrap();
    *script.has_concern.lock().unwrap() = true;
    for _ in 0..2 {
        let (text, may_last, ended) = answered(
            &catalog,
            &cx,
            &mut person,
            ("run", "a b"),
            ApprovalAnswer::Session,
        )
        .await;
        assert!(!may_last && ended.is_ok(), "{text}");
        assert_eq!(
            text.matches("it is odd").count(),
            1,
            "it is about one target: {text}"
        );
    }
}
