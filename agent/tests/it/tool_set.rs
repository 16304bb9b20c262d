//! The tools of a tool set, its skipped tools, and the tools it cannot reach.

use crate::workshop;
use std::sync::Arc;

use crate::workshop::{add, catalog, tool};
use agent::{Selection, Session, SkipReason, ToolSet};
use serde_json::{Value, json};
use tools::call::Resolve;
use tools::context::Need;
use tools::{
    Catalog, ErrorCode, Execution, Grant, Host, Policy, Services, ToolContext, ToolErrorKind,
};

fn set(catalog: &Catalog, globs: &[&str]) -> ToolSet {
    ToolSet::new(
        catalog.list(),
        &Selection::parse(globs).unwrap(),
        &Services::new(),
    )
}

fn names(set: &ToolSet) -> Vec<&str> {
    set.list()
        .iter()
        .map(|entry| entry.name().as_str())
        .collect()
}

#[tokio::test]
async fn two_sessions_over_one_catalog_have_different_tools() {
    let catalog = catalog(["fs.read", "fs.write", "time.now"]);
    let files = Session::new(
        catalog.list(),
        Selection::parse(["fs.*"]).unwrap(),
        Host::new(),
    );
    let clock = Session::new(
        catalog.list(),
        Selection::parse(["time.*"]).unwrap(),
        Host::new(),
    );
    assert_eq!(names(files.tools()), ["fs.read", "fs.write"]);
    assert_eq!(names(clock.tools()), ["time.now"]);

    assert_eq!(
        files.execute("fs.read", json!({})).await.unwrap().to_text(),
        "fs.read"
    );
    let refused = clock.execute("fs.read", json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound, "{refused}");
}

#[tokio::test]
async fn a_nested_call_stays_inside_the_set() {
    let mut catalog = catalog(["inner", "outside"]);
    let forward = async |cx: ToolContext, arguments: Value| {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        cx.execute(&name, json!({}))
            .await
            .map(|result| result.to_text())
            .map_err(|error| error.to_string())
    };
    catalog.register(tool("forward"), forward).unwrap();
    let set = set(&catalog, &["forward", "inner"]);
    let cx = Host::new();

    assert_eq!(
        set.execute(&cx, "forward", json!({"name": "inner"}))
            .await
            .unwrap()
            .to_text(),
        "inner"
    );
    let twice = set
        .execute(&cx, "forward", json!({"name": "outside"}))
        .await
        .unwrap_err();
    assert!(
        twice.to_string().contains("no tool named \"outside\""),
        "{twice}"
    );
}

/// A tool that calls the tool its argument names, in some way, with the context of its own call.
fn through(
    way: impl Fn(&ToolContext, &str) -> Execution + Send + Sync + 'static,
) -> impl tools::Handler {
    let way = Arc::new(way);
    move |cx: ToolContext, arguments: Value| {
        let way = way.clone();
        async move {
            let name = arguments["name"].as_str().unwrap_or_default().to_owned();
            match way(&cx, &name).await {
                Ok(result) => result.to_text(),
                Err(error) => error.code().to_string(),
            }
        }
    }
}

