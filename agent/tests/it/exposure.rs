//! Whether a session has read text from the open world.

use std::sync::Arc;

use agent::{Driver, Outcome, Run, Scripted, Session, Turn};
use serde_json::{Value, json};
use tools::context::KnownTexts;
use tools::{Catalog, Grant, ToolCall, ToolContext};

use crate::digging::{Digging, until};
use crate::notebook::Notebook;
use crate::spawn::{catalog, context, delegated, lead, session, spawning};
use crate::workshop::add;

/// The tools of this crate, one that reads a page, and one that tells whether its session has read any.
fn tools() -> Catalog {
    let mut catalog = catalog();
    let page = crate::workshop::tool("page");
    let effects =
        serde_json::from_value(json!({"reads": ["page:any"], "open_world": true})).unwrap();
    catalog
        .register(
            page.with_effects(effects),
            async |_: ToolContext, _: Value| "text".to_owned(),
        )
        .unwrap();
    let tells = async |cx: ToolContext, _: Value| {
        if cx.is_exposed() { "exposed" } else { "clean" }.to_owned()
    };
    catalog
        .register(crate::workshop::tool("tell"), tells)
        .unwrap();
    add(&mut catalog, "look");
    catalog
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("", name, json!({}))
}

#[tokio::test]
async fn a_session_and_its_sub_agents_share_what_they_have_read() {
    // The sub-agent reads, and then its agent knows.
    let mut own = session(&tools(), context());
    let calls = vec![spawning("s", json!({"name": "reader", "task": "read"}))];
    let reads = |name: &'static str| {
        move |_: &str, number: usize| {
            if number == 0 {
                Turn::calls([call(name)])
            } else {
                Turn::answer("read")
            }
        }
    };
    delegated(&mut own, lead(calls.clone(), reads("look"))).await;
    assert!(!own.context().is_exposed());
    let mut own = session(&tools(), context());
    delegated(&mut own, lead(calls, reads("page"))).await;
    assert!(own.context().is_exposed());

    // The agent reads, and then a sub-agent knows.
    let mut own = session(&tools(), context());
    own.execute("page", json!({})).await.unwrap();
    let calls = vec![spawning("s", json!({"name": "teller", "task": "tell"}))];
    let told = lead(calls, |_, number| match number {
        0 => Turn::calls([call("tell")]),
        _ => Turn::answer("told"),
    });
    let log = crate::workshop::EventLog::default();
    delegated(&mut own, told.with_events(log.clone())).await;
    assert!(format!("{:?}", log.events()).contains("exposed"));
}

#[tokio::test]
async fn a_prompt_of_a_person_makes_urls_known_and_a_task_for_a_sub_agent_does_not() {
    let mut own = session(&tools(), context());
    let calls = vec![spawning("s", json!({"name": "reader", "task": "secret"}))];
    delegated(&mut own, lead(calls, |_, _| Turn::answer("read"))).await;
    let known = own.context().service::<KnownTexts>().unwrap();
    let is_known = |text: &str| known.contains(&format!("https://a.example/{text}"));
    assert!(is_known("lead") && !is_known("secret"));
}

#[tokio::test]
async fn the_urls_of_a_turn_are_known_unless_the_model_had_read_text_of_strangers_before_it() {
    let read = |text: &str| {
        ToolCall::new(
            "",
            "page",
            json!({"urls": [format!("https://a.example/{text}")]}),
        )
    };
    let mut own = session(&tools(), context());
    let turns = [
        Turn::calls([read("first"), read("second")]),
        Turn::calls([read("third")]),
        Turn::answer("read"),
    ];
    driver(turns).run(&mut own, "go").await.unwrap();
    let known = own.context().service::<KnownTexts>().unwrap();
    let is_known = |text: &str| known.contains(&format!("https://a.example/{text}"));
    assert!(
        own.context().is_exposed() && is_known("first") && is_known("second") && !is_known("third")
    );
}

fn recorded(notebook: &Notebook) -> Session {
    session(
        &tools(),
        context()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("s"),
    )
}

fn driver(turns: impl IntoIterator<Item = Turn>) -> Driver {
    Driver::new(Arc::new(Scripted::new(turns))).with_checkpoints(true)
}

