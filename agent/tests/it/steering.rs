//! Messages that are sent to a run while it goes on.

use std::sync::{Arc, Mutex};

use agent::{DriverError, Event, ImageLimits, Outcome, Prompt, ProviderError, RunHandle, Turn};
use serde_json::Value;
use tools::context::KnownTexts;
use tools::protocol::{Message, Role};
use tools::{Catalog, Content, Host, OutsideText, ToolContext};

use crate::notebook::Notebook;
use crate::workshop::{EventLog, add, answer, calling, catalog, playing, scripted, session, tool};

/// A catalog with the tool `sends`, whose call sends a message to the run, and `fine`.
fn sending(handle: &RunHandle, message: &'static str) -> Catalog {
    let mut catalog = catalog(["fine"]);
    let handle = handle.clone();
    let send = move |_: ToolContext, _: Value| {
        handle.send(message).unwrap();
        async { "sent".to_owned() }
    };
    catalog.register(tool("sends"), send).unwrap();
    catalog
}

fn roles(messages: &[Message]) -> Vec<Role> {
    messages.iter().map(|message| message.role).collect()
}

#[tokio::test]
async fn a_message_enters_after_all_results_and_before_the_next_request() {
    let handle = RunHandle::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = seen.clone();
    let driver = playing(move |request| {
        let mut seen = requests.lock().unwrap();
        seen.push(roles(request.messages));
        let turn = if seen.len() == 1 {
            calling(&["sends", "fine"])
        } else {
            Turn::answer("both")
        };
        Box::pin(async { Ok(turn) })
    });
    let log = EventLog::default();
    let notebook = Notebook::default();
    let open = || {
        let host = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        agent::Session::new(
            sending(&handle, "and https://a.example/b?").list(),
            agent::Selection::new(),
            host,
        )
    };
    let mut session = open();
    let driver = driver
        .with_handle(handle.clone())
        .with_events(log.clone())
        .with_checkpoints(true);
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary.outcome), "both");
    let conversation = [Role::User, Role::Assistant, Role::Tool, Role::User];
    assert_eq!(seen.lock().unwrap()[1], conversation);
    assert_eq!(session.messages()[3].to_text(), "and https://a.example/b?");
    let known = session.context().service::<KnownTexts>().unwrap();
    assert!(known.contains("https://a.example/b"));
    let order = |wanted: fn(&Event) -> bool| log.events().iter().position(wanted).unwrap();
    let steered =
        order(|event| matches!(event, Event::Steered { text } if text.starts_with("and")));
    assert!(steered < order(|event| matches!(event, Event::Text { .. })));
    let events = log.events();
    let results = events[..steered].iter();
    let results = results.filter(|event| matches!(event, Event::Result { .. }));
    assert_eq!(results.count(), 2);
    let stored = open().stored_run().await.unwrap().unwrap();
    assert_eq!(roles(stored.messages())[..4], conversation);
}

#[tokio::test]
async fn a_message_beside_the_answer_makes_the_run_go_on() {
    let handle = RunHandle::new();
    let sender = handle.clone();
    let driver = scripted([Turn::answer("one"), Turn::answer("two")])
        .with_handle(handle.clone())
        .with_events(move |event: Event| {
            if matches!(event, Event::Text { text } if text == "one") {
                sender.send("more").unwrap();
            }
        });
    let mut session = session(&Catalog::new());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!((answer(&summary.outcome), summary.steps), ("two", 2));
    let texts: Vec<_> = session.messages().iter().map(Message::to_text).collect();
    assert_eq!(texts, ["go", "one", "more", "two"]);
    assert_eq!(handle.send("late"), Err(Prompt::from("late")));
}

#[tokio::test]
async fn a_run_that_fails_at_the_next_request_is_resumed_with_the_message() {
    let handle = RunHandle::new();
    let catalog = sending(&handle, "stay brief");
    let notebook = Notebook::default();
    let open = || {
        let host = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        agent::Session::new(catalog.list(), agent::Selection::new(), host)
    };
    let failing = scripted([calling(&["sends"])]).with_checkpoints(true);
    let failed = failing.with_handle(handle).run(&mut open(), "go").await;
    assert!(matches!(
        failed,
        Err(DriverError::Provider(ProviderError::OutOfTurns { .. }))
    ));
    let mut session = open();
    let stored = session.stored_run().await.unwrap().unwrap();
    let driver = scripted([calling(&["sends"]), Turn::answer("done")]);
    driver.resume(&mut session, stored).await.unwrap();
    assert_eq!(session.messages()[3].to_text(), "stay brief");
}

#[tokio::test]
async fn a_cancelled_run_leaves_its_messages() {
    let handle = RunHandle::new();
    let stop = handle.clone();
    let mut catalog = Catalog::new();
    let cancels = move |_: ToolContext, _: Value| {
        stop.send("too late").unwrap();
        stop.cancel();
        async { "cancelled".to_owned() }
    };
    catalog.register(tool("cancels"), cancels).unwrap();
    let driver = scripted([calling(&["cancels"]), Turn::answer("done")]);
    let mut session = session(&catalog);
    let driver = driver.with_handle(handle.clone());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(summary.outcome, Outcome::Cancelled);
    assert_eq!(handle.take_waiting(), [Prompt::from("too late")]);
}

#[tokio::test]
async fn a_text_from_outside_in_a_prompt_is_not_the_persons() {
    let mut catalog = Catalog::new();
    add(&mut catalog, "fine");
    let mut session = session(&catalog);
    let file = OutsideText::new("a.md", "https://evil.example/secret").to_string();
    let prompt = Prompt::from("read https://a.example/b and")
        .with_content([Content::text(file), Content::text("https://a.example/c")]);
    scripted([Turn::answer("done")])
        .run(&mut session, prompt)
        .await
        .unwrap();
    let known = session.context().service::<KnownTexts>().unwrap();
    for (url, is_known) in [
        ("https://a.example/b", true),
        ("https://a.example/c", true),
        ("https://evil.example/secret", false),
    ] {
        assert_eq!(known.contains(url), is_known, "{url}");
    }
}

#[test]
fn an_image_is_checked_by_type_and_size() {
    let mut info = agent::ProviderInfo::new("lab");
    let image = |mime_type: &str, bytes: usize| {
        let image = Content::Image {
            data: "A".repeat(bytes),
            mime_type: mime_type.to_owned(),
        };
        Prompt::from(vec![image])
    };
    info.check_prompt(&image("image/tiff", 9)).unwrap();
    info.images = ImageLimits {
        max_base64_bytes: Some(8),
        types: vec!["image/png".to_owned()],
        ..ImageLimits::default()
    };
    info.check_prompt(&image("image/png", 8)).unwrap();
    for (prompt, reason) in [
        (
            image("image/png", 9),
            "the service takes 8 bytes in base64, and not 9",
        ),
        (
            image("image/gif", 1),
            "the service takes image/png, and not image/gif; convert it",
        ),
    ] {
        let error = info.check_prompt(&prompt).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
