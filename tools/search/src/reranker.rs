//! [`Reranker`]: a second ranking stage.

use std::error::Error;
use std::pin::Pin;

use crate::Found;

/// The future of [`Reranker::rerank`].
pub type RerankFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Found>, RerankError>> + Send + 'a>>;

/// The error of a [`Reranker`]. The caller keeps the first ranking.
pub type RerankError = Box<dyn Error + Send + Sync>;

/// A second ranking stage over the best results of an [`Index`](crate::Index), such as one with embeddings.
pub trait Reranker: Send + Sync {
    /// Orders the results of the first stage again, best first. It may drop some.
    ///
    /// The caller ignores names that were not in `found`.
    fn rerank<'a>(&'a self, query: &'a str, found: Vec<Found>) -> RerankFuture<'a>;
}
