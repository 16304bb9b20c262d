//! The run as a state machine.

use crate::workshop::{calling, kind, results};
use agent::{
    BudgetScope, Exhausted, Outcome, Resource, Run, RunError, Step, StopReason, Turn, Usage,
};
use serde_json::json;
use tools::protocol::{Message, Role};
use tools::{ToolCall, ToolError, ToolErrorKind, ToolResult};

pub(crate) fn run() -> Run {
    Run::new(vec![Message::text(Role::User, "go")])
}

pub(crate) fn used_up() -> Exhausted {
    Exhausted {
        resource: Resource::Calls,
        limit: 2,
        scope: BudgetScope::Run,
    }
}

fn calls(run: &Run) -> Vec<ToolCall> {
    match run.step() {
        Step::Call(pending) => pending.into_iter().map(|pending| pending.call).collect(),
        other => panic!("no calls: {other:?}"),
    }
}

fn outcome(run: &Run) -> Outcome {
    match run.step() {
        Step::Done(summary) => summary.outcome,
        other => panic!("not done: {other:?}"),
    }
}

#[test]
fn a_turn_without_calls_is_the_answer() {
    let mut run = run();
    run.turn(Turn {
        stop: StopReason::Length,
        ..Turn::answer("done")
    })
    .unwrap();
    assert_eq!(
        outcome(&run),
        Outcome::Answer {
            text: "done".to_owned(),
            stop: StopReason::Length
        }
    );
    assert_eq!(
        run.turn(Turn::answer("more")),
        Err(RunError::UnexpectedTurn)
    );
}

#[test]
fn a_paused_turn_is_a_step_and_the_next_turn_goes_on_with_it() {
    let mut run = run();
    run.turn(Turn {
        stop: StopReason::Paused,
        ..Turn::answer("I search")
    })
    .unwrap();
    assert_eq!(run.step(), Step::Ask);
    run.exhaust(used_up());
    let mut run: Run = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
    assert_eq!(outcome(&run), Outcome::Budget(used_up()));
    run = run.reopen();
    run.turn(Turn::answer("and find")).unwrap();
    assert_eq!(
        outcome(&run),
        Outcome::Answer {
            text: "I search\nand find".to_owned(),
            stop: StopReason::Answer
        }
    );
    let Step::Done(summary) = run.step() else {
        panic!()
    };
    assert_eq!((summary.steps, run.messages().len()), (2, 3));
}

#[test]
fn the_calls_of_a_paused_turn_are_run_before_the_next_request() {
    let mut run = run();
    run.turn(Turn {
        stop: StopReason::Paused,
        ..calling(&["x"])
    })
    .unwrap();
    assert_eq!(calls(&run).len(), 1);
    run.result("a", ToolResult::text("1")).unwrap();
    assert_eq!(run.step(), Step::Ask);
    run.turn(Turn::answer("done")).unwrap();
    assert_eq!(
        outcome(&run),
        Outcome::Answer {
            text: "done".to_owned(),
            stop: StopReason::Answer
        }
    );
}

#[test]
fn results_follow_in_the_order_of_the_calls() {
    let mut run = run();
    run.turn(calling(&["x", "y", "z"])).unwrap();
    for id in ["c", "a", "b"] {
        run.result(id, ToolResult::text(id)).unwrap();
    }
    let ids: Vec<_> = results(run.messages())
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(run.messages().last().unwrap().role, Role::Tool);
    assert_eq!(run.step(), Step::Ask);
}

#[test]
fn a_second_result_and_one_of_no_call_are_refused() {
    let mut run = run();
    run.turn(calling(&["x", "y"])).unwrap();
    run.result("a", ToolResult::text("1")).unwrap();
    assert_eq!(
        calls(&run)
            .iter()
            .map(|call| call.id.as_str())
            .collect::<Vec<_>>(),
        ["b"],
        "the calls without a result"
    );
    assert_eq!(
        run.result("a", ToolResult::text("2")),
        Err(RunError::AlreadyAnswered { id: "a".to_owned() })
    );
    assert_eq!(
        run.result("q", ToolResult::text("2")),
        Err(RunError::UnknownCall { id: "q".to_owned() })
    );
    run.result("b", ToolResult::text("1")).unwrap();
    assert_eq!(
        run.result("b", ToolResult::text("2")),
        Err(RunError::UnknownCall { id: "b".to_owned() })
    );
}

