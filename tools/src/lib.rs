#![doc = include_str!("../README.md")]

// `#[tool]` expands to paths that begin with `::tools`; this makes them resolve inside this crate.
#[allow(unused_extern_crates)]
extern crate self as tools;

mod absent_tools;
mod admission;
mod arguments;
pub mod call;
mod catalog;
mod concern;
mod conflict;
pub mod context;
mod counted;
mod debug_fields;
mod default_argument;
mod entry;
mod global;
pub mod handler;
pub mod image;
mod input;
mod isolate;
mod join;
pub mod journal;
pub mod layer;
pub mod linked;
pub mod lint;
mod near;
mod output_store;
mod outside_text;
mod plain_url;
pub mod policy;
mod preview;
pub mod question;
mod register_error;
mod resolve;
#[cfg(all(test, shuttle))]
mod schedule;
pub mod schema;
mod schema_of;
mod secret;
mod shared;
mod size;
mod source;
mod spelling;
mod submission;
mod subscription;
mod sync;
pub mod tasks;
mod timer;
mod tool_error;
pub mod trees;
pub mod visible;

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __private;

/// The examples of `#[tool]`, which are tested here; the manifest of `toolcrib-macros` has the reason.
#[cfg(doctest)]
mod macro_examples {
    #[doc = include_str!("../macros/README.md")]
    mod readme {}
    #[doc = include_str!("../macros/src/tool.md")]
    mod attribute {}
}

pub use absent_tools::AbsentTools;
pub use admission::Admission;
pub use arguments::Arguments;
pub use call::execution::Execution;
pub use catalog::Catalog;
pub use concern::Concern;
pub use conflict::{Conflict, Problem};
pub use context::{
    Approval, Approver, Decision, Host, Person, Progress, ProgressSink, ProtectedFate,
    ProtectedFile, ServiceField, Services, ToolContext,
};
pub use counted::counted;
pub use entry::Entry;
pub use global::{
    conflicts, contains, execute, get, list, problems, register, replace, snapshot, submit,
    subscribe, unregister, validate,
};
pub use handler::{Handler, HandlerFuture, Targets};
pub use input::Input;
pub use join::join;
pub use journal::Journal;
pub use output_store::{OutputStore, WholeOutput};
pub use outside_text::OutsideText;
pub use plain_url::is_plain_url;
pub use policy::Policy;
pub use preview::{Basis, Preview};
pub use protocol;
pub use protocol::{
    Access, Clause, Content, Digest, Effects, ErrorCode, Grant, Json, Limits, Target, Tool,
    ToolCall, ToolName, ToolResult,
};
pub use question::{Answer, Question};
pub use register_error::{DefinitionError, RegisterError};
pub use schema::Violation;
pub use schema_of::schema_of;
#[doc(hidden)]
pub use schemars;
pub use schemars::JsonSchema;
pub use secret::Secret;
pub use shared::SharedCatalog;
pub use source::Source;
pub use submission::Submission;
pub use subscription::Subscription;
pub use sync::IgnorePoison;
pub use tasks::{Task, Tasks};
pub use tokio_util::sync::CancellationToken;
pub use tool_error::{ToolError, ToolErrorKind};
pub use toolcrib_macros::tool;
pub use visible::{head, quote_after_colon, visible_line, visible_text};
