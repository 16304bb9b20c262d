//! The file of the definitions that wait for approval, kept for the command that approves them.
//!
//! A server may offer a tool only while a session uses it, so another connection would not show it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::ToolName;

use crate::client::ServerTool;
use crate::private_file;

/// The maximum size of the file, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of definitions. A server could offer new ones without end.
const MAX_TOOLS: usize = 512;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    tools: BTreeMap<ToolName, Value>,
}

/// Returns the definitions. A file that cannot be read has none, because the server shows them again.
pub(super) fn read(path: &Path) -> BTreeMap<ToolName, ServerTool> {
    let text = private_file::read(path, MAX_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    let kept: Kept = serde_json::from_str(&text).unwrap_or_default();
    let tools = kept
        .tools
        .into_iter()
        .filter_map(|(name, tool)| Some((name, ServerTool::from_json(tool).ok()?)));
    tools.collect()
}

/// Writes the definitions, and removes the file if there are none.
pub(super) fn write(path: &Path, tools: &BTreeMap<ToolName, ServerTool>) -> io::Result<()> {
    if tools.is_empty() {
        return private_file::remove(path).map(drop);
    }
    let tools = tools
        .iter()
        .take(MAX_TOOLS)
        .map(|(name, tool)| (name.clone(), tool.to_json()))
        .collect();
    private_file::replace(path, &serde_json::to_string(&Kept { tools })?)
}
