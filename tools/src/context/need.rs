//! [`Need`]: a service that a tool requires.

use std::any::{Any, TypeId, type_name};
use std::fmt;

/// The type of a service that a tool requires. Can be a constant, for static handlers.
#[derive(Clone, Copy)]
pub struct Need {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
}

impl Need {
    /// Creates the requirement of a service of type `T`.
    pub const fn new<T: Any + Send + Sync>() -> Self {
        Self {
            type_id: TypeId::of::<T>,
            type_name: type_name::<T>,
        }
    }

    /// Returns the id of the type.
    pub fn id(&self) -> TypeId {
        (self.type_id)()
    }

    /// Returns the path of the type, for messages.
    pub fn type_name(&self) -> &'static str {
        (self.type_name)()
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Need({})", self.type_name())
    }
}
