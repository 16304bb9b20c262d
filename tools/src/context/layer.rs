//! The layers of a context.

use std::sync::Arc;

use super::ToolContext;
use crate::layer::Layer;

impl ToolContext {
    /// Adds a layer around all tools, inside of the layers that were added before. Inside of a call this has no effect.
    #[must_use]
    pub fn with_layer(self, layer: Arc<dyn Layer>) -> Self {
        if self.call.is_some() {
            return self;
        }
        let layers: Arc<[_]> = self.layers().iter().cloned().chain([layer]).collect();
        self.with(|facts| facts.layers = Some(layers))
    }

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
