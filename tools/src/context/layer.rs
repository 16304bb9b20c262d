//! The layers of a context.

use std::sync::Arc;

use super::ToolContext;
use crate::layer::Layer;

impl ToolContext {
    /// Returns the layers, the outermost first.
    pub(crate) fn layers(&self) -> &[Arc<dyn Layer>] {
        self.facts.layers.as_deref().unwrap_or_default()
    }

    /// Returns true if both contexts belong to the same running call.
    pub(crate) fn is_of_same_call(&self, other: &Self) -> bool {
        match (&self.call, &other.call) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
