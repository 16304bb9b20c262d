//! The tests of the public surface of `toolcrib-agent`.

#![allow(clippy::unwrap_used)]

mod argument;
mod ask;
mod budget;
mod call_timeout;
mod compaction;
mod consent;
mod deferred;
mod digging;
mod direct;
mod disclosure;
mod disclosure_call;
mod disclosure_property;
mod disclosure_search;
mod driver;
mod event;
mod exposure;
mod extract;
mod fault;
mod generate;
mod generate_run;
mod limit;
#[path = "../../../tools/tests/it/notebook.rs"]
mod notebook;
mod open_question;
mod order;
mod output;
mod panic;
mod parameter;
mod prefix;
mod providers;
mod refusal;
mod repeat;
mod resumed_budget;
mod run;
mod run_property;
mod scripted;
mod secret;
mod selection;
mod small_context;
mod spawn;
mod spawn_background;
mod spawn_chain;
mod spawn_consent;
mod spawn_end;
mod spawn_journal;
mod spawn_parallel;
mod spelling;
mod summary;
mod system;
mod task;
mod todo;
mod tool_set;
mod wire;
mod workshop;
