//! The rules by which schemas are rewritten, one in each file.

pub(super) mod alternative;
pub(super) mod boolean;
pub(super) mod bound;
pub(super) mod conditional;
pub(super) mod constant;
pub(super) mod container;
pub(super) mod contains;
pub(super) mod enumeration;
pub(super) mod format;
pub(super) mod key_pattern;
pub(super) mod keyword_list;
pub(super) mod negation;
pub(super) mod root;
pub(super) mod root_union;
pub(super) mod strict;
pub(super) mod unevaluated;

/// The keywords whose schemas their own rules rewrite.
pub(super) const GUARDED: [&str; 4] = ["contains", "if", "not", "oneOf"];
