//! Changes of the prompt prefix between the runs of a session.

use std::sync::Arc;

use agent::{
    Driver, Event, PrefixChange, Provider, Request, Session, SystemText, ToolSet, Turn, TurnFuture, WireToolSet,
};
use serde_json::Value;
use tools::protocol::wire::{Format, Strictness};
use tools::{Tool, ToolContext};

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

async fn announced_by(driver: Driver, log: EventLog, session: &mut Session) -> Option<PrefixChange> {
    driver.run(session, "go").await.unwrap();
    let is_change = |event: &Event| matches!(event, Event::PrefixChanged(_));
    let events = log.events();
    assert!(!events[1..].iter().any(is_change), "{events:?}");
    if let Event::PrefixChanged(change) = &events[0] { Some(change.clone()) } else { None }
}

#[tokio::test]
async fn a_changed_prefix_is_announced_once_with_its_parts() {
    let mut catalog = catalog(["a", "b", "c"]);
    let mut session = session(&catalog);
    assert_eq!(announced(&mut session).await, None, "the first run changes nothing");
    session.refresh(catalog.list());
    assert_eq!(announced(&mut session).await, None, "the same tools again");

    assert!(catalog.unregister("a"));
    let changed = Tool { description: "Another one.".to_owned(), ..tool("b") };
    catalog.replace(changed, async |_: ToolContext, _: Value| String::new()).unwrap();
    add(&mut catalog, "d");
    session.refresh(catalog.list());
    let change = announced(&mut session).await.unwrap();
    assert_eq!((names(&change.added), names(&change.removed)), (vec!["d"], vec!["a"]));
    assert_eq!((names(&change.changed), change.system, change.format), (vec!["b"], false, false));
    assert_eq!(announced(&mut session).await, None);

    let mut session = session.with_system(SystemText::new().with_section("identity", "You sort mail."));
    let change = announced(&mut session).await.unwrap();
    assert!(change.system && change.added.is_empty() && change.removed.is_empty() && change.changed.is_empty());
    session.clear();
    assert_eq!(announced(&mut session).await, None, "a new conversation has the same prefix");
}

/// A service that takes definitions of this strictness.
struct Service(Strictness);

impl Provider for Service {
    fn name(&self) -> &str {
        "acme"
    }

    fn wire(&self) -> Option<Format> {
        Some(Format::Anthropic)
    }

    fn wire_tools<'s>(&self, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
        Some(tools.wire(Format::Anthropic, self.0))
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
        announced_by(Driver::new(Arc::new(Service(strictness))).with_events(log.clone()), log, session).await
    };
    assert_eq!(sent(Strictness::Relaxed, &mut session).await, None);
    let tagged = Tool { tags: vec!["new".to_owned()], audit: false, ..tool("a") };
    catalog.replace(tagged, async |_: ToolContext, _: Value| String::new()).unwrap();
    session.refresh(catalog.list());
    assert_eq!(sent(Strictness::Relaxed, &mut session).await, None, "no service reads tags");
    let change = sent(Strictness::Strict, &mut session).await.unwrap();
    assert_eq!((names(&change.changed), change.format), (vec!["a", "b"], false));
}