#[tokio::test]
async fn a_resumed_session_has_read_what_the_session_had() {
    for (name, is_exposed) in [("page", true), ("look", false)] {
        let notebook = Notebook::default();
        let turns = || {
            [
                Turn::calls([call(name)]),
                Turn::answer("done"),
                Turn::answer("done again"),
            ]
        };
        driver(turns())
            .run(&mut recorded(&notebook), "one")
            .await
            .unwrap();
        // Another prompt of another process, whose own calls read nothing.
        let mut second = recorded(&notebook);
        let run = second.stored_run().await.unwrap().unwrap();
        assert!(!second.context().is_exposed());
        driver([]).resume(&mut second, run).await.unwrap();
        assert_eq!(second.context().is_exposed(), is_exposed, "{name}");
        driver(turns()).run(&mut second, "two").await.unwrap();
        let mut third = recorded(&notebook);
        let run = third.stored_run().await.unwrap().unwrap();
        let summary = driver([]).resume(&mut third, run).await.unwrap();
        assert!(matches!(summary.outcome, Outcome::Answer { .. }));
        assert_eq!(third.context().is_exposed(), is_exposed, "{name}");
    }
}

#[tokio::test]
async fn a_session_that_was_stopped_after_it_had_read_has_read_when_it_is_resumed() {
    let (reads, digs) = (
        ToolCall::new("1", "page", json!({})),
        ToolCall::new("2", "dig", json!({})),
    );
    for turns in [
        // The checkpoint has the text.
        vec![
            Turn::calls([reads.clone()]),
            Turn::calls([digs.clone()]),
            Turn::answer("done"),
        ],
        // The journal alone has it.
        vec![Turn::calls([reads, digs]), Turn::answer("done")],
    ] {
        let mut catalog = tools();
        let digging = Digging::new(&mut catalog);
        let notebook = Notebook::default();
        let recorded = || {
            session(
                &catalog,
                context()
                    .with_journal(Arc::new(notebook.clone()))
                    .with_session("s"),
            )
        };
        let stopped = async {
            digging.until_begun(1).await;
            until(|| notebook.lines().iter().any(|line| line.kind == "outcome")).await;
        };
        let (mut first, stops) = (recorded(), driver(turns.clone()));
        tokio::select! {
            ended = stops.run(&mut first, "one") => panic!("{ended:?}"),
            () = stopped => {}
        }
        drop(first);

        digging.permits.add_permits(1);
        let mut second = recorded();
        let run = second.stored_run().await.unwrap().unwrap();
        assert!(!second.context().is_exposed());
        driver(turns).resume(&mut second, run).await.unwrap();
        assert!(second.context().is_exposed());
    }
}

#[tokio::test]
async fn a_resumed_session_goes_on_with_the_count_of_urls() {
    let mut catalog = tools();
    let mut read = crate::workshop::tool("read");
    read.parameters =
        json!({"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}});
    let effects =
        serde_json::from_value(json!({"reads": ["net:{url|host}"], "open_world": true})).unwrap();
    catalog
        .register(
            read.with_effects(effects),
            async |_: ToolContext, _: Value| "text".to_owned(),
        )
        .unwrap();
    let words = ["a", "b", "c", "d", "e", "f", "g"];
    let reads = |from: usize| {
        let urls =
            (from..from + 7).map(|number| format!("https://a.example/{}", words[number % 7]));
        urls.map(|url| ToolCall::new("", "read", json!({"url": url})))
            .map(|call| Turn::calls([call]))
            .collect::<Vec<_>>()
    };
    let notebook = Notebook::default();
    let recorded = || {
        let cx =
            context().with_grant(Grant::parse(["net:read:a.example", "page:read:**"]).unwrap());
        session(
            &catalog,
            cx.with_journal(Arc::new(notebook.clone()))
                .with_session("s"),
        )
    };
    // The conversation chooses the turn.
    let (mut failed, mut turns) = (Vec::new(), Vec::new());
    for number in 0..4 {
        let mut own = recorded();
        if let Some(run) = own.stored_run().await.unwrap() {
            driver([]).resume(&mut own, run).await.unwrap();
        }
        turns.extend(
            [
                vec![Turn::calls([call("page")])],
                reads(number),
                vec![Turn::answer("done")],
            ]
            .concat(),
        );
        let summary = driver(turns.clone())
            .run(&mut own, words.join(" "))
            .await
            .unwrap();
        failed.push(summary.failed_calls);
    }
    assert_eq!(failed, [0, 0, 1, 7]);
}

#[test]
fn a_run_of_an_earlier_version_may_have_read_anything() {
    let run = Run::new(Vec::new());
    let mut stored = serde_json::to_value(&run).unwrap();
    assert_eq!(stored["exposed"], false);
    stored.as_object_mut().unwrap().remove("exposed");
    let old: Run = serde_json::from_value(stored).unwrap();
    assert_eq!(serde_json::to_value(&old).unwrap()["exposed"], true);
}
