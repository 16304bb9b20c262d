//! Definitions and handlers shared by several tests.
#![allow(
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each program of tests uses a part of it"
)]

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tools::context::ApprovalFuture;
use tools::{
    Approval, Approver, Catalog, Decision, Effects, Grant, Handler, Host, Limits, Preview, Tool,
    ToolContext, ToolError,
};

/// The number of blocking tools that a process runs at once.
pub const MAX_BLOCKING: usize = 64;

/// A pure tool that takes any object.
pub fn pure(name: &str) -> Tool {
    Tool::new(
        name,
        format!("Does what {name} does."),
        json!({"type": "object"}),
    )
    .unwrap()
    .with_effects(Effects::Pure)
}

/// A pure tool with a closed schema: a required text and an optional count.
pub fn closed(name: &str) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 10}, "count": {"type": "integer", "minimum": 1}},
        "required": ["text"],
        "additionalProperties": false,
    });
    Tool::new(name, "Takes a text.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
}

/// A tool that reads the file in its arguments.
pub fn reader(name: &str) -> Tool {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects: Effects = serde_json::from_value(json!({"reads": ["fs:{path}"]})).unwrap();
    Tool::new(name, "Reads a file.", parameters)
        .unwrap()
        .with_effects(effects)
}

pub fn with_timeout(tool: Tool, timeout: Duration) -> Tool {
    let timeout_ms = Some(u64::try_from(timeout.as_millis()).unwrap());
    tool.with_limits(Limits {
        timeout_ms,
        ..Limits::default()
    })
}

/// A catalog of one tool.
#[track_caller]
pub fn holding(tool: Tool, handler: impl Handler) -> Catalog {
    let mut catalog = Catalog::new();
    catalog.register(tool, handler).unwrap();
    catalog
}

/// A catalog of tools that return their arguments.
pub fn echoing<const N: usize>(tools: [Tool; N]) -> Catalog {
    let mut catalog = Catalog::new();
    tools
        .into_iter()
        .for_each(|tool| drop(catalog.register(tool, echo).unwrap()));
    catalog
}

/// Returns its arguments.
pub async fn echo(_cx: ToolContext, arguments: Value) -> Result<Value, String> {
    Ok(arguments)
}

/// Never ends.
pub async fn hang(_cx: ToolContext, _arguments: Value) -> Result<(), String> {
    pending().await
}

/// A context that permits everything.
pub fn unlimited() -> Host {
    Host::new().with_grant(Grant::all())
}

pub fn granted(clauses: &[&str]) -> Host {
    Host::new().with_grant(Grant::parse(clauses.iter().copied()).unwrap())
}

/// A log of lines in order. Clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An approver that denies every request.
pub struct No;

impl Approver for No {
    fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async {
            Decision::Deny {
                reason: "not today".to_owned(),
            }
        })
    }
}

/// An approver that allows every request and records the targets.
#[derive(Default)]
pub struct Yes(Mutex<Vec<String>>);

impl Approver for Yes {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        let targets: Vec<_> = approval.targets.iter().map(ToString::to_string).collect();
        self.0.lock().unwrap().push(targets.join(" "));
        Box::pin(async { Decision::Allow })
    }
}

impl Yes {
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A preview as an approver receives it.
pub type Seen = Option<Result<Preview, ToolError>>;

/// An approver that allows every request and records the previews. Clones share the record.
#[derive(Clone, Default)]
pub struct Viewer(Arc<Mutex<Vec<Seen>>>);

impl Approver for Viewer {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async move {
            let preview = approval.preview().await;
            self.0.lock().unwrap().push(preview);
            Decision::Allow
        })
    }
}

impl Viewer {
    /// Takes the only preview.
    pub fn seen(&self) -> Seen {
        let mut seen = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }
}
