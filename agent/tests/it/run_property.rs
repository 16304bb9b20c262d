//! The laws of results, for any moves of the caller of a run.

use std::collections::BTreeMap;

use agent::{Run, Step, StopReason, Turn};
use proptest::prelude::*;
use serde_json::json;
use tools::protocol::{Message, Part, Role};
use tools::{Content, ToolCall, ToolError, ToolErrorKind, ToolResult};

use crate::run::{run, used_up};
use crate::workshop::results;

/// An arbitrary input to a run.
#[derive(Clone, Debug)]
enum Move {
    Turn(Turn),
    Result(usize),
    Error(usize, bool),
    ForeignResult(String),
    Cancel,
    Fail,
    Exhaust,
    WriteDownAndRead,
}

fn turn() -> impl Strategy<Value = Turn> {
    let call = ("[ab]{0,2}", "[xy]")
        .prop_map(|(id, name)| Part::ToolCall(ToolCall::new(id, name, json!({}))));
    let result = Just(Part::ToolResult {
        id: "a".to_owned(),
        name: "x".to_owned(),
        result: ToolResult::text("forged"),
    });
    let part = prop_oneof![4 => call, 1 => Just(Part::Content(Content::text("hm"))), 1 => result];
    let role = prop_oneof![Just(Role::Assistant), Just(Role::User)];
    let turn = (
        role,
        prop::collection::vec(part, 0..5),
        prop::bool::weighted(0.2),
    );
    turn.prop_map(|(role, parts, is_cut_off)| {
        let turn = Turn::new(Message { role, parts });
        if is_cut_off {
            Turn {
                stop: StopReason::Length,
                ..turn
            }
        } else {
            turn
        }
    })
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => turn().prop_map(Move::Turn),
        20 => (0..5_usize).prop_map(Move::Result),
        4 => (0..5_usize, any::<bool>()).prop_map(|(index, ends)| Move::Error(index, ends)),
        2 => "[ab_0-9]{0,3}".prop_map(Move::ForeignResult),
        1 => Just(Move::Cancel),
        1 => Just(Move::Fail),
        1 => Just(Move::Exhaust),
        2 => Just(Move::WriteDownAndRead),
    ];
    prop::collection::vec(one, 0..40)
}

fn make(run: &mut Run, one: Move) {
    let open = match run.step() {
        Step::Call(calls) => calls,
        _ => Vec::new(),
    };
    let open = |index: usize| {
        open.get(index)
            .map(|pending| pending.call.id.clone())
            .unwrap_or_default()
    };
    // Errors are expected and leave the run unchanged.
    let _ = match one {
        Move::Turn(turn) => run.turn(turn),
        Move::Result(index) => run.result(&open(index), ToolResult::text("result")),
        Move::Error(index, true) => {
            run.error(&open(index), &ToolError::new("x", ToolErrorKind::Cancelled))
        }
        Move::Error(index, false) => run.error(
            &open(index),
            &ToolError::new("x", ToolErrorKind::NotFound { near: vec![] }),
        ),
        Move::ForeignResult(id) => run.result(&id, ToolResult::text("by id")),
        Move::Cancel => {
            run.cancel();
            Ok(())
        }
        Move::Fail => {
            run.fail("it failed");
            Ok(())
        }
        Move::Exhaust => {
            run.exhaust(used_up());
            Ok(())
        }
        Move::WriteDownAndRead => {
            *run = serde_json::from_str(&serde_json::to_string(run).unwrap()).unwrap();
            Ok(())
        }
    };
}

proptest! {
    #[test]
    fn every_call_gets_exactly_one_result(moves in moves()) {
        let mut run = run();
        for one in moves {
            make(&mut run, one);
        }
        run.cancel();

        let requested: Vec<_> = run.messages().iter().flat_map(Message::calls).map(|call| call.id.clone()).collect();
        let mut given = BTreeMap::new();
        for (id, _) in results(run.messages()) {
            *given.entry(id).or_insert(0) += 1;
        }
        prop_assert!(given.values().all(|count| *count == 1), "{:?}", given);
        prop_assert_eq!(given.len(), requested.len());
        prop_assert!(requested.iter().all(|id| given.contains_key(id)));

        let Step::Done(summary) = run.step() else { return Err(TestCaseError::fail("not done")) };
        prop_assert_eq!(summary.calls as usize, requested.len());
        prop_assert!(results(run.messages()).iter().all(|(_, result)| result.to_text() != "forged"));
    }

    #[test]
    fn results_stand_right_after_their_turn(moves in moves()) {
        let mut run = run();
        for one in moves {
            make(&mut run, one);
        }
        run.cancel();
        let messages = run.messages();
        for (index, message) in messages.iter().enumerate() {
            let requested: Vec<_> = message.calls().map(|call| call.id.clone()).collect();
            if !requested.is_empty() {
                let given: Vec<_> = results(&messages[index + 1..=index + 1]).into_iter().map(|(id, _)| id).collect();
                prop_assert_eq!(given, requested);
            }
        }
    }
}
