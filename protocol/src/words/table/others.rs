//! The row of all programs that the table does not know.

use crate::words::row::Row;

/// The row of other programs: their options are judged by their names alone.
pub(in crate::words) const OTHERS: Row = Row::of("");
