//! [`Figure`]: a group of rows of the table.

use crate::round::Round;
use crate::table::Table;

/// A group of rows of the table.
pub struct Figure {
    /// The name on the command line.
    pub name: &'static str,
    /// Measures, and adds the rows.
    pub measure: fn(&mut Table),
    /// Runs one round in this process, whose arguments are those that `measure` gives.
    pub round: fn(&[String]) -> Round,
}
