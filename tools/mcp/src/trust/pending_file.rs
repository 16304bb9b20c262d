//! The file of the definitions that wait for approval, kept for the command that approves them.
//!
//! A server may offer a tool only while a session uses it, so another connection would not show it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tools::ToolName;
use tools_store::private::remove;

use crate::client::ServerTool;
use crate::private_file;

/// The maximum size of the file, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of definitions. A server could offer new ones without end.
const MAX_TOOLS: usize = 512;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    tools: BTreeMap<ToolName, ServerTool>,
}

/// Returns the definitions. A file that cannot be read has none, because the server shows them again.
pub(super) fn read(path: &Path) -> BTreeMap<ToolName, ServerTool> {
    let text = private_file::read(path, MAX_BYTES).ok().flatten();
    let kept = serde_json::from_str::<Kept>(&text.unwrap_or_default());
    kept.unwrap_or_default().tools
}

/// Writes the definitions, and removes the file if there are none.
pub(super) fn write(path: &Path, tools: BTreeMap<ToolName, ServerTool>) -> io::Result<()> {
    if tools.is_empty() {
        return remove(path).map(drop);
    }
    let tools = tools.into_iter().take(MAX_TOOLS).collect();
    private_file::replace(path, &serde_json::to_string(&Kept { tools })?)
}
