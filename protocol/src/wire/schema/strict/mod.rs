//! Strict mode: which schemas have it, and what a null means.

mod check;
mod nulls;
mod optional;

pub(super) use self::check::check;
pub(super) use self::nulls::Nulls;
pub(super) use self::optional::require_all;
