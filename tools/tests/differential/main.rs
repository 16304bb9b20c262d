//! Arguments on their way through `execute`, beside two references: the `jsonschema` crate and `serde_json`.
//!
//! For each of the [types](types::all), each case and both forms (text and value):
//!
//! 1. a call runs only if the validator accepts its arguments;
//! 2. a tool is given what `serde_json` gives, if that accepts the arguments;
//! 3. a call runs if the validator and `serde_json` both accept its arguments.
//!
//! The [intended differences](intended) are a list.

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

/// Judges cases, in equal parts for all types, for as long as `goes_on` returns true of the number of cases so far.
fn run(goes_on: impl Fn(usize) -> bool, seed: u8) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
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
fn what_runs_is_what_the_validator_and_serde_accept() {
    let tally = run(|cases| cases < 10_000, 1);
    assert!(types::all().len() >= 30);
    // Cases that all take one road would show nothing.
    for (outcome, most) in [(tally.ran, 0.9), (tally.invalid, 0.9), (tally.misfit, 0.5)] {
        let share = outcome as f64 / tally.cases as f64;
        assert!(share > 0.01 && share < most, "{tally:?}");
    }
    assert!(tally.intended > 0 && tally.intended < tally.cases / 10, "{tally:?}");
}

#[test]
#[ignore = "takes half a minute: cargo test --release -p toolcrib-tools --test differential -- --ignored half_a_minute"]
fn what_runs_is_what_the_validator_and_serde_accept_for_half_a_minute() {
    let until = Instant::now() + Duration::from_secs(30);
    eprintln!("{:?}", run(|_| Instant::now() < until, 2));
}

#[test]
#[ignore = "takes a minute or two: cargo test --release -p toolcrib-tools --test differential -- --ignored a_million_times"]
fn what_runs_is_what_the_validator_and_serde_accept_a_million_times() {
    assert_eq!(run(|cases| cases < 1_000_000, 2).texts, 1_000_000);
}
