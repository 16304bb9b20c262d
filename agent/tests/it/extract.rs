//! Runs whose answer is a value of a type.

use agent::{
    DeferredConsent, Event, ExtractError, Outcome, Run, Selection, Session, StopReason, Turn,
    extract, extract_resumed,
};
use serde::Deserialize;
use serde_json::Value;
use tools::protocol::{Message, Role};
use tools::{Catalog, Effects, Host, JsonSchema, ToolContext};

use crate::workshop::{EventLog, calling, catalog, scripted, session, tool};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
#[serde(deny_unknown_fields)]
struct Town {
    name: String,
    #[schemars(range(min = 0))]
    people: u32,
    #[serde(default)]
    #[schemars(with = "String")]
    founded: Option<Year>,
}

/// A type whose schema accepts more than it reads.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Year(u32);

impl TryFrom<String> for Year {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

#[tokio::test]
async fn the_answer_after_calls_is_a_value_of_the_type() {
    let mut session = session(&catalog(["lookup"]));
    let turns = [
        calling(&["lookup"]),
        Turn::answer("```json\n{\"name\": \"Ulm\", \"people\": 126000}\n```"),
    ];
    let town: Town = extract(&scripted(turns), &mut session, "Which town?")
        .await
        .unwrap();
    assert_eq!(
        town,
        Town {
            name: "Ulm".to_owned(),
            people: 126_000,
            founded: None
        }
    );
    assert!(
        session.messages()[0].to_text().contains("\"people\""),
        "the prompt has the schema"
    );
}

#[tokio::test]
async fn a_wrong_answer_is_sent_back_with_its_violations_in_the_same_run() {
    let (mut session, log) = (session(&Catalog::new()), EventLog::default());
    let turns = [
        "It is Ulm.",
        r#"{"name": 7, "people": -1}"#,
        r#"{"name": "Ulm", "people": 1, "founded": "long ago"}"#,
        r#"{"name": "Ulm", "people": 1, "founded": "854"}"#,
    ];
    let driver = scripted(turns.map(Turn::answer)).with_events(log.clone());
    let town: Town = extract(&driver, &mut session, "Which town?").await.unwrap();
    assert_eq!(town.founded, Some(Year(854)));
    let repairs: Vec<_> = session
        .messages()
        .iter()
        .filter(|message| message.role == Role::User)
        .skip(1)
        .collect();
    let [prose, schema, type_] = &repairs[..] else {
        panic!("{repairs:?}")
    };
    assert!(prose.to_text().contains("not JSON"), "{}", prose.to_text());
    assert!(
        schema.to_text().contains("/name") && schema.to_text().contains("/people"),
        "{}",
        schema.to_text()
    );
    assert!(
        type_.to_text().contains("invalid digit"),
        "{}",
        type_.to_text()
    );
    let ends = log
        .events()
        .into_iter()
        .filter(|event| matches!(event, Event::Done(_)))
        .count();
    assert_eq!((ends, session.turns()), (1, 4));
}

#[tokio::test]
async fn the_value_of_a_paused_answer_is_read_from_all_of_its_parts() {
    let mut session = session(&Catalog::new());
    let driver = scripted([
        Turn {
            stop: StopReason::Paused,
            ..Turn::answer("{\"name\": \"Ulm\",")
        },
        Turn::answer("\"people\": 1}"),
    ]);
    let town: Town = extract(&driver, &mut session, "Which town?").await.unwrap();
    assert_eq!((town.name.as_str(), session.turns()), ("Ulm", 2));
}

#[tokio::test]
async fn repairs_end_with_the_budget_of_the_run() {
    let mut session = session(&Catalog::new());
    let driver = scripted(vec![Turn::answer("no"); 10]).with_max_steps(3);
    let error = extract::<Town>(&driver, &mut session, "Which town?")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ExtractError::NoValue {
                outcome: Outcome::Budget(_)
            }
        ),
        "{error:?}"
    );
    assert_eq!(session.turns(), 3);
}

