//! The names by which the model of a session knows its tools.

use std::borrow::Cow;

use protocol::ToolResult;
use protocol::wire::Format;

use super::ToolContext;
use crate::entry::Entry;
use crate::spelling::Spelling;
use crate::tool_error::ToolError;

impl ToolContext {
    /// Sets the format in which the model knows the tools. Texts for the model, such as errors, then use its names of tools and
    /// arguments.
    ///
    /// ```
    /// use tools::Host;
    /// use tools::protocol::wire::Format;
    ///
    /// let cx = Host::new().with_wire(Format::Anthropic);
    /// assert_eq!(cx.spelling("fs.read"), "fs__read");
    /// assert_eq!(Host::new().spelling("fs.read"), "fs.read");
    /// ```
    pub fn with_wire(self, format: Format) -> Self {
        self.with(|facts| facts.wire = Some(format))
    }

    /// Returns the name by which the model knows a tool. A tool that names another tool in a result or an error uses it.
    pub fn spelling<'a>(&self, tool: &'a str) -> Cow<'a, str> {
        Spelling::new(self.wire()).tool(tool)
    }

    /// Returns the result of a failed call for the model. The text has the names that the model knows. The structured value is the
    /// same for all models. `called` is the tool of the call, if there is one.
    pub fn error_result(&self, called: Option<&Entry>, error: &ToolError) -> ToolResult {
        error_result(self.wire(), called, error)
    }

    pub(crate) fn wire(&self) -> Option<Format> {
        self.facts.wire
    }
}

/// Returns the result of a failed call for a reader who knows the tools in this format. Arguments are respelt only if the error is
/// about those of the called tool: the model did not write the arguments of a nested call.
pub(crate) fn error_result(
    wire: Option<Format>,
    called: Option<&Entry>,
    error: &ToolError,
) -> ToolResult {
    let called = called.filter(|entry| entry.name().as_str() == error.tool_name());
    error.to_result(called.map_or(Spelling::new(wire), |entry| entry.spelling(wire)))
}
