//! Tests of the crate.

mod conversation;
mod editor;
mod hostile;
mod judge;
mod judge_refuses;
mod program;
mod question;