#[tokio::test]
async fn a_session_cannot_be_left_by_way_of_another_catalog() {
    let everything = catalog(["inside", "outside"]);
    let mut offered = everything.clone();
    let other = everything.clone();
    offered
        .register(
            tool("by_catalog"),
            through(move |cx, name| other.execute(cx, name, json!({}))),
        )
        .unwrap();
    let shared = tools::SharedCatalog::from(everything.clone());
    offered
        .register(
            tool("by_shared"),
            through(move |cx, name| shared.execute(cx, name, json!({}))),
        )
        .unwrap();
    let whole = ToolSet::new(everything.list(), &Selection::new(), &Services::new());
    offered
        .register(
            tool("by_set"),
            through(move |cx, name| whole.execute(cx, name, json!({}))),
        )
        .unwrap();
    let global = |cx: &ToolContext, name: &str| tools::execute(cx, name, json!({}));
    offered
        .register(tool("by_global"), through(global))
        .unwrap();
    let resolver = Arc::new(everything.clone());
    let by_call = move |cx: &ToolContext, name: &str| {
        tools::call::execute(resolver.clone(), cx, name, json!({}))
    };
    offered.register(tool("by_call"), through(by_call)).unwrap();
    // The process-wide catalog has both names as well; its `inside` is another tool than the session's.
    for name in ["inside", "outside"] {
        tools::register(tool(name), async |_: ToolContext, _: Value| {
            "global".to_owned()
        })
        .unwrap();
    }

    let session = Session::new(
        offered.list(),
        Selection::parse(["by_*", "inside"]).unwrap(),
        Host::new(),
    );
    for way in ["by_catalog", "by_shared", "by_set", "by_call"] {
        let reached = async |name| {
            session
                .execute(way, json!({"name": name}))
                .await
                .unwrap()
                .to_text()
        };
        assert_eq!(
            (reached("inside").await, reached("outside").await),
            ("inside".into(), "not_found".into()),
            "{way}"
        );
    }
    for name in ["inside", "outside"] {
        let reached = session
            .execute("by_global", json!({"name": name}))
            .await
            .unwrap()
            .to_text();
        assert_eq!(reached, "not_found", "{name}");
    }
}

#[tokio::test]
async fn a_child_session_has_no_more_than_its_own_selection_from_its_parents() {
    let mut offered = catalog(["few", "other", "outside"]);
    let nested = through(|cx, name| cx.execute(name, json!({})));
    offered.register(tool("forward"), nested).unwrap();
    let everything = offered.clone();
    let parent = set(&offered, &["few", "other", "forward"]);

    // Selected from the parent's tools, and, by a tool that means to cheat, from all of them.
    for entries in [parent.list().to_vec(), everything.list()] {
        let child = move |cx: &ToolContext, name: &str| {
            let selection = Selection::parse(["few", "forward", "outside"]).unwrap();
            let session = Session::new(entries.clone(), selection, cx.clone());
            match name.strip_prefix("through ") {
                Some(inner) => session.execute("forward", json!({"name": inner})),
                None => session.execute(name, json!({})),
            }
        };
        let mut catalog = offered.clone();
        catalog.register(tool("delegate"), through(child)).unwrap();
        let parent = Session::new(
            catalog.list(),
            Selection::parse(["few", "other", "forward", "delegate"]).unwrap(),
            Host::new(),
        );
        let reached = async |name: &str| {
            parent
                .execute("delegate", json!({"name": name}))
                .await
                .unwrap()
                .to_text()
        };
        assert_eq!(reached("few").await, "few");
        assert_eq!(reached("through few").await, "few");
        for name in [
            "other",
            "outside",
            "delegate",
            "through other",
            "through outside",
            "through delegate",
        ] {
            assert_eq!(reached(name).await, "not_found", "{name}");
        }
    }
}

#[tokio::test]
async fn a_set_does_not_change_when_the_catalog_does() {
    let mut catalog = catalog(["one", "two"]);
    let set = set(&catalog, &[]);
    let digest = set.digest();

    catalog.unregister("one");
    add(&mut catalog, "three");
    catalog
        .replace(tool("two"), async |_: ToolContext, _: Value| {
            "replaced".to_owned()
        })
        .unwrap();

    assert_eq!(names(&set), ["one", "two"]);
    assert_eq!(set.digest(), digest);
    assert!(!set.contains("three"));
    assert_eq!(
        set.execute(&Host::new(), "two", json!({}))
            .await
            .unwrap()
            .to_text(),
        "two"
    );
}

#[test]
fn a_session_sees_a_changed_catalog_once_it_is_refreshed() {
    let mut catalog = catalog(["fs.read"]);
    let mut session = Session::new(
        catalog.list(),
        Selection::parse(["fs.*"]).unwrap(),
        Host::new(),
    );
    add(&mut catalog, "fs.write");
    add(&mut catalog, "time.now");
    assert_eq!(names(session.tools()), ["fs.read"]);
    session.refresh(catalog.list());
    assert_eq!(names(session.tools()), ["fs.read", "fs.write"]);
    session.select(Selection::new(), catalog.list());
    assert_eq!(names(session.tools()), ["fs.read", "fs.write", "time.now"]);
}

