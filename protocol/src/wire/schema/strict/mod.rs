//! Strict mode: which schemas have it, and the null that means absence.

mod limits;
mod nullable;
mod reason;

pub(super) use self::limits::exceeded;
pub(super) use self::nullable::{accepts_null, require_all};
pub(super) use self::reason::{close, reason};