#[test]
fn calls_without_an_id_of_their_own_get_one() {
    let mut run = run();
    let call = |id: &str| ToolCall::new(id, "x", json!({}));
    run.turn(Turn::calls([
        call(""),
        call("a"),
        call("a"),
        call(" "),
        call("call_1"),
    ]))
    .unwrap();
    let ids: Vec<_> = calls(&run).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_1", "a", "a_2", "call_2", "call_1_2"]);
    ids.iter()
        .for_each(|id| run.result(id, ToolResult::default()).unwrap());

    run.turn(calling(&["x"])).unwrap();
    assert_eq!(
        calls(&run)[0].id,
        "a_3",
        "an id of an earlier turn stays its call's"
    );
}

#[test]
fn calls_of_a_turn_that_was_cut_off_are_refused_and_the_run_goes_on() {
    let mut run = run();
    run.turn(Turn {
        stop: StopReason::Length,
        ..calling(&["x", "y"])
    })
    .unwrap();
    let Step::Call(pending) = run.step() else {
        panic!()
    };
    assert_eq!(pending.len(), 2);
    let reason = "the turn was cut off by the length limit, so this call was not run; make it again, shorter";
    for pending in &pending {
        let refusal = pending.refusal().unwrap();
        assert_eq!(
            (refusal.is_error, refusal.to_text().as_str()),
            (true, reason)
        );
    }
    run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    run.result("a", pending[0].refusal().unwrap()).unwrap();
    run.result("b", ToolResult::text("run all the same"))
        .unwrap();
    assert_eq!(run.step(), Step::Ask);
    assert!(
        results(run.messages())
            .iter()
            .all(|(_, result)| result.to_text() == reason)
    );

    run.turn(Turn {
        stop: StopReason::Length,
        ..calling(&["x"])
    })
    .unwrap();
    let broken = ToolError::new(
        "x",
        ToolErrorKind::Internal {
            message: "broken".to_owned(),
        },
    );
    run.error("a_2", &broken).unwrap();
    assert_eq!(
        run.step(),
        Step::Ask,
        "a refused call does not fail the run"
    );
}

#[test]
fn every_deserialised_run_has_a_next_step() {
    let mut run = run();
    run.turn(calling(&["x", "y"])).unwrap();
    let mut written = json!(run);
    written["state"]["calling"]["places"][1]["pending"]["call"]["id"] = json!("a");
    let error = serde_json::from_value::<Run>(written.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        RunError::RepeatedId { id: "a".to_owned() }.to_string()
    );
    written["state"]["calling"]["places"] = json!([]);
    assert_eq!(
        serde_json::from_value::<Run>(written).unwrap().step(),
        Step::Ask
    );
}