#[test]
fn equal_sets_have_equal_digests_whatever_the_order() {
    let (forth, back) = (catalog(["a", "b", "c"]), catalog(["c", "b", "a"]));
    let mut reversed = forth.list();
    reversed.reverse();
    let reversed = ToolSet::new(reversed, &Selection::new(), &Services::new());
    assert_eq!(set(&forth, &[]).digest(), set(&back, &[]).digest());
    assert_eq!(set(&forth, &[]).digest(), reversed.digest());
    assert_eq!(names(&reversed), ["a", "b", "c"]);
}

#[test]
fn different_sets_have_different_digests() {
    let catalog = catalog(["a", "b"]);
    let mut changed = Catalog::new();
    changed
        .register(
            tool("a").with_title("Another"),
            async |_: ToolContext, _: Value| "a".to_owned(),
        )
        .unwrap();
    let digests = [
        set(&catalog, &[]),
        set(&catalog, &["a"]),
        set(&catalog, &["b"]),
        set(&changed, &[]),
        ToolSet::default(),
    ]
    .map(|set| set.digest());
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "{index}");
    }
}

#[test]
fn a_tool_whose_needs_are_unmet_is_skipped_with_its_reason() {
    struct Workspace;
    struct Reads;
    impl tools::Handler for Reads {
        fn call<'a>(
            &'a self,
            _cx: ToolContext,
            _arguments: tools::Input,
        ) -> tools::HandlerFuture<'a> {
            tools::HandlerFuture::ready(Ok(tools::ToolResult::text("read")))
        }
        fn needs(&self) -> &[Need] {
            const NEEDS: &[Need] = &[Need::new::<Workspace>()];
            NEEDS
        }
    }
    let mut catalog = catalog(["time.now"]);
    catalog.register(tool("fs.read"), Reads).unwrap();

    let bare = set(&catalog, &[]);
    assert_eq!(names(&bare), ["time.now"]);
    assert_eq!(bare.list_skipped()[0].name.as_str(), "fs.read");
    assert!(
        bare.list_skipped()[0].to_string().contains("Workspace"),
        "{}",
        bare.list_skipped()[0]
    );
    assert!(matches!(&bare.get("fs.read"), Err(error) if error.code() == ErrorCode::Unavailable));

    let cx = Host::new().with_absent_service::<Workspace>("name a root with --root");
    let explained = ToolSet::new(catalog.list(), &Selection::new(), cx.services());
    assert_eq!(
        explained.list_skipped()[0].to_string(),
        "fs.read: name a root with --root"
    );

    let cx = Host::new().with_service(Workspace);
    let offered = ToolSet::new(catalog.list(), &Selection::new(), cx.services());
    assert_eq!(names(&offered), ["fs.read", "time.now"]);
    assert!(offered.list_skipped().is_empty());
}

#[test]
fn different_tools_of_one_name_are_skipped() {
    let (one, mut other) = (catalog(["a", "b"]), Catalog::new());
    other
        .register(tool("a"), async |_: ToolContext, _: Value| {
            "another a".to_owned()
        })
        .unwrap();
    let both = || one.list().into_iter().chain(other.list());
    let set = ToolSet::new(both(), &Selection::new(), &Services::new());
    assert_eq!(names(&set), ["b"]);
    assert!(
        matches!(&set.list_skipped()[0].reason, SkipReason::Ambiguous { sources } if sources.len() == 2)
    );

    let same = ToolSet::new(
        one.list().into_iter().chain(one.list()),
        &Selection::new(),
        &Services::new(),
    );
    assert_eq!(names(&same), ["a", "b"]);
}

#[test]
fn an_unknown_name_is_refused_with_names_from_the_set_alone() {
    let catalog = catalog(["fs.read", "fs.read_all"]);
    let missing = set(&catalog, &["fs.read"])
        .resolve("fs.raed")
        .unwrap_err()
        .kind()
        .clone();
    let ToolErrorKind::NotFound { near } = missing else {
        panic!("{missing}")
    };
    assert_eq!(near, ["fs.read"]);
}

