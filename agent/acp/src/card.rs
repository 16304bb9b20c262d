//! [`Card`]: a call as the client shows it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tools::protocol::Access;
use tools::visible::visible;
use tools::{Content, Json, Target, ToolResult, head};

use crate::content::{cut, fenced, text_block, to_block};

/// The most bytes of the JSON of arguments.
const MAX_INPUT: usize = 64 * 1024;

/// The most bytes of a title behind the name of the tool.
const MAX_TITLE: usize = 120;

/// The most blocks of a result.
const MAX_BLOCKS: usize = 8;

/// A call as the client shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    pub(crate) id: String,
    name: String,
    title: String,
    kind: &'static str,
    locations: Vec<PathBuf>,
    input: Option<Value>,
    /// The last status that was sent.
    pub(crate) status: Status,
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn is_end(self) -> bool {
        self >= Self::Completed
    }
}

impl Card {
    /// Creates the card of a call. The agent is the path of the sub-agent that makes it.
    pub(crate) fn new(
        id: String,
        name: &str,
        agent: Option<&str>,
        arguments: &Json,
        targets: &[Target],
        root: &Path,
    ) -> Self {
        let shown = main_argument(arguments, targets);
        let mut title = match agent {
            Some(agent) => format!("{}: {}", visible(agent), visible(name)),
            None => visible(name).into_owned(),
        };
        if !shown.is_empty() {
            let kept = head(&shown, MAX_TITLE);
            let more = if kept.len() < shown.len() { "…" } else { "" };
            title += &format!(" {}{more}", visible(kept));
        }
        let is_short = arguments
            .serialized_len()
            .unwrap_or_else(|| arguments.to_string().len());
        Self {
            id,
            name: name.to_owned(),
            title,
            kind: kind(name, targets),
            locations: locations(targets, root),
            input: (is_short <= MAX_INPUT).then(|| arguments.value().clone()),
            status: Status::Pending,
        }
    }

    /// Returns the announcement of the call.
    pub(crate) fn to_announcement(&self) -> Value {
        let mut update = self.to_update();
        update["sessionUpdate"] = "tool_call".into();
        update
    }

    /// Returns all facts about the call, as a question repeats them.
    pub(crate) fn to_update(&self) -> Value {
        let locations = self.locations.iter().map(|path| json!({"path": path}));
        let mut update = json!({
            "toolCallId": self.id,
            "title": self.title,
            "name": self.name,
            "kind": self.kind,
            "status": self.status.name(),
            "locations": locations.collect::<Vec<_>>(),
        });
        if let Some(input) = &self.input {
            update["rawInput"] = input.clone();
        }
        update
    }

    /// Returns the path of the one file that the call changes.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.locations[..] {
            [file] => Some(file),
            _ => None,
        }
    }
}

/// Returns the content of a result.
pub(crate) fn result_content(result: &ToolResult) -> Vec<Value> {
    let blocks = result.content.iter().take(MAX_BLOCKS);
    let mut content: Vec<_> = blocks
        .map(|block| match block {
            // Output of a program is no Markdown.
            Content::Text { text } => text_block(&fenced(&cut(text), "")),
            other => to_block(other),
        })
        .map(content_of)
        .collect();
    let missing = result.content.len().saturating_sub(MAX_BLOCKS);
    if missing > 0 {
        let note = format!("[{missing} more blocks are not shown]");
        content.push(content_of(text_block(&note)));
    }
    content
}

/// Returns a block as content of a call.
pub(crate) fn content_of(block: Value) -> Value {
    json!({"type": "content", "content": block})
}

/// Returns the argument that tells most about the call.
fn main_argument(arguments: &Json, targets: &[Target]) -> String {
    let named = targets.iter().find(|target| target.scheme() != "world");
    if let Some(target) = named {
        return target.value().to_owned();
    }
    let members = arguments.value().as_object().into_iter().flatten();
    let mut texts = members.filter_map(|(_, value)| value.as_str());
    texts.next().unwrap_or_default().to_owned()
}

fn kind(name: &str, targets: &[Target]) -> &'static str {
    let has = |scheme: &str, access: Option<Access>| {
        targets.iter().any(|target| {
            target.scheme() == scheme && access.is_none_or(|access| target.access() == access)
        })
    };
    let is_search = || {
        ["search", "grep", "find", "glob"]
            .iter()
            .any(|word| name.contains(word))
    };
    if has("exec", None) {
        "execute"
    } else if has("fs", Some(Access::Destroy)) {
        "delete"
    } else if has("fs", Some(Access::Write)) {
        "edit"
    } else if is_search() || has("search", None) {
        "search"
    } else if has("fs", None) {
        "read"
    } else if has("net", None) {
        "fetch"
    } else if name.starts_with("todo.") {
        "think"
    } else {
        "other"
    }
}

/// Returns the files that the targets name. Editors watch and open them, so folders and patterns are left out.
fn locations(targets: &[Target], root: &Path) -> Vec<PathBuf> {
    let of_files = targets.iter().filter(|target| target.scheme() == "fs");
    let values = of_files.map(Target::value);
    let values = values.filter(|value| !value.is_empty() && !value.contains(['*', '?', '[', '{']));
    let mut paths: Vec<_> = values.map(|value| root.join(value)).collect();
    paths.retain(|path| !path.is_dir());
    paths.dedup();
    paths.truncate(16);
    paths
}
