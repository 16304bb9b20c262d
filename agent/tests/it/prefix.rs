//! Changes of the prompt prefix between the runs of a session.

use std::sync::Arc;

use agent::{
    Driver, Event, PrefixChange, Provider, ProviderInfo, Request, Selection, Session, SystemText,
    Turn, TurnFuture, WireOptions,
};
use serde_json::Value;
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Host, Tool, ToolContext};

use crate::notebook::Notebook;
use crate::workshop::{EventLog, add, catalog, playing, session, tool};

fn names(change: &[tools::ToolName]) -> Vec<&str> {
    change.iter().map(|name| name.as_str()).collect()
}

/// Runs a prompt and returns the change that the run announced first.
async fn announced(session: &mut Session) -> Option<PrefixChange> {
    let log = EventLog::default();
    let driver = playing(|_| Box::pin(async { Ok(Turn::answer("done")) })).with_events(log.clone());
    announced_by(driver, log, session).await
}

async fn announced_by(
    driver: Driver,
    log: EventLog,
    session: &mut Session,
) -> Option<PrefixChange> {
    driver.run(session, "go").await.unwrap();
    let is_change = |event: &Event| matches!(event, Event::PrefixChanged(_));
    let events = log.events();
    assert!(!events[1..].iter().any(is_change), "{events:?}");
    if let Event::PrefixChanged(change) = &events[0] {
        Some(change.clone())
    } else {
        None
    }
}

#[tokio::test]
async fn a_changed_prefix_is_announced_once_with_its_parts() {
    let mut catalog = catalog(["a", "b", "c"]);
    let mut session = session(&catalog);
    assert_eq!(
        announced(&mut session).await,
        None,
        "the first run changes nothing"
    );
    session.refresh(catalog.list());
    assert_eq!(announced(&mut session).await, None, "the same tools again");

    assert!(catalog.unregister("a"));
    let changed = Tool {
        description: "Another one.".to_owned(),
        ..tool("b")
    };
    catalog
        .replace(changed, async |_: ToolContext, _: Value| String::new())
        .unwrap();
    add(&mut catalog, "d");
    session.refresh(catalog.list());
    let change = announced(&mut session).await.unwrap();
    assert_eq!(
        (names(&change.added), names(&change.removed)),
        (vec!["d"], vec!["a"])
    );
    assert_eq!(
        (names(&change.changed), change.system, change.format),
        (vec!["b"], false, false)
    );
    assert_eq!(announced(&mut session).await, None);

    let mut session =
        session.with_system(SystemText::new().with_section("identity", "You sort mail."));
    let change = announced(&mut session).await.unwrap();
    assert!(
        change.system
            && change.added.is_empty()
            && change.removed.is_empty()
            && change.changed.is_empty()
    );
    session.clear();
    assert_eq!(
        announced(&mut session).await,
        None,
        "a new conversation has the same prefix"
    );
}

/// A service with this model, which takes definitions of this strictness.
fn service(model: &str, strictness: Strictness) -> Arc<Service> {
    Arc::new(Service(ProviderInfo {
        model: Some(model.to_owned()),
        wire: Some(WireOptions {
            strictness,
            ..WireOptions::new(Format::Anthropic)
        }),
        ..ProviderInfo::new("acme")
    }))
}

struct Service(ProviderInfo);

impl Provider for Service {
    fn about(&self) -> &ProviderInfo {
        &self.0
    }

    fn complete<'a>(&'a self, _request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(async { Ok(Turn::answer("done")) })
    }
}

#[tokio::test]
async fn only_a_change_of_what_is_sent_is_announced() {
    let mut catalog = catalog(["a", "b"]);
    let mut session = session(&catalog);
    let sent = async |strictness, session: &mut Session| {
        let log = EventLog::default();
        announced_by(
            Driver::new(service("large", strictness)).with_events(log.clone()),
            log,
            session,
        )
        .await
    };
    assert_eq!(sent(Strictness::Relaxed, &mut session).await, None);
    let tagged = Tool {
        tags: vec!["new".to_owned()],
        audit: false,
        ..tool("a")
    };
    catalog
        .replace(tagged, async |_: ToolContext, _: Value| String::new())
        .unwrap();
    session.refresh(catalog.list());
    assert_eq!(
        sent(Strictness::Relaxed, &mut session).await,
        None,
        "no service reads tags"
    );
    let change = sent(Strictness::Strict, &mut session).await.unwrap();
    assert_eq!(
        (names(&change.changed), change.format),
        (vec!["a", "b"], false)
    );
}

#[tokio::test]
async fn another_model_reads_the_prompt_anew() {
    let mut session = session(&catalog(["a"]));
    let asked = async |model, session: &mut Session| {
        let log = EventLog::default();
        let driver = Driver::new(service(model, Strictness::Relaxed)).with_events(log.clone());
        announced_by(driver, log, session).await
    };
    assert_eq!(asked("large", &mut session).await, None);
    let change = asked("small", &mut session).await.unwrap();
    assert!(
        change.model && change.changed.is_empty() && !change.system && !change.format,
        "{change:?}"
    );
    assert_eq!(asked("small", &mut session).await, None);
}

/// The tools of a program change while it does not run.
#[tokio::test]
async fn a_resumed_session_announces_the_changes_since_its_last_process() {
    let notebook = Notebook::default();
    let mut catalog = catalog(["a", "b"]);
    let open = |catalog: &Catalog, text: &str| {
        let cx = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        let system = SystemText::new().with_section("identity", text);
        Session::new(catalog.list(), Selection::new(), cx).with_system(system)
    };
    let driver = |model, log: &EventLog| {
        let service = service(model, Strictness::Relaxed);
        Driver::new(service)
            .with_events(log.clone())
            .with_checkpoints(true)
    };
    driver("large", &EventLog::default())
        .run(&mut open(&catalog, "You sort mail."), "go")
        .await
        .unwrap();
    let resumed = async |catalog: &Catalog, text, model| {
        let (log, mut session) = (EventLog::default(), open(catalog, text));
        let run = session.stored_run().await.unwrap().unwrap();
        driver(model, &log).resume(&mut session, run).await.unwrap();
        driver(model, &log)
            .run(&mut session, "and then")
            .await
            .unwrap();
        let change = |event| {
            if let Event::PrefixChanged(change) = event {
                Some(change)
            } else {
                None
            }
        };
        log.events()
            .into_iter()
            .filter_map(change)
            .collect::<Vec<_>>()
    };
    assert_eq!(resumed(&catalog, "You sort mail.", "large").await, []);

    assert!(catalog.unregister("a"));
    add(&mut catalog, "c");
    let changes = resumed(&catalog, "You sort mail.", "small").await;
    let [change] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (names(&change.added), names(&change.removed)),
        (vec!["c"], vec!["a"])
    );
    assert!(change.model && !change.system, "{change:?}");

    // A stored run keeps its system text, and the next run has the new one.
    let changes = resumed(&catalog, "You write mail.", "small").await;
    let [change] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert!(
        change.system && change.added.is_empty() && !change.model,
        "{change:?}"
    );
}
