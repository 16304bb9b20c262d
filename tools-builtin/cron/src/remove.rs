//! `cron.remove`: removes a job.

use tools::{ToolContext, ToolError, tool};

use crate::Jobs;

/// Removes a job of this workspace. A run that has begun goes on.
#[tool(
    name = "cron.remove",
    title = "Remove a job",
    destroys = "cron:{id}",
    needs = Jobs,
    tags = ["schedule"],
    example({"id": 3}),
)]
pub(crate) async fn remove(
    cx: &ToolContext,
    /// The id, from `cron.list`.
    #[schemars(range(min = 1))]
    id: i64,
) -> Result<String, ToolError> {
    cx.need::<Jobs>()?.remove(id).await?;
    Ok(format!("removed the job {id}"))
}
