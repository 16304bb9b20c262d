//! [`blocking`]: runs code that blocks.

use tools::{ToolError, ToolErrorKind};

/// Runs code that blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    code: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let ended = tokio::task::spawn_blocking(code).await;
    ended.map_err(ToolErrorKind::internal)?
}
