//! [`Sharded`]: something to look tools up in that many threads call through.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::thread_number::thread_number;
use crate::{Entry, Resolve, Scope, ToolError};

/// How many counts of references there are. Of more threads some share one.
const SHARDS: usize = 8;

/// Something to look tools up in that many threads call through. Each call holds a reference to it, and counting these in one place is
/// what threads would wait for each other at; so threads count in different ones. Clones are the same one.
pub struct Sharded<R>(Arc<[Arc<Shard<R>>; SHARDS]>);

/// Aligned, so that its count has two cache lines for itself, which are fetched in pairs.
#[repr(align(128))]
struct Shard<R>(Arc<R>);

impl<R: Resolve + 'static> Sharded<R> {
    /// Shares it.
    pub fn new(inner: R) -> Self {
        let inner = Arc::new(inner);
        Self(Arc::new(std::array::from_fn(|_| Arc::new(Shard(inner.clone())))))
    }

    /// It, for a call of this thread.
    pub fn scope(&self) -> Scope {
        Scope::Shared(self.0[thread_number() % SHARDS].clone())
    }
}

impl<R> Clone for Sharded<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R> Deref for Sharded<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0[0].0
    }
}

impl<R: fmt::Debug> fmt::Debug for Sharded<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<R: Resolve> Resolve for Shard<R> {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }
}
