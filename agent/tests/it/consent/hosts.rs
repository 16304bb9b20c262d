//! Consent to reading hosts.

use super::*;

/// Adds a tool that reads the host of a URL.
fn add_reader(catalog: &mut Catalog, name: &str) {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects = serde_json::from_value::<Effects>(
        json!({"reads": ["net:{path|host}"], "open_world": true}),
    )
    .unwrap();
    let tool = Tool::new(name, "Reads a page.", parameters)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "read")
        .unwrap();
}

/// A context that may read every host, as [`asking`].
fn reading() -> (Host, Person, Catalog) {
    let ((cx, person), mut catalog) = (asking(), Catalog::new());
    add_reader(&mut catalog, "fetch");
    add_reader(&mut catalog, "look");
    (
        cx.with_grant(Grant::parse(["net:read:**"]).unwrap()),
        person,
        catalog,
    )
}

#[tokio::test]
async fn a_host_is_asked_about_once_in_a_session_whatever_the_yes_is() {
    for yes in [ApprovalAnswer::Once, ApprovalAnswer::Session] {
        let (cx, mut person, catalog) = reading();
        let (text, ..) = answered(
            &catalog,
            &cx,
            &mut person,
            ("fetch", "https://a.org/?q=1"),
            yes.clone(),
        )
        .await;
        assert!(text.contains("holds for it in this session"), "{text}");
        for url in ["https://a.org/", "http://A.org:80/other?q=2"] {
            call(&catalog, &cx, "fetch", url).await.unwrap();
        }
        assert!(person.is_idle());
        for other in [
            ("fetch", "https://b.org/"),
            ("fetch", "https://a.org:8080/"),
            ("look", "https://a.org/"),
        ] {
            answered(&catalog, &cx, &mut person, other, no())
                .await
                .2
                .unwrap_err();
        }
        let other_session = cx.clone().with_session("other");
        answered(
            &catalog,
            &other_session,
            &mut person,
            ("fetch", "https://a.org/"),
            no(),
        )
        .await
        .2
        .unwrap_err();
    }
}

#[tokio::test]
async fn a_no_about_a_host_is_for_one_call() {
    let (cx, mut person, catalog) = reading();
    answered(
        &catalog,
        &cx,
        &mut person,
        ("fetch", "https://a.org/"),
        no(),
    )
    .await
    .2
    .unwrap_err();
    answered(
        &catalog,
        &cx,
        &mut person,
        ("fetch", "https://a.org/"),
        ApprovalAnswer::Once,
    )
    .await
    .2
    .unwrap();
}

#[tokio::test]
async fn a_yes_about_a_host_that_is_asked_about_for_another_reason_is_for_one_call() {
    let (cx, mut person, catalog) = reading();
    let ask =
        Policy::by_effects().with_rules([Rule::new(Verdict::Ask, Some("fetch"), None).unwrap()]);
    let contexts = [
        cx.clone().with_grant(Grant::none()),
        cx.clone().with_policy(ask),
    ];
    for other in &contexts {
        for _ in 0..2 {
            let call = ("fetch", "https://a.org/");
            let (text, ..) =
                answered(&catalog, other, &mut person, call, ApprovalAnswer::Once).await;
            assert!(!text.contains("holds for it"), "{text}");
        }
    }
    // An approval of the host alone is not one for a call with another reason to ask.
    answered(
        &catalog,
        &cx,
        &mut person,
        ("fetch", "https://a.org/"),
        ApprovalAnswer::Once,
    )
    .await
    .2
    .unwrap();
    for other in &contexts {
        answered(
            &catalog,
            other,
            &mut person,
            ("fetch", "https://a.org/"),
            no(),
        )
        .await
        .2
        .unwrap_err();
    }
}

#[tokio::test]
async fn a_named_host_is_not_asked_about() {
    let (cx, mut person, catalog) = reading();
    let typed: [Target; 2] =
        ["net:read:a.org", "net:read:[::1]:8080"].map(|target| target.parse().unwrap());
    let clause: Clause = "net:read:b.org".parse().unwrap();
    let wild: Clause = "net:read:**".parse().unwrap();
    let rules = rules_from_typed(&typed)
        .chain(rules_from_grant([&clause]))
        .collect::<Vec<_>>();
    let cx = cx.with_policy(Policy::by_effects().with_rules(rules));
    for url in ["https://a.org/", "http://[0::1]:8080/", "https://b.org/"] {
        call(&catalog, &cx, "fetch", url).await.unwrap();
    }
    assert!(person.is_idle());
    for url in ["https://a.org:8080/", "http://[::1]/", "https://c.org/"] {
        answered(&catalog, &cx, &mut person, ("fetch", url), no())
            .await
            .2
            .unwrap_err();
    }
    let cx = cx.with_policy(Policy::by_effects().with_rules(rules_from_grant([&wild])));
    answered(
        &catalog,
        &cx,
        &mut person,
        ("fetch", "https://a.org/"),
        no(),
    )
    .await
    .2
    .unwrap_err();
}

#[tokio::test]
async fn the_question_shows_the_whole_url() {
    let (cx, mut person, catalog) = reading();
    let url = format!("https://a.org/?q={}\u{202e}end", "x".repeat(8000));
    assert!(
        call(&catalog, &cx, "fetch", "https://a.org /")
            .await
            .is_err(),
        "a URL that has two readings is refused"
    );
    let (text, ..) = answered(&catalog, &cx, &mut person, ("fetch", &url), no()).await;
    assert!(
        text.contains(&url.replace('\u{202e}', r"\u{202e}")),
        "{text}"
    );
}
