//! Tests of the crate.

mod judge;
mod judge_refuses;
