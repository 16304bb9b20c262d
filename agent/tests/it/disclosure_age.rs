//! Found tools are forgotten after some turns.

use std::num::NonZeroU32;

use agent::{Disclosure, DisclosureBudget, RunOptions, Selection, Turn};
use serde_json::json;
use tools::ToolCall;
use tools::protocol::Message;

use crate::disclosure::{Model, searching, session, shop, turn};
use crate::small_context::{tokens, too_long};
use crate::workshop::{playing, results};

#[tokio::test]
async fn a_found_tool_is_forgotten_after_its_turns() {
    let call = || turn("mail__archive_invoice", json!({"invoice_id": "1"}));
    let other = || {
        turn(
            "tools__call",
            json!({"name": "mail__list_page", "arguments": {"page_id": "1"}}),
        )
    };
    let turns = [
        searching("archive invoice mail"),
        call(),
        other(),
        other(),
        call(),
        call(),
        Turn::answer("done"),
    ];
    let model = Model::new(turns);
    let budget = DisclosureBudget {
        found_turns: NonZeroU32::new(2).unwrap(),
        ..DisclosureBudget::default()
    };
    let disclosure = Disclosure::Search {
        always: Selection::none(),
        budget,
    };
    let mut session = session(&shop(200)).with_disclosure(disclosure);
    model.driver().run(&mut session, "go").await.unwrap();
    let results = results(session.messages());
    let failed: Vec<_> = results.iter().map(|(_, result)| result.is_error).collect();
    assert_eq!(failed, [false, false, false, false, true, false]);
    let text = results[4].1.to_text();
    assert!(
        text.contains("because no recent search or call has shown its definition"),
        "{text}"
    );
}

#[tokio::test]
async fn a_found_tool_can_be_called_in_the_next_turn_with_the_least_age_limit() {
    let call = || turn("mail__archive_invoice", json!({"invoice_id": "1"}));
    let model = Model::new([
        searching("archive invoice mail"),
        call(),
        Turn::answer("done"),
    ]);
    let budget = DisclosureBudget {
        found_turns: NonZeroU32::MIN,
        ..DisclosureBudget::default()
    };
    let disclosure = Disclosure::Search {
        always: Selection::none(),
        budget,
    };
    let mut session = session(&shop(200)).with_disclosure(disclosure);
    model.driver().run(&mut session, "go").await.unwrap();
    assert_eq!(
        results(session.messages())[1].1.to_text(),
        "done mail.archive_invoice"
    );
}

#[tokio::test]
async fn a_summary_names_the_found_tools_that_were_called() {
    let call = |number: usize, name: &str, arguments| {
        Turn::calls([ToolCall::new(format!("c{number}"), name, arguments)])
    };
    let play = playing(move |request| {
        let last = request
            .messages
            .iter()
            .rev()
            .flat_map(Message::calls)
            .next();
        let number = last.map_or(0, |call| call.id[1..].parse::<usize>().unwrap() + 1);
        let invoice = json!({"invoice_id": number.to_string(), "comment": "word ".repeat(200)});
        let turn = match number {
            _ if request.is_summary => Turn::answer("Summary."),
            0 => call(
                number,
                "tools.search",
                json!({"query": "invoice mail", "limit": 3}),
            ),
            1 => call(
                number,
                "tools.call",
                json!({"name": "mail.merge_seed", "arguments": {"seed_id": "1"}}),
            ),
            2..20 => call(
                number,
                "tools.call",
                json!({"name": "mail.archive_invoice", "arguments": invoice}),
            ),
            _ => Turn::answer(request.messages[1].to_text()),
        };
        Box::pin(async move { Ok(turn) })
    });
    for (found_turns, expected) in [
        (50, vec!["mail.archive_invoice", "mail.merge_seed"]),
        (9, vec!["mail.archive_invoice"]),
    ] {
        let budget = DisclosureBudget {
            found_turns: NonZeroU32::new(found_turns).unwrap(),
            ..DisclosureBudget::default()
        };
        let disclosure = Disclosure::Search {
            always: Selection::none(),
            budget,
        };
        let mut session = session(&shop(200)).with_disclosure(disclosure);
        let driver = play.clone().with_options(RunOptions {
            context_tokens: Some(4_000),
            ..RunOptions::default()
        });
        driver.run(&mut session, "go").await.unwrap();
        let summary = session.messages().last().unwrap().to_text();
        assert!(summary.contains("Summary."), "{summary}");
        let named: Vec<_> = [
            "mail.archive_invoice",
            "mail.create_invoice",
            "mail.merge_seed",
            "tools.search",
        ]
        .into_iter()
        .filter(|name| summary.contains(name))
        .collect();
        assert_eq!(named, expected, "{summary}");
    }
}

#[tokio::test]
async fn the_list_of_calls_in_place_of_a_summary_names_the_called_tools() {
    let play = playing(move |request| {
        let last = request
            .messages
            .iter()
            .rev()
            .flat_map(Message::calls)
            .next();
        let number = last.map_or(0, |call| call.id[1..].parse::<usize>().unwrap() + 1);
        let name = if number == 0 {
            "x".repeat(9_000)
        } else {
            "mail.archive_invoice".to_owned()
        };
        let invoice = json!({"invoice_id": number.to_string(), "comment": "word ".repeat(200)});
        let call = ToolCall::new(
            format!("c{number}"),
            "tools.call",
            json!({"name": name, "arguments": invoice}),
        );
        let turn = match number {
            _ if request.is_summary => Ok(Turn::answer("")),
            _ if tokens(request.messages) > 6_000 => Err(too_long()),
            ..20 => Ok(Turn::calls([call])),
            _ => Ok(Turn::answer(request.messages[1].to_text())),
        };
        Box::pin(async move { turn })
    });
    let mut session = session(&shop(200));
    play.run(&mut session, "go").await.unwrap();
    let list = session.messages().last().unwrap().to_text();
    assert!(
        list.contains("[Your calls: mail.archive_invoice (") && list.contains("tools.call (1)]"),
        "{list}"
    );
}