#[tokio::test]
async fn a_refusal_is_not_repaired() {
    let mut session = session(&Catalog::new());
    let driver = scripted([
        Turn {
            stop: StopReason::Refusal,
            ..Turn::answer("no")
        },
        Turn::answer("never asked for"),
    ]);
    let error = extract::<Town>(&driver, &mut session, "Which town?")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    assert_eq!(session.turns(), 1);
}

#[tokio::test]
async fn a_failed_run_keeps_its_error() {
    let mut session = session(&Catalog::new());
    let error = extract::<Town>(&scripted([]), &mut session, "Which town?")
        .await
        .unwrap_err();
    assert!(matches!(error, ExtractError::Driver(_)), "{error:?}");
}

/// The messages that ask for another answer.
fn repairs(session: &Session) -> Vec<String> {
    let asked = session
        .messages()
        .iter()
        .filter(|message| message.role == Role::User);
    asked.skip(1).map(Message::to_text).collect()
}

#[tokio::test]
async fn a_run_that_waited_for_an_approval_is_resumed_to_a_value_of_the_type() {
    let mut catalog = Catalog::new();
    let write = tool("write").with_effects(Effects::Undeclared);
    catalog
        .register(write, async |_: ToolContext, _: Value| "written".to_owned())
        .unwrap();
    let cx = DeferredConsent::new().enter(Host::new());
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let driver = scripted([
        calling(&["write"]),
        Turn::answer("Ulm"),
        Turn::answer(r#"{"name": "Ulm", "people": 1}"#),
    ]);
    let error = extract::<Town>(&driver, &mut session, "Which town?")
        .await
        .unwrap_err();
    let ExtractError::NoValue {
        outcome: Outcome::WaitingForApproval { requests },
    } = error
    else {
        panic!("{error:?}")
    };

    session
        .context()
        .service::<DeferredConsent>()
        .unwrap()
        .allow(requests[0].clone());
    let run = session.waiting_run().unwrap().clone();
    let town: Town = extract_resumed(&driver, &mut session, run).await.unwrap();
    assert_eq!(
        (town.people, session.turns(), repairs(&session).len()),
        (1, 3, 1)
    );
}

#[tokio::test]
async fn a_run_that_has_its_answer_is_read_and_a_wrong_one_is_sent_back() {
    for (text, turns) in [(r#"{"name": "Ulm", "people": 1}"#, 1), ("Ulm", 2)] {
        let mut run = Run::new(vec![Message::text(Role::User, "Which town?")]);
        run.turn(Turn::answer(text)).unwrap();
        let mut session = session(&Catalog::new());
        let driver = scripted([
            Turn::answer("not asked for"),
            Turn::answer(r#"{"name": "Ulm", "people": 1}"#),
        ]);
        let town: Town = extract_resumed(&driver, &mut session, run).await.unwrap();
        assert_eq!((town.people, session.turns()), (1, turns), "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_asked_for_once_more_and_shorter() {
    let cut = || Turn {
        stop: StopReason::Length,
        ..Turn::answer(r#"{"name": "Ul"#)
    };
    let whole = || Turn::answer(r#"{"name": "Ulm", "people": 1}"#);
    let mut repaired = session(&Catalog::new());
    let town: Town = extract(&scripted([cut(), whole()]), &mut repaired, "Which town?")
        .await
        .unwrap();
    assert_eq!(town.people, 1);
    let asked = repairs(&repaired);
    assert!(
        asked.len() == 1 && asked[0].contains("shorter") && !asked[0].contains("not JSON"),
        "{asked:?}"
    );

    for turns in [
        vec![cut(), cut(), whole()],
        vec![cut(), Turn::answer("Ulm"), cut(), whole()],
    ] {
        let (count, mut session) = (turns.len() as u64, session(&Catalog::new()));
        let error = extract::<Town>(&scripted(turns), &mut session, "Which town?")
            .await
            .unwrap_err();
        assert!(matches!(error, ExtractError::TooLong), "{error:?}");
        assert_eq!(session.turns(), count - 1);
    }
    let lucky = scripted([Turn {
        stop: StopReason::Length,
        ..whole()
    }]);
    extract::<Town>(&lucky, &mut session(&Catalog::new()), "Which town?")
        .await
        .unwrap();
}
