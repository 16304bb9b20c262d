//! [`Reranker`]: a second ranking stage.

use std::error::Error;
use std::pin::Pin;

use crate::Found;

/// The future of [`Reranker::rerank`].
pub type RerankFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Found>, RerankError>> + Send + 'a>>;

/// The error of a [`Reranker`]. The caller keeps the first ranking.
pub type RerankError = Box<dyn Error + Send + Sync>;

/// A second ranking stage over the best results of an [`Index`](crate::Index), such as one with embeddings.
///
/// ```
/// # use protocol::Tool;
/// # use serde_json::json;
/// use tools_search::{Found, Index, RerankFuture, Reranker};
///
/// struct ShortNamesFirst;
///
/// impl Reranker for ShortNamesFirst {
///     fn rerank<'a>(&'a self, _query: &'a str, mut found: Vec<Found>) -> RerankFuture<'a> {
///         found.sort_by_key(|found| found.name.len());
///         Box::pin(async { Ok(found) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tools_search::RerankError> {
/// # let tools = [Tool::new("file.read.all", "", json!({}))?, Tool::new("read", "Opens a file.", json!({}))?];
/// let found = Index::new(&tools).search("read file", 50, |_| true);
/// assert_eq!(found[0].name, "file.read.all");
/// let found = ShortNamesFirst.rerank("read file", found).await?;
/// assert_eq!(found[0].name, "read");
/// # Ok(())
/// # }
/// ```
pub trait Reranker: Send + Sync {
    /// Orders the results of the first stage again, best first. It may drop some.
    ///
    /// The caller ignores names that were not in `found`. A caller with a deadline keeps the first ranking if this takes too long, which it
    /// notices only while the future waits.
    fn rerank<'a>(&'a self, query: &'a str, found: Vec<Found>) -> RerankFuture<'a>;
}
