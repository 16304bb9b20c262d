//! [`Computation`]: a tool that is no more than a function of its arguments.

use std::cell::Cell;

use protocol::ToolResult;

use crate::schema::Plain;
use crate::{Entry, Input, ToolError};

/// A tool that is no more than a function of its arguments. Its entry is in the errors.
#[doc(hidden)]
pub trait Computation: Sync {
    /// The outcome for arguments that the counter has read.
    ///
    /// # Errors
    /// Those of the tool.
    fn of_input(&self, entry: Option<&Entry>, arguments: Input) -> Result<ToolResult, ToolError>;

    /// The outcome for arguments as text, where they surely satisfy the schema. `None` leaves them to those who read and validate, and
    /// nothing has been computed. Says when they are read: a type may panic at what does not fit its schema, and that is no panic of
    /// the tool.
    fn of_text(
        &self,
        entry: &Entry,
        schema: &Plain,
        text: &str,
        is_read: &Cell<bool>,
    ) -> Option<Result<ToolResult, ToolError>>;
}