#[test]
fn calls_know_their_place_and_a_run_the_number_of_its_turn() {
    let mut run = run().with_earlier_turns(7);
    run.turn(calling(&["x", "y", "z"])).unwrap();
    run.result("a", ToolResult::default()).unwrap();
    run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let Step::Call(pending) = run.step() else {
        panic!()
    };
    assert_eq!(
        pending
            .iter()
            .map(|pending| pending.index)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(run.turns(), 8);
}

#[test]
fn a_run_of_very_many_turns_has_an_id_for_every_call() {
    // If the cost of a turn grew with the number of turns, this would take minutes.
    let turns = 20_000;
    let mut run = run();
    for turn in 1..=turns {
        run.turn(Turn::calls(
            ["", "a"].map(|id| ToolCall::new(id, "x", json!({}))),
        ))
        .unwrap();
        let ids = calls(&run)
            .into_iter()
            .map(|call| call.id)
            .collect::<Vec<_>>();
        let second = if turn == 1 {
            "a".to_owned()
        } else {
            format!("a_{turn}")
        };
        assert_eq!(ids, [format!("call_{turn}"), second]);
        ids.iter()
            .for_each(|id| run.result(id, ToolResult::default()).unwrap());
    }
    assert_eq!(run.step(), Step::Ask);
}

#[test]
fn ids_stay_unique_after_the_run_was_written_down() {
    let mut run = run();
    let ids = ["", "a", "a_2"];
    let requested = |run: &mut Run| {
        run.turn(Turn::calls(ids.map(|id| ToolCall::new(id, "x", json!({})))))
            .unwrap();
        let ids: Vec<_> = calls(run).into_iter().map(|call| call.id).collect();
        ids.iter()
            .for_each(|id| run.result(id, ToolResult::default()).unwrap());
        ids
    };
    requested(&mut run);
    let mut read: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(requested(&mut run), ["call_2", "a_3", "a_2_2"]);
    assert_eq!(requested(&mut read), ["call_2", "a_3", "a_2_2"]);
    assert_eq!(requested(&mut run), requested(&mut read));
}

#[test]
fn a_run_whose_budget_is_used_up_still_takes_the_results_of_its_calls() {
    let mut run = run();
    run.turn(calling(&["x", "y"])).unwrap();
    run.exhaust(used_up());
    run.result("a", ToolResult::text("1")).unwrap();
    assert_eq!(calls(&run).len(), 1);
    run.result("b", ToolResult::text("2")).unwrap();
    assert_eq!(outcome(&run), Outcome::Budget(used_up()));
    assert_eq!(results(run.messages()).len(), 2);
    run.exhaust(Exhausted {
        limit: 3,
        ..used_up()
    });
    assert_eq!(
        outcome(&run),
        Outcome::Budget(used_up()),
        "a run that is over stays as it is"
    );
    assert_eq!(run.reopen().step(), Step::Ask);
}

#[test]
fn an_answered_run_is_not_reopened() {
    let mut run = run();
    run.turn(Turn::answer("done")).unwrap();
    assert!(run.reopen().is_answered());
}

#[test]
fn a_run_that_an_earlier_version_ended_at_its_steps_is_read() {
    let mut run = run();
    run.exhaust(Exhausted {
        resource: Resource::Steps,
        limit: 7,
        scope: BudgetScope::Run,
    });
    let mut stored = json!(run);
    stored["max_steps"] = json!(7);
    stored["state"] = json!({"done": {"kind": "step_budget", "max_steps": 7}});
    assert_eq!(serde_json::from_value::<Run>(stored).unwrap(), run);
}

#[test]
fn a_cancelled_run_gives_every_open_call_a_result_that_says_so() {
    let mut run = run();
    run.turn(calling(&["x", "y"])).unwrap();
    run.result("b", ToolResult::text("in time")).unwrap();
    run.cancel();
    assert_eq!(outcome(&run), Outcome::Cancelled);
    let results = results(run.messages());
    assert_eq!(
        (kind(&results[0].1), results[1].1.to_text().as_str()),
        ("cancelled", "in time")
    );

    run.fail("too late");
    assert_eq!(
        outcome(&run),
        Outcome::Cancelled,
        "a run that is over stays as it is"
    );
}

#[test]
fn an_error_that_nothing_can_mend_ends_the_run_after_all_results() {
    let broken = ToolError::new(
        "x",
        ToolErrorKind::Internal {
            message: "broken".to_owned(),
        },
    );
    let cancelled = ToolError::new("y", ToolErrorKind::Cancelled);
    let mut run = run();
    run.turn(calling(&["x", "y", "z"])).unwrap();
    run.error("b", &cancelled).unwrap();
    run.error("a", &broken).unwrap();
    assert_eq!(calls(&run).len(), 1);
    run.result("c", ToolResult::text("fine")).unwrap();
    assert!(matches!(outcome(&run), Outcome::Failed { message, .. } if message.contains("broken")));
    assert_eq!(results(run.messages()).len(), 3);
}

#[test]
fn a_summary_counts_turns_calls_failures_and_tokens() {
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 2,
        cached_input_tokens: 5,
        ..Usage::default()
    };
    let mut run = run();
    run.turn(Turn {
        usage: Some(usage),
        ..calling(&["x", "y"])
    })
    .unwrap();
    run.result("a", ToolResult::error("no")).unwrap();
    run.result("b", ToolResult::text("yes")).unwrap();
    run.turn(Turn {
        usage: Some(usage),
        ..Turn::answer("done")
    })
    .unwrap();
    let Step::Done(summary) = run.step() else {
        panic!()
    };
    assert_eq!(
        (summary.steps, summary.calls, summary.failed_calls),
        (2, 2, 1)
    );
    assert_eq!(
        summary.usage,
        Some(Usage {
            input_tokens: 20,
            output_tokens: 4,
            cached_input_tokens: 10,
            ..Usage::default()
        })
    );
}

#[test]
fn a_run_goes_on_from_what_was_written_down() {
    let mut run = run();
    run.turn(calling(&["x", "y"])).unwrap();
    run.result("a", ToolResult::text("1")).unwrap();
    let mut read: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(read, run);
    read.result("b", ToolResult::text("2")).unwrap();
    assert_eq!(read.step(), Step::Ask);
}
