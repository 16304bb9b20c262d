//! [`Resolve`]: looking up the tool of a call.

use std::sync::Arc;

use crate::entry::Entry;
use crate::tool_error::{ToolError, ToolErrorKind};

/// A source of tools by name, such as a catalog or a session's tool set.
///
/// A nested call is resolved in the same place as the outer call, so no tool can leave its session's tool set.
pub trait Resolve: Send + Sync {
    /// Returns the tool with this name.
    ///
    /// # Errors
    /// - [`ToolErrorKind::NotFound`], with similar names, if there is no such tool.
    /// - [`ToolErrorKind::Conflict`], with the places of the declarations, if several linked crates submit the name.
    /// - [`ToolErrorKind::Internal`] if the linked tool cannot be built.
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError>;
}

/// An owned [`Resolve`], which a call keeps while it runs.
#[derive(Clone)]
#[non_exhaustive]
pub enum Scope {
    /// A shared resolver.
    Shared(Arc<dyn Resolve>),
    /// A resolver that lives as long as the process.
    Static(&'static dyn Resolve),
}

impl Scope {
    /// Returns the intersection: the tools of `inner` that this scope contains too.
    pub(crate) fn intersect(&self, inner: Self) -> Self {
        Self::Shared(Arc::new(Intersection {
            outer: self.clone(),
            inner,
        }))
    }

    #[inline]
    fn inner(&self) -> &dyn Resolve {
        match self {
            Self::Shared(scope) => &**scope,
            Self::Static(scope) => *scope,
        }
    }
}

struct Intersection {
    outer: Scope,
    inner: Scope,
}

impl Resolve for Intersection {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let entry = self.inner.resolve(name)?;
        // Both are looked up each time, because a catalog may change while the call runs.
        let outer = self.outer.resolve(name)?;
        if entry.is_same(&outer) {
            return Ok(entry);
        }
        Err(ToolError::new(
            name,
            ToolErrorKind::NotFound { near: Vec::new() },
        ))
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
