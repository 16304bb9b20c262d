//! The names by which the model of a session knows its tools.

use std::borrow::Cow;
use std::sync::Arc;

use protocol::ToolResult;
use protocol::wire::WireNames;

use super::ToolContext;
use crate::ToolError;

impl ToolContext {
    /// Sets the names by which the model knows the tools. Texts for the model, such as errors, then use them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tools::protocol::wire::WireNames;
    /// use tools::{ToolContext, ToolName};
    ///
    /// let read = ToolName::new("fs.read")?;
    /// let cx = ToolContext::new().with_wire_names(Arc::new(WireNames::new([&read])));
    /// assert_eq!(cx.spelling("fs.read"), "fs_read");
    /// assert_eq!(ToolContext::new().spelling("fs.read"), "fs.read");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_wire_names(self, names: Arc<WireNames>) -> Self {
        self.with(|facts| facts.wire_names = Some(names))
    }

    /// Returns the name by which the model knows a tool. A tool that names another tool in a result or an error uses it.
    pub fn spelling<'a>(&'a self, tool: &'a str) -> Cow<'a, str> {
        self.wire_names().map_or(Cow::Borrowed(tool), |names| names.spelling(tool))
    }

    /// Returns the result of a failed call for the model, with the names of tools that it knows in the text. The structured value is
    /// the same for all models.
    pub fn error_result(&self, error: &ToolError) -> ToolResult {
        error.to_result(self.wire_names().map(|names| &**names))
    }

    pub(crate) fn wire_names(&self) -> Option<&Arc<WireNames>> {
        self.facts.wire_names.as_ref()
    }
}
