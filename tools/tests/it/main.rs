//! The tests of the public surface of `toolcrib-tools`.

#![allow(clippy::unwrap_used)]

// For `tool_macro::accepted::renamed_dependency`: only the root of a crate can give another one a name.
extern crate tools as cribs;

mod admit;
mod approval;
mod arguments;
mod ask;
mod catalog;
mod check;
mod computed;
mod converted;
mod corpus;
mod deadline_observer;
mod default_argument;
mod exposure;
mod fault;
mod grant;
mod handler;
mod host;
mod journal;
mod layer;
mod lint;
mod nested;
mod nested_admit;
mod notebook;
mod output;
mod overflow;
mod policy;
mod preview;
#[cfg(target_os = "linux")]
mod process;
mod renamed;
mod replay;
mod retry;
mod ruling;
mod run;
mod run_panic;
mod sample;
mod scope;
mod sent_texts;
mod service_field;
mod shared_catalog;
mod spelling;
mod sub_agent;
mod tasks;

pub mod tool_macro;
