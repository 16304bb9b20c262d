//! Compares how `execute` reads arguments with two references: the `jsonschema` crate and `serde_json`.
//!
//! For each of the [types](types::all), each case and both forms (text and value):
//!
//! 1. a call runs only if the validator accepts its arguments;
//! 2. a tool is given the value that `serde_json` returns, if `serde_json` accepts the arguments;
//! 3. a call runs if the validator and `serde_json` both accept its arguments.
//!
//! [`intended`] lists the differences. A program of its own, because `.ci/long` also builds it optimised.

#![allow(clippy::unwrap_used, missing_docs)]

mod case;
mod exact;
mod intended;
#[path = "../it/notebook.rs"]
mod notebook;
mod strict;
mod subject;
mod types;

use std::time::{Duration, Instant};

use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::case::Cases;
use crate::subject::Tally;

/// Compares cases, equally many for each type, while `goes_on` returns true for the number of cases so far.
fn run(goes_on: impl Fn(usize) -> bool, seed: u8) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut cases = Cases::new(TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let subjects = types::all();
    let mut tally = Tally::default();
    for index in (0..).take_while(|index| goes_on(*index)) {
        let subject = &subjects[index % subjects.len()];
        let case = cases.next(subject.seeds());
        runtime.block_on(subject.judge(&case, &mut tally));
    }
    tally
}

#[test]
fn a_call_runs_if_the_validator_and_serde_accept_its_arguments() {
    let tally = run(|cases| cases < 10_000, 1);
    assert!(types::all().len() >= 30);
    // Guards against a corpus in which every case ends the same way.
    for (outcome, most) in [(tally.ran, 0.9), (tally.invalid, 0.9), (tally.misfit, 0.5)] {
        let share = outcome as f64 / tally.cases as f64;
        assert!(share > 0.01 && share < most, "{tally:?}");
    }
    assert!(
        tally.intended > 0 && tally.intended < tally.cases / 10,
        "{tally:?}"
    );
}

#[test]
#[ignore = "takes half a minute: cargo test -p toolcrib-tools --test differential -- --ignored half_a_minute"]
fn a_call_runs_if_the_validator_and_serde_accept_its_arguments_for_half_a_minute() {
    let until = Instant::now() + Duration::from_secs(30);
    let tally = run(|_| Instant::now() < until, 2);
    eprintln!("\n{tally:?}");
    // Far fewer than a slow machine tries.
    assert!(tally.texts >= 1_000, "{tally:?}");
}

#[test]
#[ignore = "takes a minute or two: cargo test --release -p toolcrib-tools --test differential -- --ignored millions"]
fn a_call_runs_if_the_validator_and_serde_accept_its_arguments_for_millions_of_cases() {
    assert_eq!(run(|cases| cases < 3_000_000, 2).texts, 3_000_000);
}