#[tokio::test]
async fn a_changed_grant_holds_from_the_next_call_on() {
    let mut catalog = Catalog::new();
    let effects = serde_json::from_value(json!({"reads": ["thing:{id}"]})).unwrap();
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let reads = tools::Tool::new("look", "Looks.", schema)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(reads, async |_: ToolContext, _: Value| "seen".to_owned())
        .unwrap();
    let mut session = workshop::session(&catalog);

    let refused = session
        .execute("look", json!({"id": "x"}))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), ErrorCode::PermissionDenied, "{refused}");
    session.change_host(|host| host.with_grant(Grant::parse(["thing:read:*"]).unwrap()));
    assert_eq!(
        session
            .execute("look", json!({"id": "x"}))
            .await
            .unwrap()
            .to_text(),
        "seen"
    );
}

#[tokio::test]
async fn a_changed_policy_holds_from_the_next_call_on() {
    let mut catalog = Catalog::new();
    add(&mut catalog, "one");
    let mut session = workshop::session(&catalog);
    session.execute("one", json!({})).await.unwrap();
    let policy: Policy =
        serde_json::from_value(json!([{"verdict": "deny", "tool": "o*"}])).unwrap();
    session.change_host(|host| host.with_policy(policy));
    let refused = session.execute("one", json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Denied, "{refused}");
}

#[tokio::test]
async fn a_former_name_resolves_unless_it_means_another_tool() {
    let renamed = |name: &str| tool(name).with_was(["old".parse().unwrap()]);
    let holding = |tool: tools::Tool| {
        let mut catalog = Catalog::new();
        let answer = async |cx: ToolContext, _: Value| {
            cx.tool().map(ToString::to_string).unwrap_or_default()
        };
        catalog.register(tool, answer).unwrap();
        catalog.list()
    };
    let together =
        |lists: Vec<Vec<_>>| ToolSet::new(lists.concat(), &Selection::new(), &Services::new());
    let alone = together(vec![holding(renamed("a"))]);
    let result = alone.execute(&Host::new(), "old", json!({})).await.unwrap();
    assert!(
        result.to_text().starts_with('a') && alone.contains("old"),
        "{result:?}"
    );
    assert_eq!(names(&alone), ["a"]);

    // A tool that claims a name of another is skipped: it would take over the other's calls, rules and selection.
    let claims = |set: &ToolSet| -> Vec<String> {
        let claimed = set
            .list_skipped()
            .iter()
            .filter(|it| matches!(&it.reason, SkipReason::FormerName { was, .. } if *was == "old"));
        claimed.map(|skipped| skipped.name.to_string()).collect()
    };
    let with_holder = together(vec![holding(renamed("a")), holding(tool("old"))]);
    assert_eq!(
        (names(&with_holder), claims(&with_holder)),
        (vec!["old"], vec!["a".to_owned()])
    );
    assert_eq!(with_holder.get("old").unwrap().name(), "old");
    let misspelt = together(vec![holding(
        tool("text.measure").with_was(["words.count".parse().unwrap()]),
    )]);
    let missing = misspelt.get("words.cuont").unwrap_err().kind().clone();
    assert!(
        matches!(&missing, ToolErrorKind::NotFound { near } if *near == ["text.measure"]),
        "{missing}"
    );
    let twice = together(vec![holding(renamed("a")), holding(renamed("b"))]);
    assert_eq!(
        (names(&twice), claims(&twice)),
        (vec![], vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(twice.get("old").unwrap_err().code(), ErrorCode::NotFound);

    let both = [holding(renamed("a")), holding(tool("old"))].concat();
    for globs in [["old"], ["a"]] {
        let selected = ToolSet::new(
            both.clone(),
            &Selection::parse(globs).unwrap(),
            &Services::new(),
        );
        assert!(
            selected.list().iter().all(|entry| entry.name() == "old"),
            "{globs:?}: {selected:?}"
        );
    }
    let same = together(vec![alone.list().to_vec(), alone.list().to_vec()]);
    assert_eq!(
        same.get("old").unwrap().name(),
        "a",
        "a tool that is offered twice counts once"
    );
}
