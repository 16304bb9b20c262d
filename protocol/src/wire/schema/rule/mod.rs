//! The rules by which the keywords of one schema are rewritten, before those of the schemas inside.

mod boolean;
mod bounds;
mod containers;
mod removal;
mod root;
mod root_union;
mod values;

pub(super) use self::boolean::boolean;
pub(super) use self::bounds::bounds;
pub(super) use self::containers::containers;
pub(super) use self::removal::removal;
pub(super) use self::root::root;
pub(super) use self::root_union::root_union;
pub(super) use self::values::{set_types_of, values};
