//! `memory.forget`: removes a memory.

use tools::{Preview, ToolContext, ToolError, tool, visible_line};
use tools_store::rusqlite::{Transaction, params};

use crate::error::MemoryError;
use crate::memory::{Memory, principal};
use crate::row::{MemoryEntry, find, remove};
use crate::scope::PATTERN;

/// The characters of a text in a result.
const EXCERPT: usize = 200;

/// Removes a memory that is wrong or out of date. It cannot be restored.
#[tool(
    name = "memory.forget",
    title = "Forget a memory",
    destroys = "memory:{scope}",
    needs = Memory,
    preview = describe,
    tags = ["memory"],
    example({"id": 12}),
    example({"id": 3, "scope": "user"}),
)]
pub(crate) async fn forget(
    cx: &ToolContext,
    /// The number of the memory, from a list or a search.
    id: i64,
    /// The scope that has the memory: `project`, `user` or `project/NAME`.
    #[serde(default = "crate::scope::default_scope")]
    #[schemars(regex(pattern = PATTERN))]
    scope: String,
) -> Result<String, ToolError> {
    let memory = cx.need::<Memory>()?;
    let principal = principal(cx);
    let scope = memory.scope(&scope)?.to_string();
    let removed = memory.write(move |transaction| {
        let entry = find_own(transaction, id, principal, scope)?;
        remove(transaction, id)?;
        Ok(entry)
    });
    let removed = removed.await?;
    // Its text is in the result, and text of strangers may have dictated it.
    if !removed.confirmed {
        cx.record_exposure();
    }
    Ok(format!("forgot {}", line(&removed)))
}

async fn describe(cx: &ToolContext, id: i64, scope: String) -> Result<Preview, ToolError> {
    let memory = cx.need::<Memory>()?;
    let principal = principal(cx);
    let scope = memory.scope(&scope)?.to_string();
    let found = memory.read(move |transaction| find_own(transaction, id, principal, scope));
    Ok(Preview::summary(format!("forgets {}", line(&found.await?))))
}

/// Returns a memory of the principal and the scope.
fn find_own(
    transaction: &Transaction<'_>,
    id: i64,
    principal: String,
    scope: String,
) -> Result<MemoryEntry, MemoryError> {
    let condition = "id = ? AND principal = ? AND scope = ?";
    let entry = find(transaction, condition, params![id, principal, scope])?;
    entry.ok_or(MemoryError::Unknown { scope, id })
}

fn line(entry: &MemoryEntry) -> String {
    let text = visible_line(&entry.text, EXCERPT);
    format!("memory {}: {text}", entry.id)
}
