//! Looking up the tool that a call names.

use std::sync::Arc;

use crate::{Entry, ToolError, ToolErrorKind};

/// Anything that tools can be looked up in: a catalog, a session's tool set. A call that runs inside another one is
/// looked up where the outer one was, so a session's tools never reach one outside it.
pub trait Resolve: Send + Sync {
    /// The tool of that name.
    ///
    /// # Errors
    /// [`ToolErrorKind::NotFound`] with near names, [`ToolErrorKind::Conflict`] with both places, [`ToolErrorKind::Internal`] for a
    /// linked tool that cannot be built.
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError>;
}

/// A [`Resolve`] that a call can keep for as long as it runs.
#[derive(Clone)]
#[non_exhaustive]
pub enum Scope {
    /// One that is shared.
    Shared(Arc<dyn Resolve>),
    /// One that lives as long as the process.
    Static(&'static dyn Resolve),
}

impl Scope {
    /// What both this scope and another one have: the tools of the other one that this one has as well.
    pub(crate) fn intersect(&self, inner: Self) -> Self {
        Self::Shared(Arc::new(Intersection { outer: self.clone(), inner }))
    }
}

struct Intersection {
    outer: Scope,
    inner: Scope,
}

impl Resolve for Intersection {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let entry = self.inner.resolve(name)?;
        let outer = self.outer.resolve(name)?;
        if entry.is_same(&outer) {
            return Ok(entry);
        }
        Err(ToolError::new(name, ToolErrorKind::NotFound { near: Vec::new() }))
    }
}

impl Scope {
    #[inline]
    fn inner(&self) -> &dyn Resolve {
        match self {
            Self::Shared(scope) => &**scope,
            Self::Static(scope) => *scope,
        }
    }
}

impl Resolve for Scope {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.inner().resolve(name)
    }
}

impl<R: Resolve + 'static> From<Arc<R>> for Scope {
    fn from(scope: Arc<R>) -> Self {
        Self::Shared(scope)
    }
}

impl<R: Resolve> From<&'static R> for Scope {
    fn from(scope: &'static R) -> Self {
        Self::Static(scope)
    }
}
