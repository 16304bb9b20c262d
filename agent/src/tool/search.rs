//! `tools.search`: finds tools whose definitions a request does not have.

use serde_json::{Map, Value, json};
use tools::{Content, ToolContext, ToolError, ToolResult, tool};

use crate::disclosure::ToolFinder;
use crate::driver::ActiveRun;
use crate::event::Event;
use crate::found::FOUND;
use crate::inner_call::CALLER;
use crate::provider::guarded;

/// The most results of one search.
const MOST: u32 = 20;

/// Finds more tools for a task. You have more tools than you see: search before you say that something is not possible.
///
/// Describe the task with the words that the name, the description or the parameters of a tool may have. The result has the definitions
/// of the best matches, and says how to call them.
// Pure: the tools of a session and its permissions are no resources. The result names only tools that the session may call.
#[tool(
    name = "tools.search",
    title = "Find tools",
    pure,
    needs = ToolFinder,
    max_output = "256KiB",
    tags = ["session"],
    example({"query": "create a calendar event"}),
    example({"query": "translate text", "limit": 3}),
)]
pub(crate) async fn search(
    cx: &ToolContext,
    /// The task, in a few words.
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// The most tools to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MOST))]
    limit: u32,
) -> Result<ToolResult, ToolError> {
    let finder = cx.need::<ToolFinder>()?;
    let run = cx.service::<ActiveRun>();
    let wire = run
        .as_ref()
        .and_then(|run| guarded::about(&*run.provider).wire_tools(&finder.tools));
    let search = finder.search(cx, &query, usize::try_from(limit).unwrap_or(usize::MAX));
    let (definitions, lines, names) = finder.text(&search, cx, wire);
    let content = if names.is_empty() {
        [
            "No tool matches these words.",
            "Try other words for the task, or its parts.",
        ]
        .map(Content::text)
        .to_vec()
    } else {
        let how = format!(
            "Call a found tool with {}, by its name and with the arguments that its parameters define.",
            cx.spelling(CALLER)
        );
        vec![
            Content::text(definitions + &how),
            Content::text(lines.trim_end()),
        ]
    };
    let structured = Some(json!({FOUND: names}).into());
    let result = ToolResult {
        content,
        structured,
        ..ToolResult::default()
    };
    if let Some(run) = run {
        let others = search.others + search.found.len() - names.len();
        run.send(|| Event::ToolsSearched {
            query,
            found: names,
            others,
        });
    }
    Ok(result)
}

fn default_limit() -> u32 {
    5
}

/// Calls any of your tools by name, such as one that a search found. It is the call of that tool, with its own permissions, questions to
/// the user and result.
// Pure: a driver runs the named call in place of this one. If another tool makes it, the named call is nested and passes the pipeline too.
#[tool(
    name = "tools.call",
    title = "Call a found tool",
    pure,
    needs = ToolFinder,
    timeout = "60m",
    delegates,
    tags = ["session"],
    example({"name": "todo.write", "arguments": {"items": [{"text": "Find it", "status": "active"}]}}),
    example({"name": "todo.read"}),
)]
pub(crate) async fn call(
    cx: &ToolContext,
    /// The name of the tool, as the search returned it.
    name: String,
    /// The arguments, as the parameters of that tool define them.
    // They may have secrets of the named tool, so nothing shows them as those of this one.
    #[serde(default)]
    #[schemars(extend("writeOnly" = true))]
    arguments: Map<String, Value>,
) -> Result<ToolResult, ToolError> {
    cx.execute(&name, Value::Object(arguments)).await
}
