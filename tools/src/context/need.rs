//! [`Need`]: a service that a tool has to find in its context.

use std::any::{Any, TypeId, type_name};
use std::fmt;

/// The type of a service that a tool needs. Const, so that a static handler can hold some.
#[derive(Clone, Copy)]
pub struct Need {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
}

impl Need {
    /// The need for a service of type `T`.
    pub const fn new<T: Any + Send + Sync>() -> Self {
        Self { type_id: TypeId::of::<T>, type_name: type_name::<T> }
    }

    /// The type, as a key.
    pub fn id(&self) -> TypeId {
        (self.type_id)()
    }

    /// The type's path, for people.
    pub fn type_name(&self) -> &'static str {
        (self.type_name)()
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Need({})", self.type_name())
    }
}
